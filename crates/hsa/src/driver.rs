//! What programs look for before they ask HSA for GPUs: files of the kernel's driver. AMD's `rocminfo` opens `/dev/kfd`, later ones
//! read whether the module is alive, and all give up when these are missing. `open` and `fopen` of programs linked with this
//! library come here first, are the C library's own, and only where a file of the driver is not there stand in for it.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// The driver's device: it can be opened, and does nothing.
const DEVICE: &CStr = c"/dev/kfd";
/// The module's state.
const STATE: &CStr = c"/sys/module/amdgpu/initstate";

/// The third argument is there where a file may be made; it lies in the same register either way.
type Open = unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int;
type OpenStream = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut libc::FILE;

/// The C library's own function; null if there is none.
fn next(name: &CStr, known: &OnceLock<usize>) -> *mut c_void {
    // SAFETY: the name ends in a zero.
    *known.get_or_init(|| unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize) as *mut c_void
}

/// A file in place of one that the driver would have; none of other files.
fn stand_in(path: *const c_char, open: Open) -> Option<c_int> {
    if path.is_null() {
        return None;
    }
    // SAFETY: not null, and programs hand `open` text that ends in a zero.
    let path = unsafe { CStr::from_ptr(path) };
    let file = if path == DEVICE {
        // SAFETY: as the C library's.
        unsafe { open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC, 0) }
    } else if path == STATE {
        let text = b"live\n";
        // SAFETY: the name ends in a zero, the text is as long as is said.
        unsafe {
            let file = libc::memfd_create(c"initstate".as_ptr(), libc::MFD_CLOEXEC);
            libc::write(file, text.as_ptr().cast(), text.len());
            libc::lseek(file, 0, libc::SEEK_SET);
            file
        }
    } else {
        return None;
    };
    (file >= 0).then_some(file)
}

fn opened(name: &CStr, known: &OnceLock<usize>, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    let found = next(name, known);
    if found.is_null() {
        return -1;
    }
    // SAFETY: the C library's function of this name; the arguments are the program's.
    unsafe {
        let open = std::mem::transmute::<*mut c_void, Open>(found);
        let file = open(path, flags, mode);
        if file >= 0 { file } else { stand_in(path, open).unwrap_or(file) }
    }
}

fn streamed(
    name: &CStr,
    known: &OnceLock<usize>,
    path: *const c_char,
    mode: *const c_char,
) -> *mut libc::FILE {
    static OPEN: OnceLock<usize> = OnceLock::new();
    let (found, open) = (next(name, known), next(c"open", &OPEN));
    if found.is_null() || open.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the C library's functions of these names; the arguments are the program's.
    unsafe {
        let stream = std::mem::transmute::<*mut c_void, OpenStream>(found)(path, mode);
        if !stream.is_null() {
            return stream;
        }
        let file = stand_in(path, std::mem::transmute::<*mut c_void, Open>(open));
        file.map_or(stream, |file| libc::fdopen(file, mode))
    }
}

macro_rules! interposed {
    ($($(#[$doc:meta])* $name:ident = $text:literal by $way:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {$(
        $(#[$doc])*
        #[unsafe(export_name = $text)]
        extern "C" fn $name($($arg: $ty),*) -> $result {
            static KNOWN: OnceLock<usize> = OnceLock::new();
            match CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                Ok(name) => $way(name, &KNOWN, $($arg),*),
                Err(_) => unreachable!(),
            }
        }
    )*};
}

interposed! {
    /// The C library's `open`.
    open_file = "open" by opened(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    /// The same for long files.
    open_long_file = "open64" by opened(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    /// The C library's `fopen`.
    open_stream = "fopen" by streamed(path: *const c_char, mode: *const c_char) -> *mut libc::FILE;
    /// The same for long files.
    open_long_stream = "fopen64" by streamed(path: *const c_char, mode: *const c_char) -> *mut libc::FILE;
}
