//! Compute shaders without kernel descriptors: objects for no operating system say the hardware's registers in a section of
//! their own, those of AMD's graphics drivers (PAL) in their metadata.

use super::{Error, File, Kernel, KernelForm, Registers, Symbol};
use crate::descriptor::{Descriptor, Word, by_name};
use crate::elf::{NOTE_NAME_V2, NT_AMD_PAL_METADATA, STT_FUNC};
use crate::metadata::Value;
use crate::target_id::Os;
use std::collections::BTreeMap;

/// The section of LLVM's objects for no operating system: pairs of a register's byte address and its value.
const CONFIG: &str = ".AMDGPU.config";
/// Byte addresses there: COMPUTE_PGM_RSRC1, COMPUTE_PGM_RSRC2, COMPUTE_TMPRING_SIZE (`SIDefines.h`).
const RSRC1: u32 = 0xb848;
const RSRC2: u32 = 0xb84c;
const TMPRING: u32 = 0xb860;
/// The numbers of the same registers in PAL's metadata, and of those for COMPUTE_NUM_THREAD_X and COMPUTE_USER_DATA_0.
const PAL_RSRC1: u64 = 0x2e12;
const PAL_RSRC2: u64 = 0x2e13;
const PAL_RSRC3: u64 = 0x2e28;
const PAL_THREADS: u64 = 0x2e07;
const PAL_USER_DATA: u64 = 0x2e40;

/// Where the arguments of kernels for no operating system begin: behind the numbers of work-groups, the sizes of the grid and of
/// the work-group, in three dimensions (LLVM's `getExplicitKernelArgOffset`).
pub const FIRST_ARGUMENT: u32 = 36;
/// Bytes of arguments that such a kernel can be given: nothing says how many it has.
const ARGUMENT_ROOM: u64 = 256;
/// Entries of a PAL pipeline's user data.
const USER_DATA: u64 = 128;

impl<'a> File<'a> {
    /// Compute shaders of objects for no operating system and for PAL.
    pub(super) fn shaders(&self) -> Result<Vec<Kernel<'a>>, Error> {
        match self.os() {
            Os::Unknown => self.configured(),
            Os::Pal => self.pipeline(),
            Os::Hsa | Os::Mesa3d => Ok(Vec::new()),
        }
    }

    /// Functions that may be entry points, in the order of their addresses.
    fn functions(&self) -> Vec<Symbol<'a>> {
        let mut list: Vec<_> =
            self.symbols.iter().filter(|s| s.ty == STT_FUNC && s.section != 0).copied().collect();
        list.sort_by_key(|s| (s.section, s.value));
        list.dedup_by_key(|s| (s.section, s.value));
        list
    }

    /// For no operating system: a list of registers for each kernel, in the order of the code.
    fn configured(&self) -> Result<Vec<Kernel<'a>>, Error> {
        let Some(section) = self.section(CONFIG) else { return Ok(Vec::new()) };
        let mut lists: Vec<BTreeMap<u32, u32>> = Vec::new();
        for pair in section.data.chunks_exact(8) {
            let word = |at: usize| u32::from_le_bytes(pair[at..at + 4].try_into().unwrap_or_default());
            if word(0) == RSRC1 || lists.is_empty() {
                lists.push(BTreeMap::new());
            }
            if let Some(list) = lists.last_mut() {
                list.insert(word(0), word(4));
            }
        }
        // Functions that kernels call have no list; they are not aligned as kernels are.
        let mut functions = self.functions();
        if functions.len() != lists.len() {
            functions.retain(|s| s.value.is_multiple_of(256));
        }
        if functions.len() != lists.len() {
            let message =
                format!("it has registers for {} kernels, but {} functions", lists.len(), functions.len());
            return Err(Error::new(CONFIG, Some(section.offset), message));
        }
        Ok(functions.iter().zip(lists).map(|(symbol, list)| shader(*symbol, from_config(&list))).collect())
    }

    /// For PAL: the compute stage of the first pipeline.
    fn pipeline(&self) -> Result<Vec<Kernel<'a>>, Error> {
        let document = self.metadata()?;
        let pipeline = document.as_ref().and_then(|d| d.get("amdpal.pipelines")?.as_array()?.first());
        let number = |v: &Value<'_>| v.as_u64();
        let mut registers: BTreeMap<u64, u64> = BTreeMap::new();
        if let Some(map) = pipeline.and_then(|p| p.get(".registers")?.as_map()) {
            registers.extend(map.iter().filter_map(|(k, v)| Some((number(k)?, number(v)?))));
        }
        for note in self.notes()?.iter().filter(|n| n.is(NOTE_NAME_V2, NT_AMD_PAL_METADATA)) {
            let word = |b: &[u8]| u64::from(u32::from_le_bytes(b.try_into().unwrap_or_default()));
            registers.extend(note.contents.chunks_exact(8).map(|p| (word(&p[..4]), word(&p[4..]))));
        }
        let stage = pipeline.and_then(|p| p.get(".hardware_stages")?.get(".cs"));
        let named = stage.and_then(|s| s.get(".entry_point")?.as_str()).unwrap_or("_amdgpu_cs_main");
        let Some(symbol) = self.functions().into_iter().find(|s| s.name == named) else {
            return Ok(Vec::new());
        };
        if stage.is_none() && !registers.contains_key(&PAL_RSRC1) {
            return Ok(Vec::new());
        }
        let field = |key: &str| stage.and_then(|s| number(s.get(key)?));
        Ok(vec![shader(symbol, from_pipeline(&registers, &field))])
    }
}

fn shader(symbol: Symbol<'_>, registers: Registers) -> Kernel<'_> {
    let form = KernelForm::Registers(Box::new(registers));
    Kernel { name: symbol.name, symbol, code: Some(symbol), entry: Some(symbol.value), form }
}

fn enable(descriptor: &mut Descriptor, name: &str) {
    if let Some(field) = by_name(name) {
        descriptor.set(field, 1);
    }
}

fn from_config(list: &BTreeMap<u32, u32>) -> Registers {
    let get = |register: u32| u64::from(list.get(&register).copied().unwrap_or(0));
    let mut d = Descriptor::default();
    d.set_word(Word::Rsrc1, get(RSRC1));
    d.set_word(Word::Rsrc2, get(RSRC2));
    d.set_word(Word::KernargSize, u64::from(FIRST_ARGUMENT) + ARGUMENT_ROOM);
    // WAVESIZE, bits 24:12, counts 256 dwords of a wave.
    d.set_word(Word::PrivateSegmentFixedSize, (get(TMPRING) >> 12 & 0x1fff) * 1024 / 64);
    // Which user SGPRs there are is not said. LLVM gives a kernel the arguments' address, or, where it does not know what is
    // needed, the packet's before it and the dispatch's number behind it.
    enable(&mut d, "enable_sgpr_kernarg_segment_ptr");
    let count = d.named("user_sgpr_count");
    if count >= 4 {
        enable(&mut d, "enable_sgpr_dispatch_ptr");
    }
    if count >= 6 {
        enable(&mut d, "enable_sgpr_dispatch_id");
    }
    Registers { descriptor: d, user_data: None, threads: None, first_argument: FIRST_ARGUMENT }
}

fn from_pipeline(registers: &BTreeMap<u64, u64>, stage: &dyn Fn(&str) -> Option<u64>) -> Registers {
    let get = |register: u64| registers.get(&register).copied().unwrap_or(0);
    let mut d = Descriptor::default();
    d.set_word(Word::Rsrc1, get(PAL_RSRC1));
    d.set_word(Word::Rsrc2, get(PAL_RSRC2));
    d.set_word(Word::Rsrc3, get(PAL_RSRC3));
    d.set_word(Word::KernargSize, 4 * USER_DATA);
    d.set_word(Word::PrivateSegmentFixedSize, stage(".scratch_memory_size").unwrap_or(0));
    // LDS_SIZE counts 128 dwords, on GFX6 64: the metadata has bytes.
    let lds = stage(".lds_size").unwrap_or(d.named("granulated_lds_size") * 512);
    d.set_word(Word::GroupSegmentFixedSize, lds);
    let count = d.named("user_sgpr_count").min(16);
    // Small numbers are entries of the user data; large ones tables and the like of the driver.
    let entry = |i: u64| registers.get(&(PAL_USER_DATA + i)).filter(|&&n| n < USER_DATA).map(|&n| n as u8);
    let mapped = (0..count).any(|i| registers.contains_key(&(PAL_USER_DATA + i)));
    let user_data = (0..count).map(|i| if mapped { entry(i) } else { Some(i as u8) }).collect();
    let threads: [u32; 3] = std::array::from_fn(|i| get(PAL_THREADS + i as u64) as u32 & 0xffff);
    Registers {
        descriptor: d,
        user_data: Some(user_data),
        threads: threads.iter().all(|&n| n > 0).then_some(threads),
        first_argument: 0,
    }
}
