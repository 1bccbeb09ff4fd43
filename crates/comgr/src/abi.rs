//! The functions of the library, as C programs call them.
//!
//! Handles are looked up, pointers are compared with null, nothing panics across the boundary. A function that only AMD's
//! library can answer is handed on to it as it is.

use crate::action::{Action, Contents, Datum, Library, Options, Status, data};
use crate::metadata::{self, Node};
use crate::objects::{Objects, Result};
use crate::real::{self, Lazy, MapCallback, SymbolCallback, call};
use crate::session::Session;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

static OBJECTS: LazyLock<Mutex<Objects>> = LazyLock::new(Mutex::default);
static SESSION: LazyLock<Mutex<Session>> = LazyLock::new(|| Mutex::new(real::session()));

/// A symbol that tells this library from AMD's.
#[unsafe(no_mangle)]
pub static wavemill_comgr: u8 = 1;

/// All objects. What AMD's library has for objects that are no more is given back.
fn objects() -> MutexGuard<'static, Objects> {
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !objects.released.is_empty()
        && let Ok(real) = real::get()
    {
        objects.released.drain(..).for_each(|data| real.release(data));
    }
    objects
}

fn session() -> MutexGuard<'static, Session> {
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the body of a function. What panics is an error of ours and has printed its message.
fn enter(body: impl FnOnce() -> Result) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => Status::ERROR,
    }
}

/// Declares functions of the C interface, with the version that programs ask for.
macro_rules! api {
    ($($version:literal { $(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)* })*) => {
        $($(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($arg: $ty),*) -> Status {
                enter(|| $body)
            }
            versioned!($name, $name, "@@", $version);
        )*)*
    };
}

/// Gives a function a version (see `build.rs`).
macro_rules! versioned {
    ($function:ident, $name:ident, $at:literal, $version:literal) => {
        #[cfg(not(test))]
        std::arch::global_asm!(concat!(
            ".symver ",
            stringify!($function),
            ", ",
            stringify!($name),
            $at,
            "amd_comgr_",
            $version
        ));
    };
}

/// Declares functions that AMD's library answers.
macro_rules! forward {
    ($($version:literal $name:ident = $real:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        api! { $($version { fn $name($($arg: $ty),*) { call!(real::get()?.functions(), $real($($arg),*)) } })* }
    };
}

/// Declares functions that AMD's library answers about a data object, which is made there, too, and stays there.
macro_rules! forward_data {
    ($($version:literal $name:ident = $real:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        api! { $($version {
            fn $name(data: u64, $($arg: $ty),*) { call!(real::get()?.functions(), $real(twin(data)?, $($arg),*)) }
        })* }
    };
}

/// The object of AMD's library that stands for one of ours.
fn twin(handle: u64) -> Result<u64> {
    let real = real::get()?;
    let mut objects = objects();
    let data = objects.data(handle)?;
    if let Some(twin) = data.real {
        return Ok(twin);
    }
    let twin = real.data(&data.datum)?;
    data.real = Some(twin);
    Ok(twin)
}

/// Stores a result.
fn put<T>(to: *mut T, value: T) -> Result {
    if to.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: it is the program's place for a result of this type.
    unsafe { to.write(value) };
    Ok(())
}

/// Stores a size, or as many bytes as there is room for.
fn give(bytes: &[u8], size: *mut usize, to: *mut c_char) -> Result {
    if size.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    if to.is_null() {
        return put(size, bytes.len());
    }
    // SAFETY: it is the program's, which has said there how much room there is.
    let room = unsafe { size.read() };
    // SAFETY: no more is written than the program has room for, nor read than there is.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), to, bytes.len().min(room)) };
    Ok(())
}

/// Stores a text, with the zero at its end.
fn give_text(text: Option<&CString>, size: *mut usize, to: *mut c_char) -> Result {
    give(text.ok_or(Status::INVALID_ARGUMENT)?.as_bytes_with_nul(), size, to)
}

/// A text of the program's; none if there is none.
fn text(text: *const c_char) -> Option<CString> {
    // SAFETY: a pointer of the program's that is not null is to a text with an end.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_owned())
}

/// Some texts of the program's.
fn texts(list: *const *const c_char, count: usize) -> Result<Vec<CString>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if list.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: the program says that so many pointers to texts are there.
    let one = |n| text(unsafe { list.add(n).read() }).ok_or(Status::INVALID_ARGUMENT);
    (0..count).map(one).collect()
}

/// Whether there is such a kind of data. Later versions have more than the first.
fn check_kind(kind: u32) -> Result {
    match kind {
        1..=0x10 => Ok(()),
        0 | 0x20.. => Err(Status::INVALID_ARGUMENT),
        _ => {
            let real = real::get()?;
            let twin = real.data(&Datum { kind, ..Datum::default() })?;
            real.release(twin);
            Ok(())
        }
    }
}

/// The bytes of a code object.
fn code_object(handle: u64) -> Result<Contents> {
    let mut objects = objects();
    let datum = &objects.data(handle)?.datum;
    let is = matches!(datum.kind, data::RELOCATABLE | data::EXECUTABLE);
    datum.contents.clone().filter(|_| is).ok_or(Status::INVALID_ARGUMENT)
}

fn node(handle: u64) -> Result<Arc<Node>> {
    objects().node(handle).cloned()
}

/// A handle for a node, where the program wants it.
fn give_node(node: Arc<Node>, to: *mut u64) -> Result {
    if to.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    let handle = objects().add_node(node);
    put(to, handle)
}

forward! {
    "1.8" amd_comgr_status_string = status_string(status: u32, text: *mut *const c_char);
    "1.8" amd_comgr_get_isa_count = get_isa_count(count: *mut usize);
    "2.0" amd_comgr_get_isa_name = get_isa_name(index: usize, name: *mut *const c_char);
    "1.8" amd_comgr_symbol_get_info = symbol_get_info(symbol: u64, what: u32, value: *mut c_void);
    "2.0" amd_comgr_create_disassembly_info = create_disassembly_info(
        isa: *const c_char, read: *const c_void, instruction: *const c_void, address: *const c_void, info: *mut u64);
    "1.8" amd_comgr_destroy_disassembly_info = destroy_disassembly_info(info: u64);
    "1.8" amd_comgr_disassemble_instruction = disassemble_instruction(
        info: u64, address: u64, user: *mut c_void, size: *mut u64);
    "2.4" amd_comgr_destroy_symbolizer_info = destroy_symbolizer_info(info: u64);
    "2.4" amd_comgr_symbolize = symbolize(info: u64, address: u64, code: bool, user: *mut c_void);
}

forward_data! {
    "1.8" amd_comgr_iterate_symbols = iterate_symbols(callback: Option<SymbolCallback>, user: *mut c_void);
    "1.8" amd_comgr_symbol_lookup = symbol_lookup(name: *const c_char, symbol: *mut u64);
    "2.3" amd_comgr_lookup_code_object = lookup_code_object(list: *mut c_void, count: usize);
    "2.4" amd_comgr_create_symbolizer_info = create_symbolizer_info(print: *const c_void, info: *mut u64);
    "2.5" amd_comgr_populate_mangled_names = populate_mangled_names(count: *mut usize);
    "2.5" amd_comgr_get_mangled_name = get_mangled_name(index: usize, size: *mut usize, name: *mut c_char);
    "2.6" amd_comgr_populate_name_expression_map = populate_name_expression_map(count: *mut usize);
    "2.6" amd_comgr_map_name_expression_to_symbol_name = map_name_expression_to_symbol_name(
        size: *mut usize, expression: *mut c_char, symbol: *mut c_char);
    "2.7" amd_comgr_map_elf_virtual_address_to_code_object_offset = map_elf_virtual_address_to_code_object_offset(
        address: u64, offset: *mut u64, size: *mut u64, file: *mut bool);
}

/// `amd_comgr_get_version`
#[unsafe(no_mangle)]
pub extern "C" fn amd_comgr_get_version(major: *mut usize, minor: *mut usize) {
    enter(|| {
        let function = real::get()?.functions().get_version.ok_or(Status::ERROR)?;
        // SAFETY: the program's own places for two numbers.
        unsafe { function(major, minor) };
        Ok(())
    });
}
versioned!(amd_comgr_get_version, amd_comgr_get_version, "@@", "1.8");

/// `amd_comgr_get_isa_count`, which is of another version in later libraries.
#[unsafe(no_mangle)]
pub extern "C" fn wavemill_comgr_get_isa_count(count: *mut usize) -> Status {
    amd_comgr_get_isa_count(count)
}
versioned!(wavemill_comgr_get_isa_count, amd_comgr_get_isa_count, "@", "2.0");

// Data.
api! {
    "1.8" {
        fn amd_comgr_create_data(kind: u32, handle: *mut u64) {
            check_kind(kind)?;
            if handle.is_null() {
                return Err(Status::INVALID_ARGUMENT);
            }
            let data = objects().add_data(Datum { kind, ..Datum::default() });
            put(handle, data)
        }

        fn amd_comgr_release_data(handle: u64) {
            objects().release(handle)
        }

        fn amd_comgr_get_data_kind(handle: u64, kind: *mut u32) {
            let found = objects().data(handle).map(|d| d.datum.kind);
            put(kind, found.unwrap_or(0))?;
            found.map(drop)
        }

        fn amd_comgr_set_data(handle: u64, size: usize, bytes: *const c_char) {
            if size == 0 || bytes.is_null() {
                return Err(Status::INVALID_ARGUMENT);
            }
            // SAFETY: the program says that so many bytes are there.
            let contents = Contents::new(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) });
            objects().change(handle, |datum| datum.contents = Some(contents))
        }

        fn amd_comgr_set_data_name(handle: u64, name: *const c_char) {
            let name = text(name).unwrap_or_default();
            objects().change(handle, |datum| datum.name = Some(name))
        }

        fn amd_comgr_get_data(handle: u64, size: *mut usize, to: *mut c_char) {
            let contents = objects().data(handle)?.datum.contents.clone();
            give(contents.ok_or(Status::INVALID_ARGUMENT)?.bytes(&Lazy)?, size, to)
        }

        fn amd_comgr_get_data_name(handle: u64, size: *mut usize, to: *mut c_char) {
            let name = objects().data(handle)?.datum.name.clone().unwrap_or_default();
            give_text(Some(&name), size, to)
        }
    }

    "2.0" {
        fn amd_comgr_get_data_isa_name(handle: u64, size: *mut usize, to: *mut c_char) {
            let contents = code_object(handle)?;
            let bytes = contents.at_hand();
            if let Some(name) = metadata::target_of_object(bytes).and_then(|n| CString::new(n).ok()) {
                return give_text(Some(&name), size, to);
            }
            let datum = objects().data(handle)?.datum.clone();
            let name = match metadata::header(bytes) {
                Some(header) => session().target_of(&datum, header, &Lazy)?,
                None => Lazy.target_of(&datum)?.into(),
            };
            give(&name, size, to)
        }
    }

    "2.2" {
        fn amd_comgr_demangle_symbol_name(name: u64, to: *mut u64) {
            let (real, twin) = (real::get()?, twin(name)?);
            let mut made = 0;
            call!(real.functions(), demangle_symbol_name(twin, &mut made))?;
            let datum = real.contents(made, false);
            real.release(made);
            let handle = objects().add_data(datum?);
            put(to, handle)
        }
    }

    "2.3" {
        fn amd_comgr_set_data_from_file_slice(handle: u64, file: c_int, offset: u64, size: u64) {
            objects().data(handle)?;
            let wanted = usize::try_from(size).map_err(|_| Status::INVALID_ARGUMENT)?;
            // As one of its own, which is closed here.
            let file = std::fs::File::open(format!("/proc/self/fd/{file}")).map_err(|_| Status::ERROR)?;
            let end = offset.checked_add(size).ok_or(Status::INVALID_ARGUMENT)?;
            if wanted == 0 || file.metadata().is_ok_and(|m| m.len() < end) {
                return Err(Status::INVALID_ARGUMENT);
            }
            let mut bytes = vec![0; wanted];
            file.read_exact_at(&mut bytes, offset).map_err(|_| Status::ERROR)?;
            objects().change(handle, |datum| datum.contents = Some(Contents::new(bytes)))
        }
    }
}

// Sets of data.
api! {
    "1.8" {
        fn amd_comgr_create_data_set(set: *mut u64) {
            if set.is_null() {
                return Err(Status::INVALID_ARGUMENT);
            }
            let handle = objects().add_set();
            put(set, handle)
        }

        fn amd_comgr_destroy_data_set(set: u64) {
            objects().remove_set(set)
        }

        fn amd_comgr_data_set_add(set: u64, data: u64) {
            objects().put(set, data)
        }

        fn amd_comgr_data_set_remove(set: u64, kind: u32) {
            check_kind(kind)?;
            objects().take(set, kind)
        }

        fn amd_comgr_action_data_count(set: u64, kind: u32, count: *mut usize) {
            check_kind(kind)?;
            let found = objects().of_kind(set, kind)?.len();
            put(count, found)
        }

        fn amd_comgr_action_data_get_data(set: u64, kind: u32, index: usize, data: *mut u64) {
            check_kind(kind)?;
            if data.is_null() {
                return Err(Status::INVALID_ARGUMENT);
            }
            let found = objects().get(set, kind, index)?;
            put(data, found)
        }
    }
}

// Actions.
api! {
    "1.8" {
        fn amd_comgr_create_action_info(info: *mut u64) {
            if info.is_null() {
                return Err(Status::INVALID_ARGUMENT);
            }
            let handle = objects().add_info();
            put(info, handle)
        }

        fn amd_comgr_destroy_action_info(info: u64) {
            objects().remove_info(info)
        }

        fn amd_comgr_action_info_set_language(info: u64, language: u32) {
            if language > 5 {
                return Err(Status::INVALID_ARGUMENT);
            }
            objects().info(info)?.language = language;
            Ok(())
        }

        fn amd_comgr_action_info_get_language(info: u64, language: *mut u32) {
            let found = objects().info(info)?.language;
            put(language, found)
        }

        fn amd_comgr_action_info_set_options(info: u64, options: *const c_char) {
            objects().info(info)?.options = Options::Flat(text(options).unwrap_or_default());
            Ok(())
        }

        fn amd_comgr_action_info_get_options(info: u64, size: *mut usize, to: *mut c_char) {
            match objects().info(info)?.options.clone() {
                Options::Flat(options) => give_text(Some(&options), size, to),
                Options::List(_) => Err(Status::ERROR),
            }
        }

        fn amd_comgr_action_info_set_option_list(info: u64, list: *const *const c_char, count: usize) {
            let list = texts(list, count)?;
            objects().info(info)?.options = Options::List(list);
            Ok(())
        }

        fn amd_comgr_action_info_get_option_list_count(info: u64, count: *mut usize) {
            let found = match &objects().info(info)?.options {
                Options::List(list) => list.len(),
                Options::Flat(_) => return Err(Status::ERROR),
            };
            put(count, found)
        }

        fn amd_comgr_action_info_get_option_list_item(info: u64, index: usize, size: *mut usize, to: *mut c_char) {
            let found = match &objects().info(info)?.options {
                Options::List(list) => list.get(index).cloned(),
                Options::Flat(_) => return Err(Status::ERROR),
            };
            give_text(found.as_ref(), size, to)
        }

        fn amd_comgr_action_info_set_working_directory_path(info: u64, path: *const c_char) {
            objects().info(info)?.path = Some(text(path).unwrap_or_default());
            Ok(())
        }

        fn amd_comgr_action_info_get_working_directory_path(info: u64, size: *mut usize, to: *mut c_char) {
            let path = objects().info(info)?.path.clone().unwrap_or_default();
            give_text(Some(&path), size, to)
        }

        fn amd_comgr_action_info_set_logging(info: u64, logging: bool) {
            objects().info(info)?.logging = logging;
            Ok(())
        }

        fn amd_comgr_action_info_get_logging(info: u64, logging: *mut bool) {
            let found = objects().info(info)?.logging;
            put(logging, found)
        }

        fn amd_comgr_do_action(kind: u32, info: u64, input: u64, result: u64) {
            let (action, already, before) = {
                let mut objects = objects();
                let (mut before, inputs) = objects.contents(input)?;
                let (handles, already) = objects.contents(result)?;
                before.extend(handles);
                let info = objects.info(info)?.clone();
                (Action { kind, info, inputs }, already, before)
            };
            let (status, products) = session().act(&action, &already, &Lazy);
            objects().fill(result, &before, products)?;
            if status == Status::SUCCESS { Ok(()) } else { Err(status) }
        }
    }

    "2.0" {
        fn amd_comgr_action_info_set_isa_name(info: u64, name: *const c_char) {
            let name = text(name).filter(|n| !n.is_empty());
            objects().info(info)?;
            if let Some(name) = &name
                && !name.to_str().is_ok_and(metadata::is_target)
            {
                let real = real::get()?.functions();
                let mut twin = 0;
                call!(real, create_action_info(&mut twin))?;
                let valid = call!(real, action_info_set_isa_name(twin, name.as_ptr()));
                call!(real, destroy_action_info(twin))?;
                valid?;
            }
            objects().info(info)?.isa = name;
            Ok(())
        }

        fn amd_comgr_action_info_get_isa_name(info: u64, size: *mut usize, to: *mut c_char) {
            let name = objects().info(info)?.isa.clone().unwrap_or_default();
            give_text(Some(&name), size, to)
        }
    }

    "2.8" {
        fn amd_comgr_action_info_set_bundle_entry_ids(info: u64, list: *const *const c_char, count: usize) {
            let list = texts(list, count)?;
            objects().info(info)?.bundle = Some(list);
            Ok(())
        }

        fn amd_comgr_action_info_get_bundle_entry_id_count(info: u64, count: *mut usize) {
            let found = objects().info(info)?.bundle.as_ref().map_or(0, Vec::len);
            put(count, found)
        }

        fn amd_comgr_action_info_get_bundle_entry_id(info: u64, index: usize, size: *mut usize, to: *mut c_char) {
            let found = objects().info(info)?.bundle.as_ref().and_then(|b| b.get(index).cloned());
            give_text(found.as_ref(), size, to)
        }
    }

    "2.9" {
        fn amd_comgr_action_info_set_device_lib_linking(info: u64, linking: bool) {
            objects().info(info)?.device_libraries = Some(linking);
            Ok(())
        }
    }
}

// Metadata.
api! {
    "1.8" {
        fn amd_comgr_get_data_metadata(handle: u64, to: *mut u64) {
            let own = code_object(handle).ok().and_then(|c| metadata::of_object(c.at_hand()));
            let node = match own {
                Some(node) => node,
                None => {
                    let (real, twin) = (real::get()?, twin(handle)?);
                    let mut document = 0;
                    call!(real.functions(), get_data_metadata(twin, &mut document))?;
                    real.document(document)?
                }
            };
            give_node(Arc::new(node), to)
        }

        fn amd_comgr_destroy_metadata(handle: u64) {
            objects().remove_node(handle);
            Ok(())
        }

        fn amd_comgr_get_metadata_kind(handle: u64, kind: *mut u32) {
            let found = match &*node(handle)? {
                Node::Null => 0,
                Node::Text(_) => 1,
                Node::Map(_) => 2,
                Node::List(_) => 3,
            };
            put(kind, found)
        }

        fn amd_comgr_get_metadata_string(handle: u64, size: *mut usize, to: *mut c_char) {
            match &*node(handle)? {
                Node::Text(text) => give(&[text, &b"\0"[..]].concat(), size, to),
                _ => Err(Status::INVALID_ARGUMENT),
            }
        }

        fn amd_comgr_get_metadata_map_size(handle: u64, size: *mut usize) {
            match &*node(handle)? {
                Node::Map(entries) => put(size, entries.len()),
                _ => Err(Status::INVALID_ARGUMENT),
            }
        }

        fn amd_comgr_iterate_map_metadata(handle: u64, callback: Option<MapCallback>, user: *mut c_void) {
            let node = node(handle)?;
            let (Node::Map(entries), Some(callback)) = (&*node, callback) else {
                return Err(Status::INVALID_ARGUMENT);
            };
            for (key, value) in entries {
                let [key, value] = {
                    let mut objects = objects();
                    [key, value].map(|node| objects.add_node(node.clone()))
                };
                // What it returns is not looked at, as in AMD's.
                callback(key, value, user);
                let mut objects = objects();
                objects.remove_node(key);
                objects.remove_node(value);
            }
            Ok(())
        }

        fn amd_comgr_metadata_lookup(handle: u64, key: *const c_char, value: *mut u64) {
            let node = node(handle)?;
            let (Node::Map(_), Some(key)) = (&*node, text(key)) else { return Err(Status::INVALID_ARGUMENT) };
            if value.is_null() {
                return Err(Status::INVALID_ARGUMENT);
            }
            give_node(node.get(key.as_bytes()).ok_or(Status::ERROR)?.clone(), value)
        }

        fn amd_comgr_get_metadata_list_size(handle: u64, size: *mut usize) {
            match &*node(handle)? {
                Node::List(nodes) => put(size, nodes.len()),
                _ => Err(Status::INVALID_ARGUMENT),
            }
        }

        fn amd_comgr_index_list_metadata(handle: u64, index: usize, value: *mut u64) {
            match &*node(handle)? {
                Node::List(nodes) => give_node(nodes.get(index).ok_or(Status::INVALID_ARGUMENT)?.clone(), value),
                _ => Err(Status::INVALID_ARGUMENT),
            }
        }
    }

    "2.0" {
        fn amd_comgr_get_isa_metadata(name: *const c_char, to: *mut u64) {
            let name = text(name).ok_or(Status::INVALID_ARGUMENT)?;
            let node = session().target(&name, &Lazy)?;
            give_node(node, to)
        }
    }
}
