//! `.config` and `.hsaconfig`: what a source says about a kernel, and the set-up and metadata that come of it.

use super::text::Cursor;
use super::{Assembler, Res, wrong};
use std::collections::BTreeMap;
use wavemill_isa::Level;
use wavemill_object::catalyst::Width;
use wavemill_object::catalyst::device::{FIRST_HINTS, FIRST_INNER, FIRST_NAMED};
use wavemill_object::catalyst::metadata::{Arg, HIDDEN, Hints, Record, capability, kernarg_bytes};
use wavemill_object::kernel_code::{self, KernelCode, by_name};

/// The five sets of registers at entry, the smallest first: CLRX's option for each.
const FEATURES: [&str; 4] = [".useargs", ".usesetup", ".useenqueue", ".usegeneric"];

/// Code properties of each set (seed 003 and the code of CLRX), on GFX7 and GFX8, and on GFX9. Bit 0 is the scratch
/// descriptor, 1 the dispatch packet, 2 the queue, 3 the arguments, 5 flat scratch.
const PROPERTIES: [(u32, u32); 5] = [(0x01, 0x21), (0x09, 0x29), (0x0b, 0x2b), (0x2b, 0x2b), (0x2f, 0x2f)];

/// Bits of PGM_RSRC2 that `.pgmrsrc2` may set.
const RSRC2_OWN: u32 = 0xffff_e440;
/// Bits of PGM_RSRC2 that are `.dims`, taken from `.pgmrsrc2` where that is not given.
const RSRC2_DIMS: u32 = 0x1b80;

/// What is said about a kernel.
#[derive(Clone, Debug)]
pub(super) struct Config {
    /// By fields of the set-up.
    hsa: bool,
    /// The largest feature: 0 none, 1 to 4 as in [`FEATURES`].
    feature: usize,
    enqueues: bool,
    /// Group ids and the number of local ids.
    dims: Option<(u32, u32)>,
    pub args: Vec<Arg<'static>>,
    required_size: [u32; 3],
    hint: [u32; 3],
    vector_hint: String,
    sgprs: Option<u32>,
    vgprs: Option<u32>,
    local: u32,
    scratch: u32,
    gds: u32,
    float_mode: u32,
    priority: u32,
    exceptions: u32,
    /// dx10clamp, ieeemode, debugmode, privmode, tgsize.
    bits: [bool; 5],
    rsrc1: u32,
    rsrc2: u32,
    user_data: Option<u32>,
    /// Fields of the set-up that were given themselves.
    fields: BTreeMap<&'static str, u64>,
    pub samplers: Vec<u32>,
}

impl Config {
    fn new(hsa: bool) -> Config {
        Config {
            hsa,
            feature: 0,
            enqueues: false,
            dims: None,
            args: Vec::new(),
            required_size: [0; 3],
            hint: [0; 3],
            vector_hint: String::new(),
            sgprs: None,
            vgprs: None,
            local: 0,
            scratch: 0,
            gds: 0,
            float_mode: 0xc0,
            priority: 0,
            exceptions: 0,
            bits: [false; 5],
            rsrc1: 0,
            rsrc2: 0,
            user_data: None,
            fields: BTreeMap::new(),
            samplers: Vec::new(),
        }
    }
}

/// Flags of the configuration.
const BITS: [&str; 5] = [".dx10clamp", ".ieeemode", ".debugmode", ".privmode", ".tgsize"];

/// Directives of `.hsaconfig` that set one field to a number: directive, field, largest value.
const FIELDS: [(&str, &str, u64); 16] = [
    (".kernel_code_entry_offset", "kernel_code_entry_byte_offset", u64::MAX),
    (".kernel_code_prefetch_offset", "kernel_code_prefetch_byte_offset", u64::MAX),
    (".kernel_code_prefetch_size", "kernel_code_prefetch_byte_size", u64::MAX),
    (".workitem_private_segment_size", "workitem_private_segment_byte_size", 0xffff_ffff),
    (".workgroup_group_segment_size", "workgroup_group_segment_byte_size", 0xffff_ffff),
    (".gds_segment_size", "gds_segment_byte_size", 0xffff_ffff),
    (".kernarg_segment_size", "kernarg_segment_byte_size", u64::MAX),
    (".workgroup_fbarrier_count", "workgroup_fbarrier_count", 0xffff_ffff),
    (".wavefront_sgpr_count", "wavefront_sgpr_count", 0xffff),
    (".workitem_vgpr_count", "workitem_vgpr_count", 0xffff),
    (".debug_wavefront_private_segment_offset_sgpr", "debug_wavefront_private_segment_offset_sgpr", 0xffff),
    (".debug_private_segment_buffer_sgpr", "debug_private_segment_buffer_sgpr", 0xffff),
    (".call_convention", "call_convention", 0xffff_ffff),
    (".runtime_loader_kernel_symbol", "runtime_loader_kernel_symbol", u64::MAX),
    (".max_scratch_backing_memory", "max_scratch_backing_memory_byte_size", u64::MAX),
    (".userdatanum", "", 16),
];

/// Directives of `.hsaconfig` whose number is a power of two and stored as its logarithm.
const LOGARITHMS: [(&str, &str); 4] = [
    (".kernarg_segment_align", "kernarg_segment_alignment"),
    (".group_segment_align", "group_segment_alignment"),
    (".private_segment_align", "private_segment_alignment"),
    (".wavefront_size", "wavefront_size"),
];

/// Directives of `.hsaconfig` that set a bit of the code properties.
const PROPERTY_BITS: [(&str, &str); 12] = [
    (".use_private_segment_buffer", "enable_sgpr_private_segment_buffer"),
    (".use_dispatch_ptr", "enable_sgpr_dispatch_ptr"),
    (".use_queue_ptr", "enable_sgpr_queue_ptr"),
    (".use_kernarg_segment_ptr", "enable_sgpr_kernarg_segment_ptr"),
    (".use_dispatch_id", "enable_sgpr_dispatch_id"),
    (".use_flat_scratch_init", "enable_sgpr_flat_scratch_init"),
    (".use_private_segment_size", "enable_sgpr_private_segment_size"),
    (".use_ordered_append_gds", "enable_ordered_append_gds"),
    (".use_ptr64", "is_ptr64"),
    (".use_dynamic_call_stack", "is_dynamic_callstack"),
    (".use_debug_enabled", "is_debug_enabled"),
    (".use_xnack_enabled", "is_xnack_enabled"),
];

impl Assembler<'_> {
    /// Does what a directive of a configuration says; false for directives of another kind.
    pub(super) fn config_directive(&mut self, name: &str, c: &mut Cursor<'_>, at: usize) -> Res<bool> {
        let driver = self.program.driver();
        if matches!(name, ".config" | ".hsaconfig") {
            let Some(kernel) = self.program.kernel else {
                return wrong(at, "this must be in a kernel: .kernel NAME");
            };
            let hsa = name == ".hsaconfig";
            let config = self.program.kernels[kernel].config.get_or_insert_with(|| Config::new(hsa));
            if config.hsa != hsa {
                return wrong(at, "a kernel has .config or .hsaconfig, not both");
            }
            self.program.configuring = true;
            self.current = None;
            return self.end(c).map(|()| true);
        }
        let known = [
            ".arg",
            ".setupargs",
            ".dims",
            ".cws",
            ".reqd_work_group_size",
            ".work_group_size_hint",
            ".vectypehint",
            ".sgprsnum",
            ".vgprsnum",
            ".localsize",
            ".scratchbuffer",
            ".gdssize",
            ".floatmode",
            ".priority",
            ".exceptions",
            ".pgmrsrc1",
            ".pgmrsrc2",
            ".default_hsa_features",
            ".use_grid_workgroup_count",
            ".private_elem_size",
            ".codeversion",
            ".machine",
            ".reserved_vgprs",
            ".reserved_sgprs",
            ".uavid",
        ]
        .contains(&name);
        let field = FIELDS.iter().any(|f| f.0 == name) || LOGARITHMS.iter().any(|f| f.0 == name);
        let flag =
            BITS.contains(&name) || FEATURES.contains(&name) || PROPERTY_BITS.iter().any(|f| f.0 == name);
        let sampler = name == ".sampler" && self.program.configuring;
        if !(known || field || flag || sampler) {
            return Ok(false);
        }
        let kernel = self.program.kernel.filter(|_| self.program.configuring);
        let Some(kernel) = kernel else { return wrong(at, "this must be in a .config or .hsaconfig") };
        let Some(mut config) = self.program.kernels[kernel].config.take() else {
            return wrong(at, "this must be in a .config or .hsaconfig");
        };
        let done = self.configure(&mut config, name, c, at, driver);
        self.program.kernels[kernel].config = Some(config);
        done?;
        self.end(c).map(|()| true)
    }

    fn configure(
        &mut self,
        config: &mut Config,
        name: &str,
        c: &mut Cursor<'_>,
        at: usize,
        driver: u32,
    ) -> Res {
        let hsa_only = matches!(
            name,
            ".default_hsa_features"
                | ".use_grid_workgroup_count"
                | ".private_elem_size"
                | ".codeversion"
                | ".machine"
                | ".reserved_vgprs"
                | ".reserved_sgprs"
        ) || FIELDS.iter().any(|f| f.0 == name)
            || LOGARITHMS.iter().any(|f| f.0 == name)
            || PROPERTY_BITS.iter().any(|f| f.0 == name);
        if hsa_only && !config.hsa {
            return wrong(at, format!("{name} is for .hsaconfig"));
        }
        if let Some(feature) = FEATURES.iter().position(|f| *f == name) {
            if config.hsa {
                return wrong(at, format!("{name} is for .config"));
            }
            config.feature = config.feature.max(feature + 1);
            config.enqueues |= name == ".useenqueue";
            return Ok(());
        }
        if let Some(bit) = BITS.iter().position(|b| *b == name) {
            config.bits[bit] = true;
            return Ok(());
        }
        if let Some((_, field)) = PROPERTY_BITS.iter().find(|b| b.0 == name) {
            config.fields.insert(field, 1);
            return Ok(());
        }
        if let Some((_, field)) = LOGARITHMS.iter().find(|f| f.0 == name) {
            let start = c.at;
            let n = self.number_in(c, 1, 1 << 30)?;
            if n.count_ones() != 1 {
                return wrong(start, format!("{n} is no power of two"));
            }
            config.fields.insert(field, n.trailing_zeros().into());
            return Ok(());
        }
        if let Some((_, field, most)) = FIELDS.iter().find(|f| f.0 == name) {
            let start = c.at;
            let n = self.number(c)? as u64;
            if n > *most {
                return wrong(start, format!("{n} is more than {most}"));
            }
            match name {
                ".userdatanum" => config.user_data = Some(n as u32),
                _ => _ = config.fields.insert(field, n),
            }
            return Ok(());
        }
        match name {
            ".arg" => {
                let arg = self.argument(c, driver, &config.args)?;
                config.args.push(arg);
            }
            ".setupargs" => {
                if !config.args.is_empty() {
                    return wrong(at, "these come before all other arguments");
                }
                for text in setup_args(self.program.width) {
                    let arg = self.argument(&mut Cursor::new(text.as_bytes()), driver, &config.args)?;
                    config.args.push(arg);
                }
            }
            ".dims" => config.dims = Some(self.dims(c)?),
            ".cws" | ".reqd_work_group_size" => config.required_size = self.sizes(c, 1)?,
            ".work_group_size_hint" => config.hint = self.sizes(c, 1)?,
            ".vectypehint" => {
                if driver < FIRST_HINTS {
                    return wrong(at, "drivers before 2004.06 have no such hint");
                }
                config.vector_hint = self.name(c)?.to_owned();
            }
            ".sgprsnum" => config.sgprs = Some(self.number_in(c, 0, 104)? as u32),
            ".vgprsnum" => config.vgprs = Some(self.number_in(c, 0, 256)? as u32),
            ".localsize" => config.local = self.number_in(c, 0, 32768)? as u32,
            ".scratchbuffer" => config.scratch = self.number_in(c, 0, i64::from(u32::MAX))? as u32,
            ".gdssize" => config.gds = self.number_in(c, 0, 65536)? as u32,
            ".floatmode" => config.float_mode = self.number_in(c, 0, 255)? as u32,
            ".priority" => config.priority = self.number_in(c, 0, 3)? as u32,
            ".exceptions" => config.exceptions = self.number_in(c, 0, 127)? as u32,
            ".pgmrsrc1" => config.rsrc1 = self.number_in(c, 0, i64::from(u32::MAX))? as u32,
            ".pgmrsrc2" => config.rsrc2 = self.number_in(c, 0, i64::from(u32::MAX))? as u32,
            ".sampler" => {
                while !c.at_end() {
                    let start = c.at;
                    let id = self.number_in(c, 0, 1 << 20)? as u32;
                    if id as usize >= self.program.samplers.len() {
                        return wrong(start, format!("there is no sampler {id}"));
                    }
                    config.samplers.push(id);
                    if !c.eat(",") {
                        break;
                    }
                }
            }
            ".default_hsa_features" => {
                config.fields.insert("enable_sgpr_private_segment_buffer", 1);
                config.fields.insert("enable_sgpr_kernarg_segment_ptr", 1);
                config.fields.insert("private_element_size", 1);
                if self.program.width == Width::W64 {
                    config.fields.insert("is_ptr64", 1);
                }
            }
            ".use_grid_workgroup_count" => {
                let (mask, _) = self.dims(c)?;
                for (i, field) in ["x", "y", "z"].iter().enumerate() {
                    let name = format!("enable_sgpr_grid_workgroup_count_{field}");
                    if let Some(field) = by_name(&name).filter(|_| mask >> i & 1 != 0) {
                        config.fields.insert(field.name, 1);
                    }
                }
            }
            ".private_elem_size" => {
                let start = c.at;
                let n = self.number(c)?;
                let Some(log) = [2, 4, 8, 16].iter().position(|s| *s == n) else {
                    return wrong(start, "2, 4, 8 or 16 bytes");
                };
                config.fields.insert("private_element_size", log as u64);
            }
            ".codeversion" | ".machine" => {
                let names: &[&'static str] = match name {
                    ".codeversion" => &["amd_code_version_major", "amd_code_version_minor"],
                    _ => &[
                        "amd_machine_kind",
                        "amd_machine_version_major",
                        "amd_machine_version_minor",
                        "amd_machine_version_stepping",
                    ],
                };
                for (i, field) in names.iter().enumerate() {
                    if i > 0 {
                        self.comma(c)?;
                    }
                    let most = if name == ".machine" { 0xffff } else { i64::from(u32::MAX) };
                    config.fields.insert(field, self.number_in(c, 0, most)? as u64);
                }
            }
            ".reserved_vgprs" | ".reserved_sgprs" => {
                let first = self.number_in(c, 0, 255)? as u64;
                self.comma(c)?;
                let last = self.number_in(c, first as i64, 255)? as u64;
                let (start, count) = match name {
                    ".reserved_vgprs" => ("reserved_vgpr_first", "reserved_vgpr_count"),
                    _ => ("reserved_sgpr_first", "reserved_sgpr_count"),
                };
                config.fields.insert(start, first);
                config.fields.insert(count, last - first + 1);
            }
            _ => return wrong(at, format!("{name} means nothing in this format")),
        }
        Ok(())
    }

    /// `XYZ[, XYZ]`: a mask of group ids, and how many local ids (0 for "as the group ids have it").
    fn dims(&mut self, c: &mut Cursor<'_>) -> Res<(u32, u32)> {
        let list = |c: &mut Cursor<'_>| {
            let at = c.at;
            let mut mask = 0u32;
            for letter in c.take_word().to_ascii_lowercase().bytes() {
                mask |= match letter {
                    b'x' | b'y' | b'z' => 1 << (letter - b'x'),
                    _ => return wrong(at, "dimensions are x, y and z"),
                };
            }
            Ok(mask)
        };
        let groups = list(c)?;
        let locals = if c.eat(",") { 32 - list(c)?.leading_zeros() } else { u32::MAX };
        Ok((groups, locals))
    }

    /// Up to three numbers; missing ones are `rest`.
    fn sizes(&mut self, c: &mut Cursor<'_>, rest: u32) -> Res<[u32; 3]> {
        let mut sizes = [rest; 3];
        for size in &mut sizes {
            *size = self.number_in(c, 0, i64::from(u32::MAX))? as u32;
            if !c.eat(",") {
                break;
            }
        }
        Ok(sizes)
    }
}

/// The hidden arguments as `.arg` would have them.
pub(super) fn setup_args(width: Width) -> [String; 6] {
    let word = if width == Width::W64 { "long" } else { "int" };
    HIDDEN.map(|(name, _)| match name {
        "_.printf_buffer" => format!("{name}, \"size_t\", void*, global, , rdonly"),
        _ => format!("{name}, \"size_t\", {word}"),
    })
}

/// What set-ups and metadata depend on besides the configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub width: Width,
    pub driver: u32,
    pub level: Level,
    /// CLRX's policy: from 200 on, counts of SGPRs include VCC and its like.
    pub policy: u32,
}

/// Registers beyond those that can be numbered: VCC, and FLAT_SCRATCH and XNACK_MASK with the features that use them.
pub(super) fn extra_sgprs(level: Level, flat: bool) -> u32 {
    match (flat, level) {
        (false, _) => 2,
        (true, Level::Gfx6 | Level::Gfx7) => 4,
        (true, _) => 6,
    }
}

impl Config {
    /// The code properties' low bits and the number of user SGPRs of a feature.
    fn properties(&self, level: Level) -> (u32, u32) {
        let (old, gfx9) = PROPERTIES[self.feature.min(4)];
        let bits = if level.is_gfx9() { gfx9 } else { old };
        let pairs = (bits >> 1).count_ones();
        (bits, 4 + 2 * pairs)
    }

    /// The kernel's `amd_kernel_code_t`; `used` are the SGPRs and VGPRs that its code names.
    pub fn setup(&self, used: [u32; 2], around: Around) -> KernelCode {
        let Around { width, driver, level, policy } = around;
        let old = driver < FIRST_INNER;
        let mut code = KernelCode([0; kernel_code::SIZE]);
        let mut set = |name: &str, value: u64| {
            if let Some(field) = by_name(name) {
                code.set(field, value);
            }
        };
        set("amd_code_version_major", 1);
        set("amd_code_version_minor", u64::from(!old && !self.hsa));
        set("amd_machine_kind", 1);
        set("kernel_code_entry_byte_offset", kernel_code::SIZE as u64);
        let (mut properties, mut user) = self.properties(level);
        if self.hsa {
            // The bits come from fields; each of them takes its registers.
            let sizes = [4, 2, 2, 2, 2, 2, 1];
            properties = 0;
            user = 0;
            for (i, (_, field)) in PROPERTY_BITS.iter().take(7).enumerate() {
                if self.fields.contains_key(field) {
                    properties |= 1 << i;
                    user += sizes[i];
                }
            }
            let counts = self.fields.keys().filter(|f| f.starts_with("enable_sgpr_grid")).count();
            user = self.user_data.unwrap_or((user + counts as u32).min(16));
        }
        for (i, (_, field)) in PROPERTY_BITS.iter().take(7).enumerate() {
            set(field, u64::from(properties >> i & 1));
        }
        if !self.hsa {
            set("private_element_size", 1);
            set("is_ptr64", u64::from(width == Width::W64));
        }
        let (groups, locals) = match self.dims {
            Some((groups, u32::MAX)) if self.feature == 3 => (groups, 3),
            Some((groups, u32::MAX)) => (groups, 32 - groups.leading_zeros()),
            Some(both) => both,
            None => (self.rsrc2 >> 7 & 7, (self.rsrc2 >> 11 & 3) + 1),
        };
        let scratch = u64::from(self.scratch != 0);
        let size_info = u32::from(self.bits[4]);
        let entry = user + groups.count_ones() + size_info + scratch as u32;
        let flat = if self.hsa { properties & 0x20 != 0 } else { self.feature >= 3 };
        let extra = extra_sgprs(level, flat);
        let sgprs = match self.sgprs {
            Some(n) if self.hsa || policy >= 200 => n.max(extra),
            Some(n) => n + extra,
            None => used[0].max(entry) + extra,
        };
        let vgprs = self.vgprs.unwrap_or(used[1].max(locals)).max(1);
        let granules = ((vgprs - 1) / 4, (sgprs.max(1) - 1) / 8);
        let rsrc1 = granules.0
            | granules.1 << 6
            | self.priority << 10
            | self.float_mode << 12
            | u32::from(self.bits[3]) << 20
            | u32::from(self.bits[0] || (!self.hsa && !old)) << 21
            | u32::from(self.bits[2]) << 22
            | u32::from(self.bits[1]) << 23
            | self.rsrc1;
        let dims = match self.dims {
            Some(_) => groups << 7 | locals.saturating_sub(1).min(2) << 11,
            None => self.rsrc2 & RSRC2_DIMS,
        };
        let rsrc2 = scratch as u32
            | user << 1
            | dims
            | size_info << 10
            | self.exceptions << 24
            | self.rsrc2 & RSRC2_OWN;
        let kernarg = kernarg_bytes(&self.args, width);
        set("workitem_private_segment_byte_size", self.scratch.into());
        set("workgroup_group_segment_byte_size", self.local.into());
        set("gds_segment_byte_size", self.gds.into());
        set("kernarg_segment_byte_size", if old { kernarg } else { kernarg.next_multiple_of(16) });
        set("wavefront_sgpr_count", sgprs.into());
        set("workitem_vgpr_count", vgprs.into());
        set("reserved_vgpr_first", vgprs.into());
        set("reserved_sgpr_first", sgprs.into());
        let alignments = match old {
            true => [3, if self.local > 0 { 2 } else { 0 }, if self.scratch > 0 { 4 } else { 0 }],
            false => [4; 3],
        };
        for (name, log) in ["kernarg", "group", "private"].iter().zip(alignments) {
            set(&format!("{name}_segment_alignment"), log);
        }
        set("wavefront_size", 6);
        for (name, value) in &self.fields {
            set(name, *value);
        }
        code.0[48..52].copy_from_slice(&rsrc1.to_le_bytes());
        code.0[52..56].copy_from_slice(&rsrc2.to_le_bytes());
        code
    }

    /// The kernel's record of metadata.
    pub fn record(&self, index: u32, around: Around) -> Record<'static> {
        let Around { width, driver, level, .. } = around;
        let old = driver < FIRST_INNER;
        let pipes = self.args.iter().any(|a| a.qualifiers[2]);
        let given = self.required_size != [0; 3];
        let mut capabilities = 0;
        if width == Width::W64 {
            capabilities |= capability::POINTERS_64;
        }
        if given {
            capabilities |= capability::REQUIRED_SIZE;
        }
        if old && (self.local > 0 || self.scratch > 0) {
            capabilities |= capability::MEMORY;
        }
        let hidden = self.args.iter().filter(|a| a.is_hidden()).count() as u32;
        let mut memory = [0; 6];
        if old {
            (memory[1], memory[3]) = (self.local.into(), self.scratch.into());
        }
        Record {
            capabilities,
            function: 1024 + index,
            required_size: self.required_size,
            memory,
            enqueues: self.enqueues,
            index,
            hidden: (!old).then_some(hidden),
            hints: (driver >= FIRST_HINTS).then(|| Hints {
                waves: if pipes || self.enqueues { 0 } else { u32::MAX },
                size: self.hint,
                vector: self.vector_hint.clone().into(),
            }),
            device: match driver < FIRST_NAMED {
                true => "generic".into(),
                false => format!("GFX{}", level.generation()).into(),
            },
            args: self.args.clone(),
            printf: Vec::new(),
        }
    }
}
