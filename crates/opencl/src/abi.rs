//! What all functions share: error codes, pointers that are checked before use, answers of queries, and the macro that
//! declares functions.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use wavemill_device::Present;
use wavemill_runtime::observe::HostEvent;

/// An error code (`cl_int`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Code(pub i32);

macro_rules! codes {
    ($($name:ident = $value:literal;)*) => {
        // The list is whole, though some of these cannot happen here.
        #[allow(dead_code)]
        impl Code {
            $(#[doc = concat!("`CL_", stringify!($name), "`.")] pub const $name: Code = Code($value);)*
        }
    };
}

codes! {
    SUCCESS = 0;
    DEVICE_NOT_FOUND = -1;
    DEVICE_NOT_AVAILABLE = -2;
    COMPILER_NOT_AVAILABLE = -3;
    MEM_OBJECT_ALLOCATION_FAILURE = -4;
    OUT_OF_RESOURCES = -5;
    OUT_OF_HOST_MEMORY = -6;
    PROFILING_INFO_NOT_AVAILABLE = -7;
    MEM_COPY_OVERLAP = -8;
    IMAGE_FORMAT_MISMATCH = -9;
    IMAGE_FORMAT_NOT_SUPPORTED = -10;
    BUILD_PROGRAM_FAILURE = -11;
    MAP_FAILURE = -12;
    MISALIGNED_SUB_BUFFER_OFFSET = -13;
    EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14;
    COMPILE_PROGRAM_FAILURE = -15;
    LINKER_NOT_AVAILABLE = -16;
    LINK_PROGRAM_FAILURE = -17;
    DEVICE_PARTITION_FAILED = -18;
    KERNEL_ARG_INFO_NOT_AVAILABLE = -19;
    INVALID_VALUE = -30;
    INVALID_DEVICE_TYPE = -31;
    INVALID_PLATFORM = -32;
    INVALID_DEVICE = -33;
    INVALID_CONTEXT = -34;
    INVALID_QUEUE_PROPERTIES = -35;
    INVALID_COMMAND_QUEUE = -36;
    INVALID_HOST_PTR = -37;
    INVALID_MEM_OBJECT = -38;
    INVALID_IMAGE_FORMAT_DESCRIPTOR = -39;
    INVALID_IMAGE_SIZE = -40;
    INVALID_SAMPLER = -41;
    INVALID_BINARY = -42;
    INVALID_BUILD_OPTIONS = -43;
    INVALID_PROGRAM = -44;
    INVALID_PROGRAM_EXECUTABLE = -45;
    INVALID_KERNEL_NAME = -46;
    INVALID_KERNEL_DEFINITION = -47;
    INVALID_KERNEL = -48;
    INVALID_ARG_INDEX = -49;
    INVALID_ARG_VALUE = -50;
    INVALID_ARG_SIZE = -51;
    INVALID_KERNEL_ARGS = -52;
    INVALID_WORK_DIMENSION = -53;
    INVALID_WORK_GROUP_SIZE = -54;
    INVALID_WORK_ITEM_SIZE = -55;
    INVALID_GLOBAL_OFFSET = -56;
    INVALID_EVENT_WAIT_LIST = -57;
    INVALID_EVENT = -58;
    INVALID_OPERATION = -59;
    INVALID_BUFFER_SIZE = -61;
    INVALID_GLOBAL_WORK_SIZE = -63;
    INVALID_PROPERTY = -64;
    INVALID_IMAGE_DESCRIPTOR = -65;
    INVALID_COMPILER_OPTIONS = -66;
    INVALID_LINKER_OPTIONS = -67;
    INVALID_DEVICE_PARTITION_COUNT = -68;
    INVALID_PIPE_SIZE = -69;
    INVALID_DEVICE_QUEUE = -70;
    INVALID_SPEC_ID = -71;
}

/// What functions do inside: an error leaves early.
pub type Result<T = ()> = std::result::Result<T, Code>;

/// Runs the body of a function. What panics is an error of ours and has printed its message.
pub fn enter(body: impl FnOnce() -> Result) -> Code {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Code::SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => Code::OUT_OF_RESOURCES,
    }
}

/// Runs the body of a function that returns something and puts the code where the caller wants it.
pub fn make<T: Null>(errcode: Out<Code>, body: impl FnOnce() -> Result<T>) -> T {
    let made = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Code::OUT_OF_RESOURCES));
    let (value, code) = match made {
        Ok(value) => (value, Code::SUCCESS),
        Err(code) => (T::NULL, code),
    };
    errcode.put(code);
    value
}

/// What functions return that have nothing to return.
pub trait Null {
    /// Nothing.
    const NULL: Self;
}

impl Null for *mut c_void {
    const NULL: Self = std::ptr::null_mut();
}

/// Declares functions of the C interface: those that return a code have a `Result` as their body, those that `make`
/// something have a result with a handle, and an `errcode` for their last argument. Programs reach them through the
/// dispatch table; what the loader looks up by name says so.
macro_rules! api {
    () => {};
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> Code $body:block $($rest:tt)*) => {
        $(#[$doc])*
        pub extern "C" fn $name($($arg: $ty),*) -> $crate::abi::Code {
            $crate::abi::enter(|| $body)
        }
        $crate::abi::api! { $($rest)* }
    };
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> make $ret:ty $body:block $($rest:tt)*) => {
        $(#[$doc])*
        pub extern "C" fn $name($($arg: $ty,)* errcode: $crate::abi::Out<$crate::abi::Code>) -> $ret {
            $crate::abi::make(errcode, || $body)
        }
        $crate::abi::api! { $($rest)* }
    };
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block $($rest:tt)*) => {
        $(#[$doc])*
        pub extern "C" fn $name($($arg: $ty),*) $(-> $ret)? $body
        $crate::abi::api! { $($rest)* }
    };
}

pub(crate) use api;

/// A pointer that the function writes to.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// What is at an address.
    #[cfg(test)]
    pub fn of(address: u64) -> Out<T> {
        Out(address as *mut T)
    }

    /// None.
    pub const NULL: Out<T> = Out(std::ptr::null_mut());

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes the answer, if it is wanted.
    pub fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null; the caller of the C function promises that it points to room for a `T`.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Writes one answer of several, if they are wanted.
    pub fn put_at(self, index: usize, value: T) {
        if !self.0.is_null() {
            Out(self.0.wrapping_add(index)).put(value);
        }
    }
}

/// A pointer that the function reads from.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// None.
    pub const NULL: In<T> = In(std::ptr::null());

    /// What is at an address.
    pub fn of(address: u64) -> In<T> {
        In(address as *const T)
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> u64 {
        self.0 as u64
    }

    /// What it points to; null is an invalid value.
    pub fn get(self) -> Result<T> {
        self.get_or(Code::INVALID_VALUE)
    }

    /// What it points to; null is an error.
    pub fn get_or(self, code: Code) -> Result<T> {
        if self.0.is_null() {
            return Err(code);
        }
        // SAFETY: not null; the caller of the C function promises that it points to a `T`.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Several of them; null is an invalid value unless there are none.
    pub fn list(self, count: usize) -> Result<Vec<T>> {
        (0..count).map(|i| In(if self.0.is_null() { self.0 } else { self.0.wrapping_add(i) }).get()).collect()
    }

    /// Several of them; none if it is null.
    pub fn list_or_none(self, count: usize) -> Result<Option<Vec<T>>> {
        if self.0.is_null() { Ok(None) } else { self.list(count).map(Some) }
    }
}

impl<T: Copy> In<T>
where
    T: Default + PartialEq,
{
    /// Pairs of a property and its value, up to the zero that ends them; none if it is null.
    pub fn pairs(self) -> Result<Vec<(T, T)>> {
        let mut all = Vec::new();
        while !self.0.is_null() {
            let at = |i: usize| In(self.0.wrapping_add(i)).get();
            let key = at(2 * all.len())?;
            if key == T::default() {
                break;
            }
            all.push((key, at(2 * all.len() + 1)?));
        }
        Ok(all)
    }
}

/// A C string.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// None.
    #[cfg(test)]
    pub const NULL: Text = Text(std::ptr::null());

    /// One of ours.
    #[cfg(test)]
    pub fn of(text: &CStr) -> Text {
        Text(text.as_ptr())
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Its text; null is an invalid value.
    pub fn get(self) -> Result<String> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null; the caller of the C function promises that it ends in a zero.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }

    /// The text of so many bytes, or up to a zero if that is 0.
    pub fn sized(self, len: usize) -> Result<Vec<u8>> {
        if len == 0 {
            return self.get().map(String::into_bytes);
        }
        In(self.0.cast::<u8>()).list(len)
    }
}

/// Bytes of the program.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Bytes(*mut c_void);

impl Bytes {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> u64 {
        self.0 as u64
    }

    /// What is at an address.
    pub fn at(address: u64) -> Bytes {
        Bytes(address as *mut c_void)
    }

    /// A copy of the first ones; null is an invalid value.
    pub fn get(self, len: usize) -> Result<Vec<u8>> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let mut bytes = vec![0; len];
        copy(bytes.as_mut_ptr() as u64, self.address(), len as u64);
        Ok(bytes)
    }

    /// Writes there.
    pub fn set(self, bytes: &[u8]) {
        copy(self.address(), bytes.as_ptr() as u64, bytes.len() as u64);
    }
}

/// Copies bytes between memory of the program and of GPUs, which is the program's, too. The ranges may overlap.
pub fn copy(to: u64, from: u64, len: u64) {
    let _present = Present::among_others();
    // SAFETY: commands are checked against the sizes of the objects that they name when they are enqueued, and hold these
    // objects until they have ended; the caller of the C function promises as much of his own memory. Waves access the
    // same bytes without synchronisation only where the program has asked for it.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len as usize) };
    wavemill_runtime::observe::tell(HostEvent::Copied { to, from, bytes: len });
}

unsafe extern "C" {
    fn fflush(stream: *mut c_void) -> i32;
}

/// Writes out what the program has printed so far, so that what kernels print comes behind it.
pub fn flush_program() {
    // SAFETY: null stands for all streams of the C library.
    unsafe { fflush(std::ptr::null_mut()) };
}

/// Where the answer to a query goes.
#[derive(Clone, Copy)]
pub struct Answer {
    room: usize,
    value: *mut c_void,
    size: Out<usize>,
}

impl Answer {
    pub fn new(room: usize, value: Bytes, size: Out<usize>) -> Answer {
        Answer { room, value: value.0, size }
    }

    /// Writes bytes; they must fit.
    pub fn bytes(self, bytes: &[u8]) -> Result {
        if !self.value.is_null() {
            if self.room < bytes.len() {
                return Err(Code::INVALID_VALUE);
            }
            Bytes(self.value).set(bytes);
        }
        self.size.put(bytes.len());
        Ok(())
    }

    /// Writes text and a zero.
    pub fn text(self, text: &str) -> Result {
        self.bytes(&[text.as_bytes(), b"\0"].concat())
    }

    /// Writes numbers.
    pub fn set<T: Word>(self, value: T) -> Result {
        self.bytes(&value.bytes())
    }

    /// Writes a list of numbers.
    pub fn list<T: Word>(self, values: &[T]) -> Result {
        self.bytes(&values.iter().flat_map(|v| v.bytes()).collect::<Vec<u8>>())
    }

    /// Where binaries go: as many pointers as there are answers.
    pub fn pointers(self, binaries: &[Vec<u8>]) -> Result {
        let bytes = binaries.len() * size_of::<usize>();
        if !self.value.is_null() {
            if self.room < bytes {
                return Err(Code::INVALID_VALUE);
            }
            let pointers = In(self.value.cast_const().cast::<Bytes>()).list(binaries.len())?;
            for (to, binary) in pointers.iter().zip(binaries).filter(|(to, _)| !to.is_null()) {
                to.set(binary);
            }
        }
        self.size.put(bytes);
        Ok(())
    }
}

/// What answers are made of.
pub trait Word: Copy {
    /// Its bytes.
    fn bytes(self) -> Vec<u8>;
}

macro_rules! words {
    ($($ty:ty)*) => { $(impl Word for $ty {
        fn bytes(self) -> Vec<u8> {
            self.to_le_bytes().to_vec()
        }
    })* };
}

words! { u8 u32 i32 u64 i64 usize isize }

impl Word for bool {
    /// `cl_bool`.
    fn bytes(self) -> Vec<u8> {
        u32::from(self).bytes()
    }
}

impl Word for Code {
    fn bytes(self) -> Vec<u8> {
        self.0.bytes()
    }
}

/// A pointer of the program that is only handed back to it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Data(pub *mut c_void);

// SAFETY: the pointer is only handed back to the program, which knows from which threads that may happen.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}
