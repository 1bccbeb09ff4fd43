//! The 64-byte kernel descriptor of code object v3 and later (AMDGPU guide, "Kernel Descriptor").
//!
//! [`FIELDS`] is the one list of what the descriptor holds: the assembler finds directives in it, the writer and
//! the reader their bits, `disasm` and `inspect` their names.

use crate::limits::{self, Limits};
use wavemill_isa::target::{Level, Target};

/// Size of a kernel descriptor in bytes; also its alignment.
pub const SIZE: usize = 64;

/// A part of the descriptor that is stored as one little-endian number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// LDS bytes of a work-group.
    GroupSegmentFixedSize,
    /// Scratch bytes of a work-item.
    PrivateSegmentFixedSize,
    /// Bytes of kernel arguments.
    KernargSize,
    /// From the descriptor to the entry point; filled by a relocation.
    EntryOffset,
    /// COMPUTE_PGM_RSRC3.
    Rsrc3,
    /// COMPUTE_PGM_RSRC1.
    Rsrc1,
    /// COMPUTE_PGM_RSRC2.
    Rsrc2,
    /// Which user SGPRs are set up, and the like.
    Properties,
    /// Kernel arguments preloaded into SGPRs.
    KernargPreload,
}

impl Word {
    /// All words in the order of their bytes.
    pub const ALL: [Word; 9] = [
        Word::GroupSegmentFixedSize,
        Word::PrivateSegmentFixedSize,
        Word::KernargSize,
        Word::EntryOffset,
        Word::Rsrc3,
        Word::Rsrc1,
        Word::Rsrc2,
        Word::Properties,
        Word::KernargPreload,
    ];

    /// First byte in the descriptor.
    pub const fn offset(self) -> usize {
        [0, 4, 8, 16, 44, 48, 52, 56, 58][self as usize]
    }

    /// Size in bytes.
    pub const fn size(self) -> usize {
        [4, 4, 4, 8, 4, 4, 4, 2, 2][self as usize]
    }
}

/// Who has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// Every processor.
    All,
    /// GFX7 and later.
    Gfx7,
    /// GFX8 and later.
    Gfx8,
    /// GFX9.
    Gfx9,
    /// gfx90a.
    Gfx90a,
    /// GFX10 and later, or otherwise not a processor of ours; the text names who has it.
    Elsewhere(&'static str),
}

impl Has {
    /// True when a processor of this level has the field.
    pub const fn on(self, level: Level) -> bool {
        match self {
            Has::All => true,
            Has::Gfx7 => level.generation() >= 7,
            Has::Gfx8 => level.generation() >= 8,
            Has::Gfx9 => level.generation() >= 9,
            Has::Gfx90a => matches!(level, Level::Gfx90a),
            Has::Elsewhere(_) => false,
        }
    }

    /// Who has it, for messages.
    pub const fn who(self) -> &'static str {
        match self {
            Has::All => "gfx6+",
            Has::Gfx7 => "gfx7+",
            Has::Gfx8 => "gfx8+",
            Has::Gfx9 => "gfx9+",
            Has::Gfx90a => "gfx90a+",
            Has::Elsewhere(who) => who,
        }
    }
}

/// How a directive's value becomes the field's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The value is the bits.
    Bits,
    /// The value is the bits, and when set this many user SGPRs are taken.
    UserSgprs(u8),
    /// Number of user SGPRs; counted when not said.
    UserSgprCount,
    /// User SGPRs filled with arguments: as many as the value says.
    PreloadLength,
    /// Where preloading starts.
    PreloadOffset,
    /// One more than the highest VGPR; stored in granules less one.
    NextFreeVgpr,
    /// One more than the highest SGPR; stored in granules less one, with the reserved ones.
    NextFreeSgpr,
    /// Where AccVGPRs start; stored in fours less one.
    AccumOffset,
    /// Whether VCC is counted among the SGPRs. Stored with them.
    ReserveVcc,
    /// Whether FLAT_SCRATCH is counted among the SGPRs. Stored with them.
    ReserveFlatScratch,
    /// Whether XNACK_MASK is counted among the SGPRs. Must agree with the target id.
    ReserveXnackMask,
    /// No directive sets it.
    None,
}

/// One field of the descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name in reports: the guide's field name in lower case.
    pub name: &'static str,
    /// Directive that sets it, `""` when none does.
    pub directive: &'static str,
    /// The word it lies in.
    pub word: Word,
    /// Its lowest bit in the word.
    pub shift: u8,
    /// Its number of bits; 0 for what is stored as part of another field.
    pub width: u8,
    /// Which processors have it.
    pub has: Has,
    /// How the directive's value is stored.
    pub meaning: Meaning,
    /// Its value when a source does not say it.
    pub default: u8,
    /// Place in an assembler listing, 0 for none. (The table itself is in the order of bytes and bits.)
    pub place: u8,
    /// A directive's value may stay symbolic until the end of the source.
    pub symbolic: bool,
}

impl Field {
    /// The field's bits within its word.
    pub const fn mask(&self) -> u64 {
        if self.width >= 64 { u64::MAX } else { ((1 << self.width) - 1) << self.shift }
    }
}

use Meaning as M;
use Word as W;

/// Shorthand for a row: `(name, directive)`, word, `[shift, width]`, who, meaning, `[default, place]`.
const fn row(
    names: (&'static str, &'static str),
    word: Word,
    bits: [u8; 2],
    has: Has,
    meaning: Meaning,
    listing: [u8; 2],
) -> Field {
    let symbolic =
        !matches!(meaning, M::UserSgprs(_) | M::UserSgprCount | M::PreloadLength | M::PreloadOffset);
    Field {
        name: names.0,
        directive: names.1,
        word,
        shift: bits[0],
        width: bits[1],
        has,
        meaning,
        default: listing[0],
        place: listing[1],
        symbolic,
    }
}

const GFX10: Has = Has::Elsewhere("gfx10+");

/// Every field, in the order of bytes and bits.
#[rustfmt::skip]
pub const FIELDS: &[Field] = &[
    row(("group_segment_fixed_size", ".amdhsa_group_segment_fixed_size"), W::GroupSegmentFixedSize, [0, 32], Has::All, M::Bits, [0, 1]),
    row(("private_segment_fixed_size", ".amdhsa_private_segment_fixed_size"), W::PrivateSegmentFixedSize, [0, 32], Has::All, M::Bits, [0, 2]),
    row(("kernarg_size", ".amdhsa_kernarg_size"), W::KernargSize, [0, 32], Has::All, M::Bits, [0, 3]),
    row(("kernel_code_entry_byte_offset", ""), W::EntryOffset, [0, 64], Has::All, M::None, [0, 0]),

    row(("accum_offset", ".amdhsa_accum_offset"), W::Rsrc3, [0, 6], Has::Gfx90a, M::AccumOffset, [0, 23]),
    row(("tg_split", ".amdhsa_tg_split"), W::Rsrc3, [16, 1], Has::Gfx90a, M::Bits, [0, 34]),
    row(("shared_vgpr_count", ".amdhsa_shared_vgpr_count"), W::Rsrc3, [0, 4], Has::Elsewhere("gfx10 or gfx11"), M::Bits, [0, 0]),

    row(("granulated_workitem_vgpr_count", ".amdhsa_next_free_vgpr"), W::Rsrc1, [0, 6], Has::All, M::NextFreeVgpr, [0, 21]),
    row(("reserve_vcc", ".amdhsa_reserve_vcc"), W::Rsrc1, [0, 0], Has::All, M::ReserveVcc, [1, 24]),
    row(("reserve_flat_scratch", ".amdhsa_reserve_flat_scratch"), W::Rsrc1, [0, 0], Has::Gfx7, M::ReserveFlatScratch, [1, 25]),
    row(("reserve_xnack_mask", ".amdhsa_reserve_xnack_mask"), W::Rsrc1, [0, 0], Has::Gfx8, M::ReserveXnackMask, [0, 26]),
    row(("granulated_wavefront_sgpr_count", ".amdhsa_next_free_sgpr"), W::Rsrc1, [6, 4], Has::All, M::NextFreeSgpr, [0, 22]),
    row(("priority", ""), W::Rsrc1, [10, 2], Has::All, M::None, [0, 0]),
    row(("float_round_mode_32", ".amdhsa_float_round_mode_32"), W::Rsrc1, [12, 2], Has::All, M::Bits, [0, 27]),
    row(("float_round_mode_16_64", ".amdhsa_float_round_mode_16_64"), W::Rsrc1, [14, 2], Has::All, M::Bits, [0, 28]),
    row(("float_denorm_mode_32", ".amdhsa_float_denorm_mode_32"), W::Rsrc1, [16, 2], Has::All, M::Bits, [0, 29]),
    row(("float_denorm_mode_16_64", ".amdhsa_float_denorm_mode_16_64"), W::Rsrc1, [18, 2], Has::All, M::Bits, [3, 30]),
    row(("priv", ""), W::Rsrc1, [20, 1], Has::All, M::None, [0, 0]),
    row(("enable_dx10_clamp", ".amdhsa_dx10_clamp"), W::Rsrc1, [21, 1], Has::All, M::Bits, [1, 31]),
    row(("debug_mode", ""), W::Rsrc1, [22, 1], Has::All, M::None, [0, 0]),
    row(("enable_ieee_mode", ".amdhsa_ieee_mode"), W::Rsrc1, [23, 1], Has::All, M::Bits, [1, 32]),
    row(("bulky", ""), W::Rsrc1, [24, 1], Has::All, M::None, [0, 0]),
    row(("cdbg_user", ""), W::Rsrc1, [25, 1], Has::All, M::None, [0, 0]),
    row(("fp16_ovfl", ".amdhsa_fp16_overflow"), W::Rsrc1, [26, 1], Has::Gfx9, M::Bits, [0, 33]),
    row(("wgp_mode", ".amdhsa_workgroup_processor_mode"), W::Rsrc1, [29, 1], GFX10, M::Bits, [0, 0]),
    row(("mem_ordered", ".amdhsa_memory_ordered"), W::Rsrc1, [30, 1], GFX10, M::Bits, [0, 0]),
    row(("fwd_progress", ".amdhsa_forward_progress"), W::Rsrc1, [31, 1], GFX10, M::Bits, [0, 0]),
    row(("enable_wg_rr_en", ".amdhsa_round_robin_scheduling"), W::Rsrc1, [21, 1], Has::Elsewhere("gfx12+"), M::Bits, [0, 0]),

    row(("enable_private_segment", ".amdhsa_system_sgpr_private_segment_wavefront_offset"), W::Rsrc2, [0, 1], Has::All, M::Bits, [0, 15]),
    row(("enable_private_segment", ".amdhsa_enable_private_segment"), W::Rsrc2, [0, 1], Has::Elsewhere("processors with architected flat scratch"), M::Bits, [0, 0]),
    row(("user_sgpr_count", ".amdhsa_user_sgpr_count"), W::Rsrc2, [1, 5], Has::All, M::UserSgprCount, [0, 4]),
    row(("enable_trap_handler", ""), W::Rsrc2, [6, 1], Has::All, M::None, [0, 0]),
    row(("enable_sgpr_workgroup_id_x", ".amdhsa_system_sgpr_workgroup_id_x"), W::Rsrc2, [7, 1], Has::All, M::Bits, [1, 16]),
    row(("enable_sgpr_workgroup_id_y", ".amdhsa_system_sgpr_workgroup_id_y"), W::Rsrc2, [8, 1], Has::All, M::Bits, [0, 17]),
    row(("enable_sgpr_workgroup_id_z", ".amdhsa_system_sgpr_workgroup_id_z"), W::Rsrc2, [9, 1], Has::All, M::Bits, [0, 18]),
    row(("enable_sgpr_workgroup_info", ".amdhsa_system_sgpr_workgroup_info"), W::Rsrc2, [10, 1], Has::All, M::Bits, [0, 19]),
    row(("enable_vgpr_workitem_id", ".amdhsa_system_vgpr_workitem_id"), W::Rsrc2, [11, 2], Has::All, M::Bits, [0, 20]),
    row(("enable_exception_address_watch", ""), W::Rsrc2, [13, 1], Has::All, M::None, [0, 0]),
    row(("enable_exception_memory", ""), W::Rsrc2, [14, 1], Has::All, M::None, [0, 0]),
    row(("granulated_lds_size", ""), W::Rsrc2, [15, 9], Has::All, M::None, [0, 0]),
    row(("enable_exception_ieee_754_fp_invalid_operation", ".amdhsa_exception_fp_ieee_invalid_op"), W::Rsrc2, [24, 1], Has::All, M::Bits, [0, 35]),
    row(("enable_exception_fp_denormal_source", ".amdhsa_exception_fp_denorm_src"), W::Rsrc2, [25, 1], Has::All, M::Bits, [0, 36]),
    row(("enable_exception_ieee_754_fp_division_by_zero", ".amdhsa_exception_fp_ieee_div_zero"), W::Rsrc2, [26, 1], Has::All, M::Bits, [0, 37]),
    row(("enable_exception_ieee_754_fp_overflow", ".amdhsa_exception_fp_ieee_overflow"), W::Rsrc2, [27, 1], Has::All, M::Bits, [0, 38]),
    row(("enable_exception_ieee_754_fp_underflow", ".amdhsa_exception_fp_ieee_underflow"), W::Rsrc2, [28, 1], Has::All, M::Bits, [0, 39]),
    row(("enable_exception_ieee_754_fp_inexact", ".amdhsa_exception_fp_ieee_inexact"), W::Rsrc2, [29, 1], Has::All, M::Bits, [0, 40]),
    row(("enable_exception_int_divide_by_zero", ".amdhsa_exception_int_div_zero"), W::Rsrc2, [30, 1], Has::All, M::Bits, [0, 41]),

    row(("enable_sgpr_private_segment_buffer", ".amdhsa_user_sgpr_private_segment_buffer"), W::Properties, [0, 1], Has::All, M::UserSgprs(4), [0, 5]),
    row(("enable_sgpr_dispatch_ptr", ".amdhsa_user_sgpr_dispatch_ptr"), W::Properties, [1, 1], Has::All, M::UserSgprs(2), [0, 6]),
    row(("enable_sgpr_queue_ptr", ".amdhsa_user_sgpr_queue_ptr"), W::Properties, [2, 1], Has::All, M::UserSgprs(2), [0, 7]),
    row(("enable_sgpr_kernarg_segment_ptr", ".amdhsa_user_sgpr_kernarg_segment_ptr"), W::Properties, [3, 1], Has::All, M::UserSgprs(2), [0, 8]),
    row(("enable_sgpr_dispatch_id", ".amdhsa_user_sgpr_dispatch_id"), W::Properties, [4, 1], Has::All, M::UserSgprs(2), [0, 9]),
    row(("enable_sgpr_flat_scratch_init", ".amdhsa_user_sgpr_flat_scratch_init"), W::Properties, [5, 1], Has::All, M::UserSgprs(2), [0, 10]),
    row(("enable_sgpr_private_segment_size", ".amdhsa_user_sgpr_private_segment_size"), W::Properties, [6, 1], Has::All, M::UserSgprs(1), [0, 13]),
    row(("enable_wavefront_size32", ".amdhsa_wavefront_size32"), W::Properties, [10, 1], GFX10, M::Bits, [0, 0]),
    row(("uses_dynamic_stack", ".amdhsa_uses_dynamic_stack"), W::Properties, [11, 1], Has::All, M::Bits, [0, 14]),
    row(("kernarg_preload_length", ".amdhsa_user_sgpr_kernarg_preload_length"), W::KernargPreload, [0, 7], Has::Gfx90a, M::PreloadLength, [0, 11]),
    row(("kernarg_preload_offset", ".amdhsa_user_sgpr_kernarg_preload_offset"), W::KernargPreload, [7, 9], Has::Gfx90a, M::PreloadOffset, [0, 12]),
];

/// The field that a directive (`.amdhsa_…`) sets.
pub fn by_directive(directive: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|f| f.directive == directive && !directive.is_empty())
}

/// The field of a name.
pub fn by_name(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|f| f.name == name)
}

/// The fields of a listing for `level`, in the order an assembler prints their directives.
pub fn listing(level: Level) -> Vec<&'static Field> {
    let mut fields: Vec<_> = FIELDS.iter().filter(|f| f.place != 0 && f.has.on(level)).collect();
    fields.sort_by_key(|f| f.place);
    fields
}

/// A kernel descriptor's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor(pub [u8; SIZE]);

impl Default for Descriptor {
    fn default() -> Self {
        Descriptor([0; SIZE])
    }
}

impl Descriptor {
    /// What an empty `.amdhsa_kernel` block says: the defaults of [`FIELDS`], register counts aside.
    pub fn with_defaults() -> Descriptor {
        let mut d = Descriptor::default();
        for f in FIELDS.iter().filter(|f| f.width > 0 && f.default != 0) {
            d.set(f, u64::from(f.default));
        }
        d
    }

    /// Takes the first 64 bytes of `bytes`.
    pub fn read(bytes: &[u8]) -> Option<Descriptor> {
        bytes.get(..SIZE)?.try_into().ok().map(Descriptor)
    }

    /// A word's value.
    pub fn word(&self, word: Word) -> u64 {
        let mut bytes = [0; 8];
        bytes[..word.size()].copy_from_slice(&self.0[word.offset()..][..word.size()]);
        u64::from_le_bytes(bytes)
    }

    /// Replaces a word.
    pub fn set_word(&mut self, word: Word, value: u64) {
        self.0[word.offset()..][..word.size()].copy_from_slice(&value.to_le_bytes()[..word.size()]);
    }

    /// A field's bits.
    pub fn get(&self, field: &Field) -> u64 {
        (self.word(field.word) & field.mask()) >> field.shift
    }

    /// Replaces a field's bits.
    pub fn set(&mut self, field: &Field, bits: u64) {
        let rest = self.word(field.word) & !field.mask();
        self.set_word(field.word, rest | (bits << field.shift) & field.mask());
    }

    /// The bits of a field named in [`FIELDS`]; 0 for an unknown name.
    pub fn named(&self, name: &str) -> u64 {
        by_name(name).map_or(0, |f| self.get(f))
    }

    /// VGPRs allocated to a wave, AccVGPRs included on gfx90a.
    pub fn allocated_vgprs(&self, level: Level) -> u32 {
        let granule = if level == Level::Gfx90a { 8 } else { 4 };
        (self.named("granulated_workitem_vgpr_count") as u32 + 1) * granule
    }

    /// SGPRs of a wave as the descriptor counts them, VCC and its like included.
    pub fn counted_sgprs(&self) -> u32 {
        (self.named("granulated_wavefront_sgpr_count") as u32 + 1) * 8
    }

    /// User SGPRs that the enabled properties take.
    pub fn implied_user_sgprs(&self) -> u32 {
        let taken = |f: &Field| match f.meaning {
            M::UserSgprs(n) if self.get(f) != 0 => u32::from(n),
            M::PreloadLength => self.get(f) as u32,
            _ => 0,
        };
        FIELDS.iter().map(taken).sum()
    }

    /// The directives that make this descriptor, in the order of its bytes, as a disassembler prints them; and
    /// what no directive can say (reserved bits, fields only firmware fills).
    ///
    /// The registers reserved for VCC and its like cannot be told from the count: they come out as not reserved,
    /// unless the count is beyond what can be named.
    pub fn directives(&self, target: &Target, version: u8) -> (Vec<(&'static str, u64)>, Vec<String>) {
        let level = target.level();
        let generation = level.generation();
        let xnack = target.cpu.xnack.is_some() && target.xnack.unwrap_or(true);
        let sgprs = self.counted_sgprs();
        // GFX6 has no directive for FLAT_SCRATCH, and assemblers always count it there.
        let extra = |reserve| limits::extra_sgprs(generation, reserve, reserve || generation < 7, xnack);
        let reserve = sgprs.saturating_sub(extra(false)) > Limits::of(target.cpu).addressable_sgprs;
        let extra = extra(reserve);
        let implied = self.implied_user_sgprs();
        let mut lines = Vec::new();
        let mut unsaid = Vec::new();
        let mut covered = [0u64; Word::ALL.len()];
        for f in FIELDS.iter().filter(|f| f.has.on(level)) {
            covered[f.word as usize] |= f.mask();
            let bits = self.get(f);
            let value = match f.meaning {
                M::None if f.word == Word::EntryOffset => continue,
                M::None => {
                    if bits != 0 {
                        unsaid.push(format!("{} = {bits}", f.name));
                    }
                    continue;
                }
                M::NextFreeVgpr => u64::from(self.allocated_vgprs(level)),
                M::NextFreeSgpr => u64::from(sgprs.saturating_sub(extra)),
                M::AccumOffset => (bits + 1) * 4,
                M::ReserveVcc | M::ReserveFlatScratch => u64::from(reserve),
                M::ReserveXnackMask => u64::from(xnack),
                M::UserSgprCount if bits == u64::from(implied) => continue,
                M::PreloadLength | M::PreloadOffset if bits == 0 => continue,
                // What LLVM's disassembler takes the version for decides: it does not know 3.
                M::Bits if f.name == "uses_dynamic_stack" && version == 4 && bits == 0 => continue,
                _ => bits,
            };
            lines.push((f.directive, value));
        }
        for word in Word::ALL {
            let rest = self.word(word) & !covered[word as usize];
            if rest != 0 {
                unsaid.push(format!("reserved bits {rest:#x} at byte {}", word.offset()));
            }
        }
        for gap in [12..16, 24..44, 60..64] {
            if let Some(at) = gap.clone().find(|&i| self.0[i] != 0) {
                unsaid.push(format!("reserved byte {at} = {:#x}", self.0[at]));
            }
        }
        (lines, unsaid)
    }
}
