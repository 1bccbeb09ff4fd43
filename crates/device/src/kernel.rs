//! Kernels as the device sees them: what a descriptor of any version asks for, in one form.

use std::fmt;
use wavemill_isa::{Level, Target};
use wavemill_object::demangle;
use wavemill_object::descriptor::Descriptor;
use wavemill_object::kernel_code::KernelCode;
use wavemill_object::limits::{Limits, MAX_USER_SGPRS};
use wavemill_object::metadata::kernel::Kernel as Metadata;
use wavemill_object::read::{KernelForm, Registers};
use wavemill_wave::{Shape, mode};

/// User SGPRs that the packet processor fills, in their order (AMDGPU guide, "SGPR Register Set Up Order").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UserSgpr {
    /// V# of the queue's scratch.
    PrivateSegmentBuffer,
    /// Address of the dispatch packet.
    DispatchPtr,
    /// Address of the queue.
    QueuePtr,
    /// Address of the arguments.
    KernargSegmentPtr,
    /// Number of the packet in its queue.
    DispatchId,
    /// What FLAT_SCRATCH is made from.
    FlatScratchInit,
    /// Scratch bytes of a work-item.
    PrivateSegmentSize,
    /// Work-groups in X.
    GridWorkgroupCountX,
    /// Work-groups in Y.
    GridWorkgroupCountY,
    /// Work-groups in Z.
    GridWorkgroupCountZ,
    /// A dword of the arguments, or null: what PAL calls user data.
    UserData(Option<u8>),
}

impl UserSgpr {
    /// All of them in order, with the field that enables each.
    pub const ALL: [(UserSgpr, &'static str); 10] = [
        (UserSgpr::PrivateSegmentBuffer, "enable_sgpr_private_segment_buffer"),
        (UserSgpr::DispatchPtr, "enable_sgpr_dispatch_ptr"),
        (UserSgpr::QueuePtr, "enable_sgpr_queue_ptr"),
        (UserSgpr::KernargSegmentPtr, "enable_sgpr_kernarg_segment_ptr"),
        (UserSgpr::DispatchId, "enable_sgpr_dispatch_id"),
        (UserSgpr::FlatScratchInit, "enable_sgpr_flat_scratch_init"),
        (UserSgpr::PrivateSegmentSize, "enable_sgpr_private_segment_size"),
        (UserSgpr::GridWorkgroupCountX, "enable_sgpr_grid_workgroup_count_x"),
        (UserSgpr::GridWorkgroupCountY, "enable_sgpr_grid_workgroup_count_y"),
        (UserSgpr::GridWorkgroupCountZ, "enable_sgpr_grid_workgroup_count_z"),
    ];
}

/// What a kernel's descriptor (or `amd_kernel_code_t`) asks the hardware to set up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// User SGPRs to fill, in order.
    pub user: Vec<UserSgpr>,
    /// Where the system SGPRs start.
    pub user_sgprs: u32,
    /// Arguments copied to user SGPRs: dwords, and the first one's offset in dwords (gfx90a).
    pub preload: (u32, u32),
    /// System SGPRs: work-group id X, Y, Z, work-group info, scratch wave offset.
    pub system: [bool; 5],
    /// Work-item ids beyond X that VGPRs get: 0, 1 or 2.
    pub workitem_ids: u32,
    /// Registers of a wave.
    pub shape: Shape,
    /// VGPRs handed out to a wave, for the limits.
    pub allocated_vgprs: u32,
    /// SGPRs of a wave, VCC and its like included.
    pub sgprs: u32,
    /// MODE at the start.
    pub mode: u32,
    /// Static LDS bytes.
    pub group_bytes: u32,
    /// Scratch bytes of a work-item, as far as known.
    pub private_bytes: u32,
    /// Bytes of a lane's scratch that lie together before GFX9.
    pub private_element: u8,
    /// Argument bytes.
    pub kernarg_bytes: u32,
    /// More scratch may be needed: recursion, calls through pointers.
    pub dynamic_stack: bool,
    /// The kernel wants waves of 32 lanes.
    pub wave32: bool,
    /// Work-group info has the wave's number for GDS ordered append (`amd_kernel_code_t` only).
    pub ordered_append: bool,
    /// S_TRAP 3 without a debugger stops the dispatch; see [`Setup::ignores_trap`].
    pub debugtrap_stops: bool,
}

/// The descriptor's names of exceptions that trap, in the order of MODE.EXCP_EN.
const EXCEPTIONS: [&str; 9] = [
    "enable_exception_ieee_754_fp_invalid_operation",
    "enable_exception_fp_denormal_source",
    "enable_exception_ieee_754_fp_division_by_zero",
    "enable_exception_ieee_754_fp_overflow",
    "enable_exception_ieee_754_fp_underflow",
    "enable_exception_ieee_754_fp_inexact",
    "enable_exception_int_divide_by_zero",
    "enable_exception_address_watch",
    "enable_exception_memory",
];

impl Setup {
    /// Reads the fields.
    pub fn new(form: &KernelForm, target: &Target) -> Setup {
        match form {
            KernelForm::Descriptor(d) => Self::from_descriptor(d, target),
            KernelForm::KernelCode(c) => Self::from_kernel_code(c, target),
            KernelForm::Registers(r) => Self::from_registers(r, target),
        }
    }

    fn from_descriptor(d: &Descriptor, target: &Target) -> Setup {
        let level = target.level();
        let get = |name: &str| d.named(name) as u32;
        // Version 3 has no bits for the numbers of work-groups; by name they would read as other fields.
        let user: Vec<UserSgpr> = UserSgpr::ALL[..7].iter().filter(|u| get(u.1) != 0).map(|u| u.0).collect();
        let mut setup = Setup {
            user,
            user_sgprs: get("user_sgpr_count"),
            preload: (get("kernarg_preload_length"), get("kernarg_preload_offset")),
            system: [
                get("enable_sgpr_workgroup_id_x") != 0,
                get("enable_sgpr_workgroup_id_y") != 0,
                get("enable_sgpr_workgroup_id_z") != 0,
                get("enable_sgpr_workgroup_info") != 0,
                get("enable_private_segment") != 0,
            ],
            workitem_ids: get("enable_vgpr_workitem_id"),
            shape: Shape { vgprs: 0, agprs: 0 },
            allocated_vgprs: d.allocated_vgprs(level),
            sgprs: d.counted_sgprs().next_multiple_of(Limits::of(target.cpu).sgpr_alloc_granule),
            mode: get("float_round_mode_32") << mode::ROUND32_SHIFT
                | get("float_round_mode_16_64") << mode::ROUND64_SHIFT
                | get("float_denorm_mode_32") << mode::DENORM32_SHIFT
                | get("float_denorm_mode_16_64") << mode::DENORM64_SHIFT
                | (get("enable_dx10_clamp") * mode::DX10_CLAMP)
                | (get("enable_ieee_mode") * mode::IEEE)
                | EXCEPTIONS
                    .iter()
                    .enumerate()
                    .fold(0, |bits, (i, name)| bits | get(name) << (mode::EXCP_EN_SHIFT + i as u32)),
            group_bytes: get("group_segment_fixed_size"),
            private_bytes: get("private_segment_fixed_size"),
            private_element: 4,
            kernarg_bytes: get("kernarg_size"),
            dynamic_stack: get("uses_dynamic_stack") != 0,
            wave32: get("enable_wavefront_size32") != 0,
            ordered_append: false,
            debugtrap_stops: false,
        };
        if level.is_gfx9() {
            setup.mode |= get("fp16_ovfl") * mode::FP16_OVFL;
        }
        if level != Level::Gfx90a {
            setup.preload = (0, 0);
        }
        let accum = (get("accum_offset") + 1) * 4;
        setup.shape = shape(level, setup.allocated_vgprs, accum);
        setup
    }

    /// Registers that a driver sets as they are: there are no other user SGPRs than those that hold user data.
    fn from_registers(r: &Registers, target: &Target) -> Setup {
        let mut setup = Self::from_descriptor(&r.descriptor, target);
        if let Some(data) = &r.user_data {
            setup.user = data.iter().map(|&entry| UserSgpr::UserData(entry)).collect();
        }
        setup
    }

    fn from_kernel_code(c: &KernelCode, target: &Target) -> Setup {
        let level = target.level();
        let get = |name: &str| c.named(name) as u32;
        let granule = Limits::of(target.cpu).vgpr_encoding_granule;
        let vgprs = (get("granulated_workitem_vgpr_count") + 1) * granule;
        Setup {
            user: UserSgpr::ALL.iter().filter(|u| get(u.1) != 0).map(|u| u.0).collect(),
            user_sgprs: get("user_sgpr_count"),
            preload: (0, 0),
            system: [
                get("enable_sgpr_workgroup_id_x") != 0,
                get("enable_sgpr_workgroup_id_y") != 0,
                get("enable_sgpr_workgroup_id_z") != 0,
                get("enable_sgpr_workgroup_info") != 0,
                get("enable_sgpr_private_segment_wave_byte_offset") != 0,
            ],
            workitem_ids: get("enable_vgpr_workitem_id"),
            shape: shape(level, vgprs, vgprs),
            allocated_vgprs: vgprs,
            sgprs: ((get("granulated_wavefront_sgpr_count") + 1) * 8)
                .next_multiple_of(Limits::of(target.cpu).sgpr_alloc_granule),
            mode: get("float_mode") & 0xff
                | (get("enable_dx10_clamp") * mode::DX10_CLAMP)
                | (get("enable_ieee_mode") * mode::IEEE)
                | (get("enable_exception") | get("enable_exception_msb") << 7) << mode::EXCP_EN_SHIFT,
            group_bytes: get("workgroup_group_segment_byte_size"),
            private_bytes: get("workitem_private_segment_byte_size"),
            private_element: private_element(get("private_element_size"), level),
            kernarg_bytes: get("kernarg_segment_byte_size"),
            dynamic_stack: get("is_dynamic_callstack") != 0,
            wave32: get("wavefront_size") == 5,
            ordered_append: get("enable_ordered_append_gds") != 0,
            debugtrap_stops: true,
        }
    }

    /// Whether the runtime's trap handler returns at once from S_TRAP with this id, as long as there is no debugger.
    ///
    /// That is so for `llvm.debugtrap` (3) alone, and was not always so. By the AMDGPU guide of the time of code object
    /// version 2 and its `amd_kernel_code_t` ("Trap Handler ABI": "handled same as `llvm.trap`") the dispatch ends. LLVM's
    /// change D46769 made it a no-operation before the kernel descriptors of version 3 came into use, in the guide and in
    /// the compiler, which passes no queue to the handler any more; ROCm's handler ignores it, and ends the dispatch for
    /// every other id. So the version, which says what the compiler had in mind, decides.
    pub const fn ignores_trap(&self, id: u8) -> bool {
        id == 3 && !self.debugtrap_stops
    }

    /// User SGPRs that the enabled ones take, unlimited.
    pub fn implied_user_sgprs(&self) -> u32 {
        self.user.iter().map(|u| u.sgprs()).sum::<u32>() + self.preload.0
    }
}

impl UserSgpr {
    /// How many registers it takes.
    pub const fn sgprs(self) -> u32 {
        match self {
            UserSgpr::PrivateSegmentBuffer => 4,
            UserSgpr::DispatchPtr
            | UserSgpr::QueuePtr
            | UserSgpr::KernargSegmentPtr
            | UserSgpr::DispatchId
            | UserSgpr::FlatScratchInit => 2,
            _ => 1,
        }
    }
}

/// The registers of a wave that was given `vgprs` of them: gfx90a's accumulators start at `accum` in the same file,
/// gfx908 has as many again in a file of their own.
fn shape(level: Level, vgprs: u32, accum: u32) -> Shape {
    let (vgprs, agprs) = match level {
        Level::Gfx90a => (vgprs.min(accum), vgprs.saturating_sub(accum)),
        Level::Gfx908 => (vgprs, vgprs),
        _ => (vgprs, 0),
    };
    Shape { vgprs: vgprs.min(512) as u16, agprs: agprs.min(512) as u16 }
}

/// Bytes of a lane's scratch that lie together, from `private_element_size` (ROCm's code object format, "Scratch memory
/// swizzling"). Assemblers leave 0, which is two bytes, where a kernel has no scratch or nobody has thought of it: a dword.
fn private_element(code: u32, level: Level) -> u8 {
    match code {
        2 if !level.is_gfx9() => 8,
        3 if !level.is_gfx9() => 16,
        _ => 4,
    }
}

/// A kernel argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Name in the source, if known.
    pub name: Option<String>,
    /// Type in the source, if known.
    pub type_name: Option<String>,
    /// Byte in the argument block.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Metadata's word: `by_value`, `by_reference`, `global_buffer`, `dynamic_shared_pointer`, `image`, `hidden_…`.
    pub kind: String,
    /// Alignment of what a pointer to LDS points to.
    pub pointee_align: u32,
    /// Bytes of a structure that is passed by reference.
    pub pointee_size: u32,
}

impl Argument {
    /// True for what the runtime fills in itself.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

/// Scratch that kernels with recursion or calls through pointers get beyond what their descriptor says.
const DYNAMIC_STACK: u32 = 16 << 10;

/// A loaded kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name.
    pub name: String,
    /// Address of the descriptor: what dispatch packets call the kernel object.
    pub object: u64,
    /// Address of the first instruction.
    pub entry: u64,
    /// What the hardware shall set up.
    pub setup: Setup,
    /// Arguments, hidden ones included; `None` without metadata.
    pub args: Option<Vec<Argument>>,
    /// The only work-group size it can be run with.
    pub required_size: Option<[u32; 3]>,
    /// Largest work-group, if it says.
    pub max_size: Option<u32>,
    /// Bytes of arguments, by the metadata or else the descriptor.
    pub kernarg_bytes: u32,
    /// Alignment of the arguments.
    pub kernarg_align: u32,
    /// Where arguments begin: behind sizes of the dispatch in kernels for no operating system.
    pub first_argument: u32,
    /// Its pointers have 32 bits: what it sees must lie below 4 GiB.
    pub narrow: bool,
    /// Kernels enqueue it, programs do not: the variable that tells them where it is.
    pub handle: Option<String>,
}

impl Kernel {
    /// A kernel from its parts.
    pub(crate) fn new(
        name: &str,
        object: u64,
        entry: u64,
        form: &KernelForm,
        metadata: Option<&Metadata<'_>>,
        target: &Target,
    ) -> Kernel {
        let mut setup = Setup::new(form, target);
        let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let mut kernel = Kernel {
            name: name.to_owned(),
            object,
            entry,
            args: None,
            required_size: None,
            max_size: None,
            kernarg_bytes: setup.kernarg_bytes,
            kernarg_align: 16,
            first_argument: 0,
            narrow: false,
            handle: None,
            setup: setup.clone(),
        };
        if let KernelForm::Registers(r) = form {
            kernel.first_argument = r.first_argument;
            kernel.required_size = r.threads;
        }
        if let Some(m) = metadata {
            let argument = |a: &wavemill_object::metadata::kernel::Argument<'_>| Argument {
                name: a.name.as_ref().map(|n| n.to_string()),
                type_name: a.type_name.as_ref().map(|n| n.to_string()),
                offset: narrow(a.offset),
                size: narrow(a.size),
                kind: a.value_kind.to_string(),
                pointee_align: narrow(a.pointee_align.unwrap_or(1)),
                pointee_size: narrow(a.pointee_size.unwrap_or(0)),
            };
            kernel.args = Some(m.args.iter().map(argument).collect());
            kernel.required_size = m.reqd_workgroup_size.filter(|s| *s != [0; 3]);
            kernel.max_size = m.max_flat_workgroup_size.filter(|&n| n > 0);
            kernel.kernarg_bytes = kernel.kernarg_bytes.max(narrow(m.kernarg_segment_size.unwrap_or(0)));
            let align = narrow(m.kernarg_segment_align.unwrap_or(16));
            kernel.kernarg_align = if align.is_power_of_two() { align.clamp(16, 4096) } else { 16 };
            kernel.handle = m.device_enqueue_symbol.as_ref().map(|s| s.to_string());
            setup.dynamic_stack |= m.uses_dynamic_stack;
            setup.wave32 |= m.wavefront_size == Some(32);
            kernel.setup = setup;
        }
        kernel
    }

    /// Scratch bytes that a packet should give its work-items.
    pub fn private_bytes(&self) -> u32 {
        let more = if self.setup.dynamic_stack { DYNAMIC_STACK } else { 0 };
        self.setup.private_bytes.saturating_add(more)
    }

    /// The arguments a caller gives.
    pub fn visible_args(&self) -> impl Iterator<Item = &Argument> {
        self.args.iter().flatten().filter(|a| !a.is_hidden())
    }

    /// What no processor of this kind can run, whatever the dispatch.
    pub fn check(&self, target: &Target) -> Result<(), KernelError> {
        let limits = Limits::of(target.cpu);
        let s = &self.setup;
        let fail = |message: String| Err(KernelError { kernel: self.name.clone(), message });
        if s.wave32 {
            return fail("it wants waves of 32 lanes, which GFX6 to GFX9 do not have".into());
        }
        if s.allocated_vgprs > limits.addressable_vgprs {
            return fail(format!(
                "it wants {} VGPRs, {} has {}",
                s.allocated_vgprs, target.cpu.name, limits.addressable_vgprs
            ));
        }
        // VCC, FLAT_SCRATCH and XNACK_MASK come on top of what can be named, and all are handed out in granules.
        let most = (limits.addressable_sgprs + 6).next_multiple_of(limits.sgpr_alloc_granule);
        if s.sgprs > most {
            return fail(format!("it wants {} SGPRs, {} has {most}", s.sgprs, target.cpu.name));
        }
        if s.user_sgprs > MAX_USER_SGPRS {
            return fail(format!("it wants {} user SGPRs, the hardware has {MAX_USER_SGPRS}", s.user_sgprs));
        }
        if s.workitem_ids > 2 {
            return fail("enable_vgpr_workitem_id = 3 is undefined".into());
        }
        Ok(())
    }
}

/// Why a kernel cannot be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelError {
    /// Its name.
    pub kernel: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: {}", demangle::shown(&self.kernel), self.message)
    }
}

impl std::error::Error for KernelError {}
