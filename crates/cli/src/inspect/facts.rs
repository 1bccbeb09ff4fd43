//! What there is to say about a kernel, from its descriptor and its metadata; relocations with their names; what symbols and files are called.

use std::borrow::Cow;
use std::collections::HashMap;
use wavemill_isa::target::{self, Level, Processor};
use wavemill_object::limits::{Limiter, Limits, MAX_WORKGROUP_SIZE};
use wavemill_object::metadata;
use wavemill_object::read::{Error, File, Kernel, KernelForm, Kind, Relocation, Symbol};

/// A kernel.
pub struct Facts<'k, 'a> {
    /// Its name.
    pub name: &'k str,
    /// Its symbol and what stands for it, unless only the metadata knows it.
    pub kernel: Option<&'k Kernel<'a>>,
    /// What the metadata says.
    pub said: Option<&'k metadata::kernel::Kernel<'a>>,
    /// VGPRs that a wave gets, AccVGPRs included on gfx90a.
    pub vgprs: Option<u32>,
    /// The first AccVGPR's number, on gfx90a.
    pub accum_offset: Option<u32>,
    /// SGPRs that the descriptor asks for, VCC and its like included.
    pub sgprs: Option<u32>,
    /// LDS bytes of a work-group.
    pub lds: Option<u64>,
    /// Scratch bytes of a work-item.
    pub scratch: Option<u64>,
    /// Bytes of arguments.
    pub kernarg_size: Option<u64>,
    /// The largest work-group that it may have.
    pub work_group: Option<u32>,
    /// How many waves fit.
    pub occupancy: Option<Occupancy>,
}

/// How many waves of a kernel fit on a SIMD.
pub struct Occupancy {
    /// So many.
    pub waves: u32,
    /// So many at best.
    pub most: u32,
    /// What keeps it from being more.
    pub limiter: Limiter,
    /// How little of that would allow more.
    pub more: Option<(u32, u32)>,
}

/// The processor of a file, when it is one of ours.
pub fn processor(file: &File<'_>) -> Result<Option<&'static Processor>, Error> {
    Ok(file.target_id()?.and_then(|id| target::processor(&id.processor)))
}

/// The kernels that symbols and metadata know, in the order of the symbols.
pub fn kernels<'k, 'a>(
    kernels: &'k [Kernel<'a>],
    said: &'k [metadata::kernel::Kernel<'a>],
    cpu: Option<&'static Processor>,
) -> Vec<Facts<'k, 'a>> {
    let base = |symbol: &'k str| symbol.strip_suffix(".kd").or(symbol.strip_suffix("@kd")).unwrap_or(symbol);
    let key =
        |k: &'k metadata::kernel::Kernel<'a>| if k.symbol.is_empty() { &*k.name } else { base(&k.symbol) };
    let mut by_name: HashMap<&str, &metadata::kernel::Kernel<'_>> = HashMap::with_capacity(said.len());
    for k in said {
        by_name.entry(key(k)).or_insert(k);
    }
    let mut all: Vec<_> =
        kernels.iter().map(|k| facts(k.name, Some(k), by_name.remove(k.name), cpu)).collect();
    let left = said.iter().filter(|k| by_name.get(key(k)).is_some_and(|b| std::ptr::eq(*b, *k)));
    all.extend(left.map(|k| facts(key(k), None, Some(k), cpu)));
    all
}

fn facts<'k, 'a>(
    name: &'k str,
    kernel: Option<&'k Kernel<'a>>,
    said: Option<&'k metadata::kernel::Kernel<'a>>,
    cpu: Option<&'static Processor>,
) -> Facts<'k, 'a> {
    let level = cpu.map(|c| c.level);
    let mut f = Facts {
        name,
        kernel,
        said,
        vgprs: None,
        accum_offset: None,
        sgprs: None,
        lds: said.and_then(|s| s.group_segment_fixed_size),
        scratch: said.and_then(|s| s.private_segment_fixed_size),
        kernarg_size: said.and_then(|s| s.kernarg_segment_size),
        work_group: None,
        occupancy: None,
    };
    match kernel.map(|k| &k.form) {
        Some(form @ (KernelForm::Descriptor(_) | KernelForm::Registers(_))) => {
            let Some(d) = form.descriptor() else { return f };
            f.lds = Some(d.named("group_segment_fixed_size"));
            f.scratch = Some(d.named("private_segment_fixed_size"));
            // Compilers older than the field leave it empty.
            f.kernarg_size = Some(d.named("kernarg_size")).filter(|n| *n != 0).or(f.kernarg_size);
            if let Some(level) = level {
                f.vgprs = Some(d.allocated_vgprs(level));
                f.sgprs = Some(d.counted_sgprs());
                if level == Level::Gfx90a {
                    f.accum_offset = Some((d.named("accum_offset") as u32 + 1) * 4);
                }
            }
        }
        Some(KernelForm::KernelCode(code)) => {
            f.lds = Some(code.named("workgroup_group_segment_byte_size"));
            f.scratch = Some(code.named("workitem_private_segment_byte_size"));
            f.kernarg_size = Some(code.named("kernarg_segment_byte_size"));
            let granule = if level == Some(Level::Gfx90a) { 8 } else { 4 };
            f.vgprs = Some((code.named("granulated_workitem_vgpr_count") as u32 + 1) * granule);
            f.sgprs = Some((code.named("granulated_wavefront_sgpr_count") as u32 + 1) * 8);
        }
        None => {}
    }
    let required =
        said.and_then(|s| s.reqd_workgroup_size).map(|s| s.iter().fold(1u32, |a, b| a.saturating_mul(*b)));
    f.work_group = required.or(said.and_then(|s| s.max_flat_workgroup_size)).filter(|n| *n > 0);
    if let (Some(cpu), Some(vgprs), Some(sgprs)) = (cpu, f.vgprs, f.sgprs) {
        f.occupancy = Some(occupancy(&Limits::of(cpu), vgprs, sgprs, f.lds.unwrap_or(0), f.work_group));
    }
    f
}

fn occupancy(limits: &Limits, vgprs: u32, sgprs: u32, lds: u64, work_group: Option<u32>) -> Occupancy {
    let lds = u32::try_from(lds).unwrap_or(u32::MAX).min(limits.lds_bytes);
    let items = work_group.unwrap_or(MAX_WORKGROUP_SIZE).min(MAX_WORKGROUP_SIZE);
    let (waves, limiter) = limits.occupancy(vgprs, sgprs, lds, items);
    let next = waves + 1;
    let whole = |total: u32, granule: u32| total / next / granule * granule;
    let more = match limiter {
        Limiter::Vgprs => Some((whole(limits.total_vgprs, limits.vgpr_alloc_granule), next)),
        Limiter::Sgprs => Some((whole(limits.total_sgprs, limits.sgpr_alloc_granule), next)),
        _ => None,
    };
    Occupancy { waves, most: limits.waves_per_simd, limiter, more }
}

/// A relocation with names.
pub(super) struct Relocated {
    pub offset: u64,
    pub ty: Cow<'static, str>,
    pub symbol: Option<String>,
    pub addend: i64,
}

/// The relocations of a file by the section that they apply to; those for the loader are under no name.
pub(super) fn relocations<'a>(file: &File<'a>) -> Result<Vec<(&'a str, Vec<Relocated>)>, Error> {
    let named = |relocations: Vec<Relocation>, symbols: &[Symbol<'a>]| {
        let one = |r: Relocation| Relocated {
            offset: r.offset,
            ty: r.type_name(file.is_finalized()),
            symbol: symbols
                .get(r.symbol as usize)
                .filter(|_| r.symbol != 0)
                .map(|s| file.symbol_name(s).to_owned()),
            addend: r.addend,
        };
        relocations.into_iter().map(one).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for (number, section) in file.sections.iter().enumerate() {
        all.push((section.name, named(file.relocations(number as u32)?, &file.symbols)));
    }
    all.push(("", named(file.dynamic_relocations()?, &file.dynamic_symbols()?)));
    all.retain(|(_, relocations)| !relocations.is_empty());
    Ok(all)
}

/// What a kind of file is called.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Relocatable => "relocatable",
        Kind::Shared => "shared",
        Kind::Executable => "executable",
        Kind::Other(_) => "other",
    }
}

/// What a symbol's binding is called.
pub fn binding_name(binding: u8) -> &'static str {
    match binding {
        0 => "local",
        1 => "global",
        2 => "weak",
        _ => "other",
    }
}

/// What a symbol's visibility is called.
pub fn visibility_name(other: u8) -> &'static str {
    ["default", "internal", "hidden", "protected"][usize::from(other & 3)]
}

/// Where a symbol is.
pub fn home(file: &File<'_>, symbol: &Symbol<'_>) -> String {
    match symbol.section {
        0 => "undefined".into(),
        0xff00 => "LDS".into(),
        0xfff1 => "absolute".into(),
        0xfff2 => "common".into(),
        n => file.sections.get(n as usize).map_or_else(|| n.to_string(), |s| s.name.to_string()),
    }
}
