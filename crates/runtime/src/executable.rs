//! Executables: code objects that were loaded together, the variables they need from the program, and their symbols.

use crate::platform::Gpu;
use std::collections::HashMap;
use std::sync::Arc;
use wavemill_device::Device;
use wavemill_device::kernel::Kernel;
use wavemill_device::loader::{LoadError, Loaded};

/// What a symbol is.
#[derive(Clone, Debug)]
pub enum SymbolKind {
    /// A kernel.
    Kernel(Arc<Kernel>),
    /// A variable: its size, and whether waves may only read it.
    Variable {
        /// Bytes.
        size: u64,
        /// Waves may only read it.
        constant: bool,
    },
}

/// A symbol of an executable.
#[derive(Clone, Debug)]
pub struct ExecutableSymbol {
    /// Name; kernels of version 3 and later end in `.kd`.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Address of the variable or of the kernel descriptor.
    pub address: u64,
    /// Number of the GPU; `None` for variables of the whole program.
    pub gpu: Option<usize>,
}

/// A code object of an executable.
pub struct Part {
    /// The GPU it was loaded to.
    pub gpu: Arc<Gpu>,
    /// The code object.
    pub object: Arc<Loaded>,
    /// Where the program had the file: address and size.
    pub source: (u64, u64),
}

/// Code objects that were loaded together.
#[derive(Default)]
pub struct Executable {
    /// No more can be loaded or defined.
    frozen: bool,
    /// The code objects.
    pub parts: Vec<Part>,
    /// The symbols.
    pub symbols: Vec<Arc<ExecutableSymbol>>,
    /// Numbers of symbols by name, without `.kd`.
    names: HashMap<String, Vec<usize>>,
    /// Variables of the program, for all GPUs (`None`) or one.
    defined: HashMap<(Option<usize>, String), u64>,
}

/// A kernel's name without the ending that marks its descriptor.
fn bare(name: &str) -> &str {
    name.strip_suffix(".kd").unwrap_or(name)
}

impl Executable {
    fn add(&mut self, symbol: ExecutableSymbol) {
        self.names.entry(bare(&symbol.name).to_owned()).or_default().push(self.symbols.len());
        self.symbols.push(Arc::new(symbol));
    }

    /// Lets code objects that are loaded from now on use a variable of the program; false when there is one already.
    pub fn define(&mut self, gpu: Option<usize>, name: &str, address: u64) -> bool {
        if self.find(name, gpu).is_some() || self.defined.contains_key(&(gpu, name.to_owned())) {
            return false;
        }
        self.defined.insert((gpu, name.to_owned()), address);
        self.add(ExecutableSymbol {
            name: name.to_owned(),
            kind: SymbolKind::Variable { size: 0, constant: false },
            address,
            gpu,
        });
        true
    }

    /// One that is frozen already, and empty.
    pub fn frozen() -> Executable {
        let mut executable = Executable::default();
        executable.frozen = true;
        executable
    }

    /// Whether no more can be loaded or defined.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Ends loading: symbols that code objects left to others get the addresses of those that were loaded after them. When
    /// nobody has defined one, it stays as it was, and the error names it.
    pub fn freeze(&mut self) -> Result<(), LoadError> {
        for part in &self.parts {
            part.object.resolve(&self.externs(part.gpu.index))?;
        }
        self.frozen = true;
        Ok(())
    }

    /// What code objects on a GPU may use of the program and of one another; whoever came first defines a symbol.
    fn externs(&self, gpu: usize) -> HashMap<String, u64> {
        let defined = self.defined.iter().filter(|((of, _), _)| of.is_none_or(|g| g == gpu));
        let mut externs: HashMap<String, u64> = defined.map(|((_, name), &a)| (name.clone(), a)).collect();
        for part in self.parts.iter().filter(|p| p.gpu.index == gpu) {
            let global = part.object.symbols.iter().filter(|s| s.global);
            global.for_each(|s| _ = externs.entry(s.name.clone()).or_insert(s.address));
        }
        externs
    }

    /// Loads a code object. What it leaves to others may be loaded later, before [`Executable::freeze`].
    pub fn load(
        &mut self,
        gpu: &Arc<Gpu>,
        name: &str,
        data: &[u8],
        source: (u64, u64),
    ) -> Result<(), LoadError> {
        let object = gpu.device.load_with(name, data.to_vec(), &self.externs(gpu.index))?;
        for kernel in &object.kernels {
            let suffix = if object.version >= 3 { ".kd" } else { "" };
            self.add(ExecutableSymbol {
                name: format!("{}{suffix}", kernel.name),
                kind: SymbolKind::Kernel(kernel.clone()),
                address: kernel.object,
                gpu: Some(gpu.index),
            });
        }
        for symbol in object.symbols.iter().filter(|s| !s.function && s.global) {
            let place = gpu.device.memory().find(symbol.address);
            self.add(ExecutableSymbol {
                name: symbol.name.clone(),
                kind: SymbolKind::Variable {
                    size: symbol.size,
                    constant: place.is_some_and(|a| !a.writable),
                },
                address: symbol.address,
                gpu: Some(gpu.index),
            });
        }
        self.parts.push(Part { gpu: gpu.clone(), object, source });
        Ok(())
    }

    /// The symbol of a name: of a GPU, or of the whole program. Kernels are found with and without `.kd`.
    pub fn find(&self, name: &str, gpu: Option<usize>) -> Option<&Arc<ExecutableSymbol>> {
        let named = self.names.get(bare(name))?.iter().map(|&i| &self.symbols[i]);
        let of: Vec<_> = named.filter(|s| s.gpu.is_none() || s.gpu == gpu).collect();
        let exact = of.iter().find(|s| s.name == name);
        exact.or_else(|| of.iter().find(|s| matches!(s.kind, SymbolKind::Kernel(_)))).copied()
    }

    /// The part that an address lies in.
    pub fn part_at(&self, address: u64) -> Option<&Part> {
        self.parts.iter().find(|p| p.object.contains(address))
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        for part in &self.parts {
            let device: &Device = &part.gpu.device;
            device.unload(&part.object);
        }
    }
}
