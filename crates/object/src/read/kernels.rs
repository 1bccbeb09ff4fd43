//! Kernels: their symbols, descriptors and code.

use super::{Error, File, Kind, Symbol};
use crate::descriptor::{self, Descriptor, Word};
use crate::elf::{R_AMDGPU_REL64, STT_AMDGPU_HSA_KERNEL};
use crate::kernel_code::KernelCode;
use std::collections::HashMap;

/// What stands for a compute shader without a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The same as a kernel descriptor.
    pub descriptor: Descriptor,
    /// PAL: for each user SGPR the dword of the arguments that it holds; none for tables of the driver, which are null.
    pub user_data: Option<Vec<Option<u8>>>,
    /// Work-group, when the registers say it.
    pub threads: Option<[u32; 3]>,
    /// Where arguments begin, behind what the driver puts there.
    pub first_argument: u32,
}

/// What stands for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelForm {
    /// Version 3 and later: a descriptor of its own.
    Descriptor(Descriptor),
    /// Version 1 and 2: a structure in front of the code.
    KernelCode(Box<KernelCode>),
    /// No operating system, or AMD's graphics drivers: the hardware's registers.
    Registers(Box<Registers>),
}

impl KernelForm {
    /// The kernel descriptor, or what stands for one.
    pub fn descriptor(&self) -> Option<&Descriptor> {
        match self {
            KernelForm::Descriptor(d) => Some(d),
            KernelForm::Registers(r) => Some(&r.descriptor),
            KernelForm::KernelCode(_) => None,
        }
    }
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    /// Name of the function.
    pub name: &'a str,
    /// The symbol that a loader looks up: `name.kd`, or the name itself in version 1 and 2.
    pub symbol: Symbol<'a>,
    /// The function's symbol, when there is one.
    pub code: Option<Symbol<'a>>,
    /// Address of the first instruction (offset in its section in relocatable files), when it is known.
    pub entry: Option<u64>,
    /// What stands for it.
    pub form: KernelForm,
}

impl<'a> File<'a> {
    /// The kernels, in the order of their symbols.
    pub fn kernels(&self) -> Result<Vec<Kernel<'a>>, Error> {
        let by_name: HashMap<&str, &Symbol<'a>> = self
            .symbols
            .iter()
            .filter(|s| s.section != 0 && !s.name.is_empty())
            .map(|s| (s.name, s))
            .collect();
        let mut entries = HashMap::new();
        if self.kind == Kind::Relocatable {
            self.relocated_entries(&mut entries)?;
        }
        let mut kernels = Vec::new();
        for symbol in self.symbols.iter().filter(|s| s.section != 0) {
            if symbol.ty == STT_AMDGPU_HSA_KERNEL {
                let code = self.bytes_from(symbol).and_then(KernelCode::read);
                let code = code.ok_or_else(|| self.outside(symbol, crate::kernel_code::SIZE))?;
                let entry = symbol.value.wrapping_add(code.named("kernel_code_entry_byte_offset"));
                kernels.push(Kernel {
                    name: symbol.name,
                    symbol: *symbol,
                    code: Some(*symbol),
                    entry: Some(entry),
                    form: KernelForm::KernelCode(Box::new(code)),
                });
                continue;
            }
            let name = symbol.name.strip_suffix(".kd").or_else(|| symbol.name.strip_suffix("@kd"));
            let Some(name) = name.filter(|_| symbol.ty <= 1 && matches!(symbol.size, 0 | 64)) else {
                continue;
            };
            let descriptor = self.bytes_from(symbol).and_then(Descriptor::read);
            let descriptor = descriptor.ok_or_else(|| self.outside(symbol, descriptor::SIZE))?;
            let code = by_name.get(name).map(|s| **s);
            let entry = match self.kind {
                Kind::Relocatable => {
                    let at = symbol.value.wrapping_add(Word::EntryOffset.offset() as u64);
                    entries.get(&(symbol.section, at)).copied().or(code.map(|c| c.value))
                }
                _ => Some(symbol.value.wrapping_add(descriptor.word(Word::EntryOffset))),
            };
            kernels.push(Kernel {
                name,
                symbol: *symbol,
                code,
                entry,
                form: KernelForm::Descriptor(descriptor),
            });
        }
        if kernels.is_empty() {
            return self.shaders();
        }
        Ok(kernels)
    }

    fn outside(&self, symbol: &Symbol<'_>, size: usize) -> Error {
        let section = self.sections.get(symbol.section as usize);
        let part = section.map_or("symbol table".into(), |s| format!("section {}", s.name));
        let message =
            format!("the {size} bytes of symbol {} at {:#x} are not all in it", symbol.name, symbol.value);
        Error::new(part, section.map(|s| s.offset), message)
    }

    /// Where the relocations of descriptors point, by section and byte of the relocated place.
    fn relocated_entries(&self, entries: &mut HashMap<(u32, u64), u64>) -> Result<(), Error> {
        for (number, section) in self.sections.iter().enumerate() {
            if !section.name.starts_with(".rodata") {
                continue;
            }
            let number = number as u32;
            for r in self.relocations(number)?.iter().filter(|r| r.ty == R_AMDGPU_REL64) {
                let symbol = self.symbols.get(r.symbol as usize);
                let word = Word::EntryOffset.offset() as i64;
                let target = symbol.map(|s| s.value.wrapping_add_signed(r.addend.wrapping_sub(word)));
                if let Some(target) = target {
                    entries.insert((number, r.offset), target);
                }
            }
        }
        Ok(())
    }
}
