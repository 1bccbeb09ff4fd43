//! AMD's library: where it is, its functions, and what is asked of it.

use crate::action::{Action, Contents, Datum, Info, Library, Options, Product, Status};
use crate::kept::{self, Kept};
use crate::metadata::{Entry, Node};
use crate::session::Session;
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use wavemill_compile::comgr::{self, NAME};

/// Kinds of data that any version has.
const KINDS: std::ops::RangeInclusive<u32> = 1..=0x1f;
/// Metadata deeper than this is not that of a code object.
const MAX_DEPTH: usize = 64;

/// Where AMD's library is: beside the HIP that has loaded this one, which may have brought its own, else where programs find it.
fn path() -> Option<&'static Path> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let hip = mapped(|name| name.starts_with("libamdhip64.so") || name.starts_with("libhiprtc.so"));
        let beside: Vec<PathBuf> = hip.iter().filter_map(|p| p.parent().map(Path::to_owned)).collect();
        comgr::find(&beside).ok().flatten()
    };
    PATH.get_or_init(find).as_deref()
}

/// The files that are part of this process and have such names.
fn mapped(wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    for line in maps.split(|b| *b == b'\n') {
        let Some(at) = line.iter().position(|b| *b == b'/') else { continue };
        let path = Path::new(OsStr::from_bytes(&line[at..]));
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if wanted(name) && !found.iter().any(|f| f == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// What was asked before, by whoever had the same library and environment.
pub fn session() -> Session {
    let Some(path) = path() else { return Session::new(None, Vec::new()) };
    let mut surroundings = kept::Writer::default();
    surroundings.bytes(path.as_os_str().as_bytes());
    surroundings.bytes(kept::facts(path).unwrap_or_default().as_bytes());
    // What the compiler in it looks at.
    for name in [
        "CCC_OVERRIDE_OPTIONS",
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "HIP_DEVICE_LIB_PATH",
        "HIP_PATH",
        "LLVM_PATH",
        "ROCM_PATH",
    ] {
        surroundings.bytes(std::env::var_os(name).unwrap_or_default().as_bytes());
    }
    // Where the libraries would come from that it needs. The places that `exec` adds have none of them.
    let ours: Vec<PathBuf> =
        mapped(|name| name == NAME).iter().filter_map(|p| p.parent().map(Path::to_owned)).collect();
    for place in std::env::split_paths(&std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default()) {
        if !ours.iter().any(|o| *o == place || o.parent() == Some(&place)) {
            surroundings.bytes(place.as_os_str().as_bytes());
        }
    }
    // It writes logs and temporary files for whoever sets these, and keeps things itself.
    let special =
        std::env::vars_os().any(|(name, _)| name.as_bytes().starts_with(b"AMD_COMGR_")) || comgr::is_off();
    Session::new(if special { None } else { Kept::find() }, surroundings.0)
}

macro_rules! functions {
    ($($name:ident($($arg:ty),*) -> $ret:ty;)*) => {
        /// The functions, as far as the library has them.
        #[allow(missing_docs)]
        pub struct Functions {
            $(pub $name: Option<unsafe extern "C" fn($($arg),*) -> $ret>,)*
        }

        impl Functions {
            fn of(library: *mut c_void) -> Functions {
                Functions {
                    $($name: {
                        let name = concat!("amd_comgr_", stringify!($name), "\0");
                        // SAFETY: the library is open, and the name ends with a zero.
                        let symbol = unsafe { libc::dlsym(library, name.as_ptr().cast()) };
                        // SAFETY: a function of this name has had this type since there are any of it, and no
                        // function is a null pointer.
                        unsafe { std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($arg),*) -> $ret>>(symbol) }
                    },)*
                }
            }
        }
    };
}

/// A function of the program's that gets keys and values of a map.
pub type MapCallback = extern "C" fn(u64, u64, *mut c_void) -> u32;
/// One that gets symbols.
pub type SymbolCallback = extern "C" fn(u64, *mut c_void) -> u32;

functions! {
    status_string(u32, *mut *const c_char) -> Status;
    get_version(*mut usize, *mut usize) -> ();
    get_isa_count(*mut usize) -> Status;
    get_isa_name(usize, *mut *const c_char) -> Status;
    get_isa_metadata(*const c_char, *mut u64) -> Status;
    create_data(u32, *mut u64) -> Status;
    release_data(u64) -> Status;
    set_data(u64, usize, *const c_char) -> Status;
    set_data_name(u64, *const c_char) -> Status;
    get_data_kind(u64, *mut u32) -> Status;
    get_data(u64, *mut usize, *mut c_char) -> Status;
    get_data_name(u64, *mut usize, *mut c_char) -> Status;
    get_data_isa_name(u64, *mut usize, *mut c_char) -> Status;
    get_data_metadata(u64, *mut u64) -> Status;
    destroy_metadata(u64) -> Status;
    create_data_set(*mut u64) -> Status;
    destroy_data_set(u64) -> Status;
    data_set_add(u64, u64) -> Status;
    action_data_count(u64, u32, *mut usize) -> Status;
    action_data_get_data(u64, u32, usize, *mut u64) -> Status;
    create_action_info(*mut u64) -> Status;
    destroy_action_info(u64) -> Status;
    action_info_set_isa_name(u64, *const c_char) -> Status;
    action_info_set_language(u64, u32) -> Status;
    action_info_set_options(u64, *const c_char) -> Status;
    action_info_set_option_list(u64, *const *const c_char, usize) -> Status;
    action_info_set_working_directory_path(u64, *const c_char) -> Status;
    action_info_set_logging(u64, bool) -> Status;
    action_info_set_bundle_entry_ids(u64, *const *const c_char, usize) -> Status;
    action_info_set_device_lib_linking(u64, bool) -> Status;
    do_action(u32, u64, u64, u64) -> Status;
    get_metadata_kind(u64, *mut u32) -> Status;
    get_metadata_string(u64, *mut usize, *mut c_char) -> Status;
    iterate_map_metadata(u64, MapCallback, *mut c_void) -> Status;
    get_metadata_list_size(u64, *mut usize) -> Status;
    index_list_metadata(u64, usize, *mut u64) -> Status;
    iterate_symbols(u64, Option<SymbolCallback>, *mut c_void) -> Status;
    symbol_lookup(u64, *const c_char, *mut u64) -> Status;
    symbol_get_info(u64, u32, *mut c_void) -> Status;
    create_disassembly_info(*const c_char, *const c_void, *const c_void, *const c_void, *mut u64) -> Status;
    destroy_disassembly_info(u64) -> Status;
    disassemble_instruction(u64, u64, *mut c_void, *mut u64) -> Status;
    demangle_symbol_name(u64, *mut u64) -> Status;
    lookup_code_object(u64, *mut c_void, usize) -> Status;
    create_symbolizer_info(u64, *const c_void, *mut u64) -> Status;
    destroy_symbolizer_info(u64) -> Status;
    symbolize(u64, u64, bool, *mut c_void) -> Status;
    populate_mangled_names(u64, *mut usize) -> Status;
    get_mangled_name(u64, usize, *mut usize, *mut c_char) -> Status;
    populate_name_expression_map(u64, *mut usize) -> Status;
    map_name_expression_to_symbol_name(u64, *mut usize, *mut c_char, *mut c_char) -> Status;
    map_elf_virtual_address_to_code_object_offset(u64, u64, *mut u64, *mut u64, *mut bool) -> Status;
}

/// AMD's library, once somebody needs it.
pub struct Real {
    functions: Functions,
}

/// The library, loaded if need be; none where it cannot be.
pub fn get() -> Result<&'static Real, Status> {
    static REAL: OnceLock<Option<Real>> = OnceLock::new();
    REAL.get_or_init(|| Real::open(path()?)).as_ref().ok_or(Status::ERROR)
}

/// Calls a function of the library and makes an error of what is not success. What it is given must be what the
/// function takes.
macro_rules! call {
    ($functions:expr, $name:ident($($arg:expr),*)) => {
        match $functions.$name {
            // SAFETY: handles are the library's own and live; pointers are to values of the right types, which live
            // during the call, or the program's own.
            Some(function) => match unsafe { function($($arg),*) } {
                Status::SUCCESS => Ok(()),
                status => Err(status),
            },
            None => Err(Status::ERROR),
        }
    };
}
pub(crate) use call;

impl Real {
    fn open(path: &Path) -> Option<Real> {
        let name = CString::new(path.as_os_str().as_bytes()).ok()?;
        // SAFETY: the name ends with a zero.
        let global = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"amd_comgr_do_action".as_ptr()) };
        // Where the program is linked with this library, AMD's would find its functions here before its own.
        let own = if global.is_null() { 0 } else { libc::RTLD_DEEPBIND };
        // SAFETY: the name ends with a zero; what it does when it is loaded, it would have done without us.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL | own) };
        if library.is_null() {
            return None;
        }
        // SAFETY: the library is open, the name ends with a zero.
        let ours = unsafe { libc::dlsym(library, c"wavemill_comgr".as_ptr()) };
        // It has been told to stand before itself.
        ours.is_null().then(|| Real { functions: Functions::of(library) })
    }

    /// Its functions.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// A data object of the library's own.
    pub fn data(&self, datum: &Datum) -> Result<u64, Status> {
        let f = &self.functions;
        let bytes: &[u8] = match &datum.contents {
            Some(contents) => contents.bytes(&Lazy)?,
            None => &[],
        };
        let mut handle = 0;
        call!(f, create_data(datum.kind, &mut handle))?;
        let name = datum.name.as_ref();
        let filled = name.map_or(Ok(()), |n| call!(f, set_data_name(handle, n.as_ptr()))).and_then(|()| {
            if bytes.is_empty() {
                Ok(())
            } else {
                call!(f, set_data(handle, bytes.len(), bytes.as_ptr().cast()))
            }
        });
        if filled.is_err() {
            self.release(handle);
        }
        filled.map(|()| handle)
    }

    /// Gives a data object back.
    pub fn release(&self, handle: u64) {
        // There is nothing to be done about it.
        let _ = call!(self.functions, release_data(handle));
    }

    /// What is in a data object of the library's own.
    /// What is not `named` must not be asked for its name.
    pub fn contents(&self, handle: u64, named: bool) -> Result<Datum, Status> {
        let f = &self.functions;
        let mut kind = 0;
        call!(f, get_data_kind(handle, &mut kind))?;
        let name = match named {
            true => text(|size, to| call!(f, get_data_name(handle, size, to)))?
                .split(|b| *b == 0)
                .next()
                .map(CString::new),
            false => None,
        };
        let name = name.transpose().map_err(|_| Status::ERROR)?;
        let bytes = text(|size, to| call!(f, get_data(handle, size, to))).ok();
        Ok(Datum { kind, name, contents: bytes.map(Contents::new) })
    }

    fn info(&self, info: &Info) -> Result<u64, Status> {
        let f = &self.functions;
        let mut handle = 0;
        call!(f, create_action_info(&mut handle))?;
        let filled = self.fill_info(handle, info);
        if filled.is_err() {
            let _ = call!(f, destroy_action_info(handle));
        }
        filled.map(|()| handle)
    }

    fn fill_info(&self, handle: u64, info: &Info) -> Result<(), Status> {
        let f = &self.functions;
        let pointers = |list: &[CString]| list.iter().map(|o| o.as_ptr()).collect::<Vec<_>>();
        if let Some(isa) = &info.isa {
            call!(f, action_info_set_isa_name(handle, isa.as_ptr()))?;
        }
        call!(f, action_info_set_language(handle, info.language))?;
        match &info.options {
            Options::Flat(text) if text.is_empty() => {}
            Options::Flat(text) => call!(f, action_info_set_options(handle, text.as_ptr()))?,
            Options::List(list) => {
                let list = pointers(list);
                call!(f, action_info_set_option_list(handle, list.as_ptr(), list.len()))?;
            }
        }
        if let Some(path) = &info.path {
            call!(f, action_info_set_working_directory_path(handle, path.as_ptr()))?;
        }
        call!(f, action_info_set_logging(handle, info.logging))?;
        if let Some(list) = &info.bundle {
            let list = pointers(list);
            call!(f, action_info_set_bundle_entry_ids(handle, list.as_ptr(), list.len()))?;
        }
        info.device_libraries.map_or(Ok(()), |on| call!(f, action_info_set_device_lib_linking(handle, on)))
    }

    fn perform(&self, action: &Action, already: &[Datum], owned: &mut Owned<'_>) -> Result<Outcome, Status> {
        let f = &self.functions;
        let info = self.info(&action.info)?;
        owned.infos.push(info);
        let mut sets = [0; 2];
        for (set, data) in sets.iter_mut().zip([&action.inputs, already]) {
            call!(f, create_data_set(set))?;
            owned.sets.push(*set);
            for datum in data {
                let data = self.data(datum)?;
                owned.data.push(data);
                call!(f, data_set_add(*set, data))?;
            }
        }
        let status =
            call!(f, do_action(action.kind, info, sets[0], sets[1])).err().unwrap_or(Status::SUCCESS);
        let mut products = Vec::new();
        for kind in KINDS {
            let mut count = 0;
            // It does not have this kind.
            if call!(f, action_data_count(sets[1], kind, &mut count)).is_err() {
                continue;
            }
            for index in 0..count {
                let mut data = 0;
                call!(f, action_data_get_data(sets[1], kind, index, &mut data))?;
                owned.results.push(data);
                products.push(match owned.data.iter().position(|d| *d == data) {
                    Some(number) => Product::Input(number),
                    None => Product::New(self.contents(data, true)?),
                });
            }
        }
        Ok((status, products))
    }

    /// A document of the library's, whose handle is ended.
    pub fn document(&self, handle: u64) -> Result<Node, Status> {
        let node = self.node(handle, 0);
        let _ = call!(self.functions, destroy_metadata(handle));
        node
    }

    fn node(&self, handle: u64, depth: usize) -> Result<Node, Status> {
        let f = &self.functions;
        if depth > MAX_DEPTH {
            return Err(Status::ERROR);
        }
        let mut kind = 0;
        call!(f, get_metadata_kind(handle, &mut kind))?;
        match kind {
            0 => Ok(Node::Null),
            1 => {
                let mut text = text(|size, to| call!(f, get_metadata_string(handle, size, to)))?;
                // Its end is counted.
                text.pop();
                Ok(Node::Text(text))
            }
            2 => {
                let mut all = Entries { real: self, depth, result: Ok(Vec::new()) };
                let user = (&raw mut all).cast();
                call!(f, iterate_map_metadata(handle, gather, user))?;
                all.result.map(Node::Map)
            }
            3 => {
                let mut count = 0;
                call!(f, get_metadata_list_size(handle, &mut count))?;
                let item = |index| {
                    let mut item = 0;
                    call!(f, index_list_metadata(handle, index, &mut item))?;
                    let node = self.node(item, depth + 1);
                    let _ = call!(f, destroy_metadata(item));
                    node.map(Arc::new)
                };
                (0..count).map(item).collect::<Result<_, _>>().map(Node::List)
            }
            _ => Err(Status::ERROR),
        }
    }
}

type Outcome = (Status, Vec<Product>);

/// Something of a size that the library says first.
fn text(get: impl Fn(*mut usize, *mut c_char) -> Result<(), Status>) -> Result<Vec<u8>, Status> {
    let mut size = 0;
    get(&mut size, std::ptr::null_mut())?;
    let mut bytes = vec![0; size];
    if size > 0 {
        get(&mut size, bytes.as_mut_ptr().cast())?;
    }
    Ok(bytes)
}

/// The entries of a map while the library tells them.
struct Entries<'a> {
    real: &'a Real,
    depth: usize,
    result: Result<Vec<Entry>, Status>,
}

extern "C" fn gather(key: u64, value: u64, user: *mut c_void) -> u32 {
    // SAFETY: it is what `Real::node` has handed over, which nobody else looks at during the call.
    let entries = unsafe { &mut *user.cast::<Entries<'_>>() };
    let node = |handle| entries.real.node(handle, entries.depth + 1).map(Arc::new);
    let entry = node(key).and_then(|key| Ok((key, node(value)?)));
    if let Ok(all) = &mut entries.result {
        match entry {
            Ok(entry) => all.push(entry),
            Err(status) => entries.result = Err(status),
        }
    }
    0
}

/// Objects of the library's that are given back when an action is over.
struct Owned<'a> {
    real: &'a Real,
    infos: Vec<u64>,
    sets: Vec<u64>,
    data: Vec<u64>,
    results: Vec<u64>,
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let f = &self.real.functions;
        self.results.iter().chain(&self.data).for_each(|data| self.real.release(*data));
        for set in &self.sets {
            let _ = call!(f, destroy_data_set(*set));
        }
        for info in &self.infos {
            let _ = call!(f, destroy_action_info(*info));
        }
    }
}

/// AMD's library as one that may not be loaded yet.
pub struct Lazy;

impl Library for Lazy {
    fn act(&self, action: &Action, already: &[Datum]) -> (Status, Vec<Product>) {
        let done = get().and_then(|real| {
            let mut owned = Owned { real, infos: vec![], sets: vec![], data: vec![], results: vec![] };
            real.perform(action, already, &mut owned)
        });
        done.unwrap_or_else(|status| {
            // What was there stays there.
            let inputs = action.inputs.len();
            (status, (inputs..inputs + already.len()).map(Product::Input).collect())
        })
    }

    fn target(&self, name: &CStr) -> Result<Node, Status> {
        let real = get()?;
        let mut handle = 0;
        call!(real.functions, get_isa_metadata(name.as_ptr(), &mut handle))?;
        real.document(handle)
    }

    fn target_of(&self, object: &Datum) -> Result<Vec<u8>, Status> {
        let real = get()?;
        let handle = real.data(object)?;
        let name = text(|size, to| call!(real.functions, get_data_isa_name(handle, size, to)));
        real.release(handle);
        name
    }

    fn files(&self) -> Vec<PathBuf> {
        // AMD's own is part of every question.
        mapped(|name| ["libLLVM", "libclang", "liblld"].iter().any(|p| name.starts_with(p)))
    }
}
