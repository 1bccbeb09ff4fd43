//! The 256-byte `amd_kernel_code_t` in front of a kernel's code, in code object v1 and v2 and on Mesa3D
//! (ROCm code object format, "AMD Kernel Code Object").

use wavemill_isa::target::Target;

/// Size of the structure in bytes.
pub const SIZE: usize = 256;
/// Alignment of a kernel's code, and so of the structure, in bytes.
pub const ALIGN: usize = 256;

/// One key of `.amd_kernel_code_t`.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The structure's name for it, and the one listings print.
    pub name: &'static str,
    /// The other name that is accepted.
    pub alias: &'static str,
    /// Position of the lowest bit in the structure, as the document's tables count.
    pub bit: u16,
    /// Number of bits.
    pub width: u8,
    /// Bits of the stored word that it is part of: a symbolic value is merged into that word.
    pub word: u8,
    /// A value may stay symbolic until the end of the source.
    pub symbolic: bool,
    /// Part of listings. What is not is accepted in sources and read from objects all the same.
    pub listed: bool,
}

impl Field {
    /// First byte of the word the field lies in.
    pub const fn word_byte(&self) -> usize {
        (self.bit - self.bit % self.word as u16) as usize / 8
    }

    /// Lowest bit within that word.
    pub const fn shift(&self) -> u32 {
        (self.bit % self.word as u16) as u32
    }

    /// The field's bits, unshifted.
    pub const fn mask(&self) -> u64 {
        if self.width >= 64 { u64::MAX } else { (1 << self.width) - 1 }
    }
}

/// A number of its own.
const fn num(name: &'static str, alias: &'static str, bit: u16, width: u8) -> Field {
    Field { name, alias, bit, width, word: width, symbolic: false, listed: true }
}

/// Bits of a 32-bit word.
const fn bits(name: &'static str, alias: &'static str, bit: u16, width: u8) -> Field {
    Field { name, alias, bit, width, word: 32, symbolic: false, listed: true }
}

impl Field {
    const fn symbolic(self) -> Field {
        Field { symbolic: true, ..self }
    }

    const fn unlisted(self) -> Field {
        Field { listed: false, ..self }
    }
}

/// Bits of COMPUTE_PGM_RSRC1 and 2.
const fn rsrc(name: &'static str, alias: &'static str, bit: u16, width: u8) -> Field {
    bits(name, alias, bit, width).symbolic()
}

/// Every key, in the order of listings.
#[rustfmt::skip]
pub const FIELDS: &[Field] = &[
    num("amd_code_version_major", "kernel_code_version_major", 0, 32),
    num("amd_code_version_minor", "kernel_code_version_minor", 32, 32),
    num("amd_machine_kind", "machine_kind", 64, 16),
    num("amd_machine_version_major", "machine_version_major", 80, 16),
    num("amd_machine_version_minor", "machine_version_minor", 96, 16),
    num("amd_machine_version_stepping", "machine_version_stepping", 112, 16),
    num("kernel_code_entry_byte_offset", "", 128, 64),
    num("kernel_code_prefetch_byte_offset", "", 192, 64).unlisted(),
    num("kernel_code_prefetch_byte_size", "", 256, 64),
    num("max_scratch_backing_memory_byte_size", "", 320, 64).unlisted(),
    rsrc("granulated_workitem_vgpr_count", "compute_pgm_rsrc1_vgprs", 384, 6),
    rsrc("granulated_wavefront_sgpr_count", "compute_pgm_rsrc1_sgprs", 390, 4),
    rsrc("priority", "compute_pgm_rsrc1_priority", 394, 2),
    rsrc("float_mode", "compute_pgm_rsrc1_float_mode", 396, 8),
    rsrc("float_mode_round_32", "", 396, 2).unlisted(),
    rsrc("float_mode_round_16_64", "", 398, 2).unlisted(),
    rsrc("float_mode_denorm_32", "", 400, 2).unlisted(),
    rsrc("float_mode_denorm_16_64", "", 402, 2).unlisted(),
    rsrc("priv", "compute_pgm_rsrc1_priv", 404, 1),
    rsrc("enable_dx10_clamp", "compute_pgm_rsrc1_dx10_clamp", 405, 1),
    rsrc("debug_mode", "compute_pgm_rsrc1_debug_mode", 406, 1),
    rsrc("enable_ieee_mode", "compute_pgm_rsrc1_ieee_mode", 407, 1),
    rsrc("bulky", "compute_pgm_rsrc1_bulky", 408, 1).unlisted(),
    rsrc("cdbg_user", "compute_pgm_rsrc1_cdbg_user", 409, 1).unlisted(),
    rsrc("enable_wgp_mode", "compute_pgm_rsrc1_wgp_mode", 413, 1),
    rsrc("enable_mem_ordered", "compute_pgm_rsrc1_mem_ordered", 414, 1),
    rsrc("enable_fwd_progress", "compute_pgm_rsrc1_fwd_progress", 415, 1),
    rsrc("enable_sgpr_private_segment_wave_byte_offset", "compute_pgm_rsrc2_scratch_en", 416, 1),
    rsrc("user_sgpr_count", "compute_pgm_rsrc2_user_sgpr", 417, 5),
    rsrc("enable_trap_handler", "compute_pgm_rsrc2_trap_handler", 422, 1),
    rsrc("enable_sgpr_workgroup_id_x", "compute_pgm_rsrc2_tgid_x_en", 423, 1),
    rsrc("enable_sgpr_workgroup_id_y", "compute_pgm_rsrc2_tgid_y_en", 424, 1),
    rsrc("enable_sgpr_workgroup_id_z", "compute_pgm_rsrc2_tgid_z_en", 425, 1),
    rsrc("enable_sgpr_workgroup_info", "compute_pgm_rsrc2_tg_size_en", 426, 1),
    rsrc("enable_vgpr_workitem_id", "compute_pgm_rsrc2_tidig_comp_cnt", 427, 2),
    rsrc("enable_exception_msb", "compute_pgm_rsrc2_excp_en_msb", 429, 2),
    rsrc("enable_exception_address_watch", "", 429, 1).unlisted(),
    rsrc("enable_exception_memory_violation", "", 430, 1).unlisted(),
    rsrc("granulated_lds_size", "compute_pgm_rsrc2_lds_size", 431, 9),
    rsrc("enable_exception", "compute_pgm_rsrc2_excp_en", 440, 7),
    rsrc("enable_exception_ieee_754_fp_invalid_operation", "", 440, 1).unlisted(),
    rsrc("enable_exception_fp_denormal_source", "", 441, 1).unlisted(),
    rsrc("enable_exception_ieee_754_fp_division_by_zero", "", 442, 1).unlisted(),
    rsrc("enable_exception_ieee_754_fp_overflow", "", 443, 1).unlisted(),
    rsrc("enable_exception_ieee_754_fp_underflow", "", 444, 1).unlisted(),
    rsrc("enable_exception_ieee_754_fp_inexact", "", 445, 1).unlisted(),
    rsrc("enable_exception_int_divide_by_zero", "", 446, 1).unlisted(),
    bits("enable_sgpr_private_segment_buffer", "", 448, 1),
    bits("enable_sgpr_dispatch_ptr", "", 449, 1),
    bits("enable_sgpr_queue_ptr", "", 450, 1),
    bits("enable_sgpr_kernarg_segment_ptr", "", 451, 1),
    bits("enable_sgpr_dispatch_id", "", 452, 1),
    bits("enable_sgpr_flat_scratch_init", "", 453, 1),
    bits("enable_sgpr_private_segment_size", "", 454, 1),
    bits("enable_sgpr_grid_workgroup_count_x", "enable_sgpr_grid_workgroup_count_X", 455, 1),
    bits("enable_sgpr_grid_workgroup_count_y", "enable_sgpr_grid_workgroup_count_Y", 456, 1),
    bits("enable_sgpr_grid_workgroup_count_z", "enable_sgpr_grid_workgroup_count_Z", 457, 1),
    bits("enable_wavefront_size32", "", 458, 1),
    bits("enable_ordered_append_gds", "", 464, 1),
    bits("private_element_size", "", 465, 2),
    bits("is_ptr64", "", 467, 1),
    bits("is_dynamic_callstack", "is_dynamic_call_stack", 468, 1).symbolic(),
    bits("is_debug_enabled", "", 469, 1),
    bits("is_xnack_enabled", "", 470, 1),
    num("workitem_private_segment_byte_size", "", 480, 32).symbolic(),
    num("workgroup_group_segment_byte_size", "", 512, 32),
    num("gds_segment_byte_size", "", 544, 32),
    num("kernarg_segment_byte_size", "", 576, 64),
    num("workgroup_fbarrier_count", "", 640, 32),
    num("wavefront_sgpr_count", "", 672, 16).symbolic(),
    num("workitem_vgpr_count", "", 688, 16).symbolic(),
    num("reserved_vgpr_first", "", 704, 16),
    num("reserved_vgpr_count", "", 720, 16),
    num("reserved_sgpr_first", "", 736, 16),
    num("reserved_sgpr_count", "", 752, 16),
    num("debug_wavefront_private_segment_offset_sgpr", "", 768, 16),
    num("debug_private_segment_buffer_sgpr", "", 784, 16),
    num("kernarg_segment_alignment", "", 800, 8),
    num("group_segment_alignment", "", 808, 8),
    num("private_segment_alignment", "", 816, 8),
    num("wavefront_size", "", 824, 8),
    num("call_convention", "", 832, 32),
    num("runtime_loader_kernel_symbol", "", 960, 64),
];

/// The key that LLVM reads and forgets: for it the structure has no such field any more.
pub const FORGOTTEN: &str = "max_scratch_backing_memory_byte_size";

/// The field of a key or its alternative name.
pub fn by_name(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|f| f.name == name || (!name.is_empty() && f.alias == name))
}

/// The structure's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelCode(pub [u8; SIZE]);

impl KernelCode {
    /// What an empty `.amd_kernel_code_t` block says for a processor.
    pub fn with_defaults(target: &Target) -> KernelCode {
        let mut code = KernelCode([0; SIZE]);
        let (major, minor, stepping) = target.cpu.version;
        let defaults: [(&str, u64); 12] = [
            ("amd_code_version_major", 1),
            ("amd_code_version_minor", 2),
            ("amd_machine_kind", 1),
            ("amd_machine_version_major", u64::from(major)),
            ("amd_machine_version_minor", u64::from(minor)),
            ("amd_machine_version_stepping", u64::from(stepping)),
            ("kernel_code_entry_byte_offset", SIZE as u64),
            ("kernarg_segment_alignment", 4),
            ("group_segment_alignment", 4),
            ("private_segment_alignment", 4),
            ("wavefront_size", 6),
            // Code that makes no indirect calls has no call convention.
            ("call_convention", u64::MAX),
        ];
        for (name, value) in defaults {
            if let Some(field) = by_name(name) {
                code.set(field, value);
            }
        }
        code
    }

    /// What the finalizer took as given, 128 bytes that only it knows.
    pub fn control_directive(&self) -> &[u8] {
        &self.0[128..]
    }

    /// Takes the first 256 bytes of `bytes`.
    pub fn read(bytes: &[u8]) -> Option<KernelCode> {
        bytes.get(..SIZE)?.try_into().ok().map(KernelCode)
    }

    fn word(&self, field: &Field) -> u64 {
        let size = field.word as usize / 8;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.0[field.word_byte()..][..size]);
        u64::from_le_bytes(bytes)
    }

    /// A field's bits.
    pub fn get(&self, field: &Field) -> u64 {
        self.word(field) >> field.shift() & field.mask()
    }

    /// Replaces a field's bits.
    pub fn set(&mut self, field: &Field, value: u64) {
        let word =
            self.word(field) & !(field.mask() << field.shift()) | (value & field.mask()) << field.shift();
        let size = field.word as usize / 8;
        self.0[field.word_byte()..][..size].copy_from_slice(&word.to_le_bytes()[..size]);
    }

    /// The bits of a field named in [`FIELDS`]; 0 for an unknown name.
    pub fn named(&self, name: &str) -> u64 {
        by_name(name).map_or(0, |f| self.get(f))
    }

    /// The keys and values that make the structure again: those of listings, and others that are not zero and no part of
    /// them. Nothing if it has bits that no key has.
    pub fn keys(&self) -> Option<Vec<(&'static str, u64)>> {
        let mut again = KernelCode([0; SIZE]);
        let mut keys = Vec::new();
        let (listed, others): (Vec<&Field>, Vec<&Field>) = FIELDS.iter().partition(|f| f.listed);
        for field in listed.into_iter().chain(others) {
            let value = self.get(field);
            if field.listed || value != again.get(field) {
                again.set(field, value);
                keys.push((field.name, value));
            }
        }
        (again == *self).then_some(keys)
    }

    /// A value as listings print it: 32 bits, signed.
    pub fn listed_value(&self, field: &Field) -> i32 {
        self.get(field) as i32
    }
}
