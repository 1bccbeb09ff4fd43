//! The numbers of the AMDGPU ELF format (AMDGPU guide, "Code Object").

/// `e_machine` of AMD GPU code objects.
pub const EM_AMDGPU: u16 = 224;

/// `EI_OSABI` of a code object for no particular runtime.
pub const ELFOSABI_NONE: u8 = 0;
/// `EI_OSABI` of the HSA runtime.
pub const ELFOSABI_AMDGPU_HSA: u8 = 64;
/// `EI_OSABI` of the PAL runtime.
pub const ELFOSABI_AMDGPU_PAL: u8 = 65;
/// `EI_OSABI` of Mesa3D.
pub const ELFOSABI_AMDGPU_MESA3D: u8 = 66;

/// Mask of the processor in `e_flags`.
pub const EF_AMDGPU_MACH: u32 = 0xff;
/// Code object v3: code may be replayed after a translation fault.
pub const EF_AMDGPU_FEATURE_XNACK_V3: u32 = 0x100;
/// Code object v3: SRAM ECC is on.
pub const EF_AMDGPU_FEATURE_SRAMECC_V3: u32 = 0x200;
/// Code object v4 and later: mask of the two XNACK bits.
pub const EF_AMDGPU_FEATURE_XNACK_V4: u32 = 0x300;
/// Code object v4 and later: mask of the two SRAM ECC bits.
pub const EF_AMDGPU_FEATURE_SRAMECC_V4: u32 = 0xc00;
/// Code object v6: mask of the generic processor's version.
pub const EF_AMDGPU_GENERIC_VERSION: u32 = 0xff00_0000;
/// How far [`EF_AMDGPU_GENERIC_VERSION`] is shifted.
pub const GENERIC_VERSION_SHIFT: u32 = 24;
/// The version of `gfx9-generic` that tools write today, and the last one that GPUs here understand.
pub const GENERIC_VERSION: u32 = 1;

/// No section: the first of every file.
pub const SHT_NULL: u32 = 0;
/// Contents that mean what the section's name says.
pub const SHT_PROGBITS: u32 = 1;
/// The symbol table.
pub const SHT_SYMTAB: u32 = 2;
/// A string table.
pub const SHT_STRTAB: u32 = 3;
/// Relocations with addends.
pub const SHT_RELA: u32 = 4;
/// The older hash table of dynamic symbols.
pub const SHT_HASH: u32 = 5;
/// What a loader needs to know.
pub const SHT_DYNAMIC: u32 = 6;
/// Notes.
pub const SHT_NOTE: u32 = 7;
/// Room in memory, nothing in the file.
pub const SHT_NOBITS: u32 = 8;
/// Relocations without addends.
pub const SHT_REL: u32 = 9;
/// The dynamic symbols.
pub const SHT_DYNSYM: u32 = 11;
/// Sections that are kept or dropped together.
pub const SHT_GROUP: u32 = 17;
/// The newer hash table of dynamic symbols.
pub const SHT_GNU_HASH: u32 = 0x6fff_fff6;
/// Symbols whose addresses matter, for linkers that fold code.
pub const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;

/// The section is written to when the code runs.
pub const SHF_WRITE: u64 = 1;
/// It is loaded.
pub const SHF_ALLOC: u64 = 2;
/// It is code.
pub const SHF_EXECINSTR: u64 = 4;
/// Equal elements may be merged.
pub const SHF_MERGE: u64 = 0x10;
/// Its elements are strings.
pub const SHF_STRINGS: u64 = 0x20;
/// `sh_info` is a section's number.
pub const SHF_INFO_LINK: u64 = 0x40;
/// Its order is that of the section it is linked to.
pub const SHF_LINK_ORDER: u64 = 0x80;
/// It belongs to a group.
pub const SHF_GROUP: u64 = 0x200;
/// It starts with a header that says how its contents are compressed.
pub const SHF_COMPRESSED: u64 = 0x800;
/// A linker leaves it out.
pub const SHF_EXCLUDE: u64 = 0x8000_0000;

/// A segment that is loaded.
pub const PT_LOAD: u32 = 1;
/// The segment is code.
pub const PF_X: u32 = 1;
/// It is written to when the code runs.
pub const PF_W: u32 = 2;

/// Section number of an undefined symbol.
pub const SHN_UNDEF: u16 = 0;
/// Section number of a symbol that is a number.
pub const SHN_ABS: u16 = 0xfff1;
/// Section number of a symbol that is common storage.
pub const SHN_COMMON: u16 = 0xfff2;

/// Section index of a symbol in LDS, placed by the linker.
pub const SHN_AMDGPU_LDS: u16 = 0xff00;
/// Binding of a symbol that other files do not see.
pub const STB_LOCAL: u8 = 0;
/// A symbol that other files see.
pub const STB_GLOBAL: u8 = 1;
/// Binding of a symbol that gives way to others of its name.
pub const STB_WEAK: u8 = 2;
/// Symbol type of data.
pub const STT_OBJECT: u8 = 1;
/// Symbol type of a function.
pub const STT_FUNC: u8 = 2;
/// Symbol type of a source file's name.
pub const STT_FILE: u8 = 4;
/// Symbol type of a section.
pub const STT_SECTION: u8 = 3;
/// Symbol type of a kernel in code object v1 and v2.
pub const STT_AMDGPU_HSA_KERNEL: u8 = 10;

/// Code object v2: version of the code object (major, minor).
pub const NT_AMD_HSA_CODE_OBJECT_VERSION: u32 = 1;
/// Code object v2: HSAIL properties.
pub const NT_AMD_HSA_HSAIL: u32 = 2;
/// Code object v2: ISA version with vendor and architecture names.
pub const NT_AMD_HSA_ISA_VERSION: u32 = 3;
/// Code object v2: producer.
pub const NT_AMD_HSA_PRODUCER: u32 = 4;
/// Code object v2: options given to the producer.
pub const NT_AMD_HSA_PRODUCER_OPTIONS: u32 = 5;
/// Code object v2: extension.
pub const NT_AMD_HSA_EXTENSION: u32 = 6;
/// Code object v2: metadata, a YAML string.
pub const NT_AMD_HSA_METADATA: u32 = 10;
/// Code object v2: ISA name.
pub const NT_AMD_HSA_ISA_NAME: u32 = 11;
/// PAL: pairs of register and value.
pub const NT_AMD_PAL_METADATA: u32 = 12;
/// Code object v3 and later, and PAL: metadata in MessagePack.
pub const NT_AMDGPU_METADATA: u32 = 32;

/// Note owner of code object v2 and old PAL.
pub const NOTE_NAME_V2: &str = "AMD";
/// Note owner of code object v3 and later.
pub const NOTE_NAME_V3: &str = "AMDGPU";

/// A relocation type: its number, name and the size in bytes of the field it fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocType {
    /// `R_AMDGPU_*` value.
    pub number: u32,
    /// `R_AMDGPU_*` name.
    pub name: &'static str,
    /// Bytes written at the relocated place.
    pub size: u8,
}

/// No relocation.
pub const R_AMDGPU_NONE: u32 = 0;
/// Low half of S + A.
pub const R_AMDGPU_ABS32_LO: u32 = 1;
/// High half of S + A.
pub const R_AMDGPU_ABS32_HI: u32 = 2;
/// S + A, 64 bits.
pub const R_AMDGPU_ABS64: u32 = 3;
/// S + A - P, 32 bits.
pub const R_AMDGPU_REL32: u32 = 4;
/// S + A - P, 64 bits.
pub const R_AMDGPU_REL64: u32 = 5;
/// S + A, 32 bits.
pub const R_AMDGPU_ABS32: u32 = 6;
/// G + GOT + A - P, 32 bits.
pub const R_AMDGPU_GOTPCREL: u32 = 7;
/// Low half of G + GOT + A - P.
pub const R_AMDGPU_GOTPCREL32_LO: u32 = 8;
/// High half of G + GOT + A - P.
pub const R_AMDGPU_GOTPCREL32_HI: u32 = 9;
/// Low half of S + A - P.
pub const R_AMDGPU_REL32_LO: u32 = 10;
/// High half of S + A - P.
pub const R_AMDGPU_REL32_HI: u32 = 11;
/// B + A, only in shared code objects.
pub const R_AMDGPU_RELATIVE64: u32 = 13;
/// ((S + A - P) - 4) / 4, the 16-bit branch offset of a SOPP instruction.
pub const R_AMDGPU_REL16: u32 = 14;

/// Every relocation type.
pub const RELOC_TYPES: &[RelocType] = &[
    RelocType { number: R_AMDGPU_NONE, name: "R_AMDGPU_NONE", size: 0 },
    RelocType { number: R_AMDGPU_ABS32_LO, name: "R_AMDGPU_ABS32_LO", size: 4 },
    RelocType { number: R_AMDGPU_ABS32_HI, name: "R_AMDGPU_ABS32_HI", size: 4 },
    RelocType { number: R_AMDGPU_ABS64, name: "R_AMDGPU_ABS64", size: 8 },
    RelocType { number: R_AMDGPU_REL32, name: "R_AMDGPU_REL32", size: 4 },
    RelocType { number: R_AMDGPU_REL64, name: "R_AMDGPU_REL64", size: 8 },
    RelocType { number: R_AMDGPU_ABS32, name: "R_AMDGPU_ABS32", size: 4 },
    RelocType { number: R_AMDGPU_GOTPCREL, name: "R_AMDGPU_GOTPCREL", size: 4 },
    RelocType { number: R_AMDGPU_GOTPCREL32_LO, name: "R_AMDGPU_GOTPCREL32_LO", size: 4 },
    RelocType { number: R_AMDGPU_GOTPCREL32_HI, name: "R_AMDGPU_GOTPCREL32_HI", size: 4 },
    RelocType { number: R_AMDGPU_REL32_LO, name: "R_AMDGPU_REL32_LO", size: 4 },
    RelocType { number: R_AMDGPU_REL32_HI, name: "R_AMDGPU_REL32_HI", size: 4 },
    RelocType { number: R_AMDGPU_RELATIVE64, name: "R_AMDGPU_RELATIVE64", size: 8 },
    RelocType { number: R_AMDGPU_REL16, name: "R_AMDGPU_REL16", size: 2 },
];

/// Looks a relocation type up by number.
pub fn reloc_type(number: u32) -> Option<&'static RelocType> {
    RELOC_TYPES.iter().find(|r| r.number == number)
}

/// Segment of code object v1: data that the whole program shares.
pub const PT_HSA_GLOBAL_PROGRAM: u32 = 0x6000_0000;
/// Segment of code object v1: code.
pub const PT_HSA_CODE_AGENT: u32 = 0x6000_0003;

/// Symbol type of metadata in code object v1: a sampler's or image's descriptor.
pub const STT_HSA_METADATA: u8 = 12;

/// Code object v1: low half of S + A.
pub const R_V1_32_LOW: u32 = 1;
/// Code object v1: high half of S + A.
pub const R_V1_32_HIGH: u32 = 2;
/// Code object v1: S + A, 64 bits.
pub const R_V1_64: u32 = 3;
/// Code object v1: handle of the sampler that the symbol describes.
pub const R_V1_INIT_SAMPLER: u32 = 4;
/// Code object v1: handle of the image that the symbol describes.
pub const R_V1_INIT_IMAGE: u32 = 5;

/// The name of a relocation type of code object v1, which numbers them on its own.
pub fn reloc_type_v1(number: u32) -> Option<&'static str> {
    Some(match number {
        R_V1_32_LOW => "R_AMDGPU_V1_32_LOW",
        R_V1_32_HIGH => "R_AMDGPU_V1_32_HIGH",
        R_V1_64 => "R_AMDGPU_V1_64",
        R_V1_INIT_SAMPLER => "R_AMDGPU_V1_INIT_SAMPLER",
        R_V1_INIT_IMAGE => "R_AMDGPU_V1_INIT_IMAGE",
        _ => return None,
    })
}

/// `EF_AMDGPU_MACH` values of processors Wavemill can name but has no instruction table for.
pub const FOREIGN_MACHINES: &[(u8, &str)] = &[
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5a, "gfx1251"),
    (0x5f, "gfx9-4-generic"),
];

/// The processor name for an `EF_AMDGPU_MACH` value.
pub fn machine_name(mach: u8) -> Option<&'static str> {
    let ours = wavemill_isa::target::PROCESSORS.iter().find(|p| p.mach == mach).map(|p| p.name);
    ours.or_else(|| FOREIGN_MACHINES.iter().find(|m| m.0 == mach).map(|m| m.1))
}
