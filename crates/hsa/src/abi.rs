//! What all functions share: status codes, pointers that are checked before use, and the macro that declares them.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use wavemill_device::Present;

/// `hsa_status_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Status(pub u32);

macro_rules! statuses {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        // The list is whole, though some of these cannot happen here.
        #[allow(dead_code)]
        impl Status {
            $(#[doc = $text] pub const $name: Status = Status($value);)*

            /// What `hsa_status_string` says.
            pub fn text(self) -> Option<&'static CStr> {
                Some(match self.0 {
                    $($value => concat_cstr!("HSA_STATUS_", stringify!($name), ": ", $text),)*
                    _ => return None,
                })
            }
        }
    };
}

macro_rules! concat_cstr {
    ($($part:expr),*) => {
        match CStr::from_bytes_with_nul(concat!($($part),*, "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => c"",
        }
    };
}

statuses! {
    SUCCESS = 0, "The function has been executed.";
    INFO_BREAK = 1, "An iteration was ended by the program.";
    ERROR_INVALID_MEMORY_POOL = 40, "There is no such memory pool.";
    ERROR_MEMORY_APERTURE_VIOLATION = 41, "An access missed the aperture of its segment.";
    ERROR_ILLEGAL_INSTRUCTION = 42, "A kernel has executed an illegal instruction.";
    ERROR_MEMORY_FAULT = 43, "A kernel has accessed memory that is not accessible to its agent.";
    CU_MASK_REDUCED = 44, "The mask of compute units was set, but fewer are in use.";
    ERROR_OUT_OF_REGISTERS = 45, "The agent does not have so many registers.";
    ERROR_RESOURCE_BUSY = 46, "A resource is in use.";
    ERROR_NOT_SUPPORTED = 47, "This system does not have what was asked for.";
    ERROR_XNACK_DISABLED = 48, "This needs XNACK, which the GPUs do not have on.";
    ERROR = 0x1000, "Something went wrong.";
    ERROR_INVALID_ARGUMENT = 0x1001, "An argument is not valid.";
    ERROR_INVALID_QUEUE_CREATION = 0x1002, "The agent has no queues of this kind.";
    ERROR_INVALID_ALLOCATION = 0x1003, "Memory of this kind or size cannot be allocated.";
    ERROR_INVALID_AGENT = 0x1004, "There is no such agent.";
    ERROR_INVALID_REGION = 0x1005, "There is no such memory region.";
    ERROR_INVALID_SIGNAL = 0x1006, "There is no such signal.";
    ERROR_INVALID_QUEUE = 0x1007, "There is no such queue.";
    ERROR_OUT_OF_RESOURCES = 0x1008, "Not enough of a resource is left.";
    ERROR_INVALID_PACKET_FORMAT = 0x1009, "A packet of the queue is not valid.";
    ERROR_RESOURCE_FREE = 0x100a, "A resource could not be freed.";
    ERROR_NOT_INITIALIZED = 0x100b, "hsa_init has not been called.";
    ERROR_REFCOUNT_OVERFLOW = 0x100c, "hsa_init has been called too often.";
    ERROR_INCOMPATIBLE_ARGUMENTS = 0x100d, "Arguments do not fit one another.";
    ERROR_INVALID_INDEX = 0x100e, "An index is out of range.";
    ERROR_INVALID_ISA = 0x100f, "There is no such instruction set.";
    ERROR_INVALID_CODE_OBJECT = 0x1010, "The code object is not valid.";
    ERROR_INVALID_EXECUTABLE = 0x1011, "There is no such executable.";
    ERROR_FROZEN_EXECUTABLE = 0x1012, "The executable is frozen.";
    ERROR_INVALID_SYMBOL_NAME = 0x1013, "There is no symbol of this name.";
    ERROR_VARIABLE_ALREADY_DEFINED = 0x1014, "The variable is defined already.";
    ERROR_VARIABLE_UNDEFINED = 0x1015, "A variable is not defined.";
    ERROR_EXCEPTION = 0x1016, "A kernel has raised an exception.";
    ERROR_INVALID_ISA_NAME = 0x1017, "No instruction set has this name.";
    ERROR_INVALID_CODE_SYMBOL = 0x1018, "There is no such symbol of a code object.";
    ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019, "There is no such symbol of an executable.";
    ERROR_INVALID_FILE = 0x1020, "The file cannot be read.";
    ERROR_INVALID_CODE_OBJECT_READER = 0x1021, "There is no such code object reader.";
    ERROR_INVALID_CACHE = 0x1022, "There is no such cache.";
    ERROR_INVALID_WAVEFRONT = 0x1023, "There is no such wavefront.";
    ERROR_INVALID_SIGNAL_GROUP = 0x1024, "There is no such group of signals.";
    ERROR_INVALID_RUNTIME_STATE = 0x1025, "The runtime is not in the state the function needs.";
    ERROR_FATAL = 0x1026, "The queue cannot go on.";
}

/// What functions do inside: an error leaves early.
pub type Result<T = ()> = std::result::Result<T, Status>;

/// Runs the body of a function. What panics is an error of ours and has printed its message.
pub fn enter(body: impl FnOnce() -> Result) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => Status::ERROR,
    }
}

/// Declares functions of the C interface, with the version that programs ask for. Bodies of functions that return a
/// status are `Result`s.
macro_rules! api {
    () => {};
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> Status $body:block $($rest:tt)*) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $crate::abi::Status {
            let _call = wavemill_runtime::turns::call(stringify!($name));
            $crate::abi::enter(|| $body)
        }
        $crate::abi::versioned!($name);
        $crate::abi::api! { $($rest)* }
    };
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block $($rest:tt)*) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            let _call = wavemill_runtime::turns::call(stringify!($name));
            $body
        }
        $crate::abi::versioned!($name);
        $crate::abi::api! { $($rest)* }
    };
}

/// Gives a function the version `ROCR_1` (see `build.rs`).
macro_rules! versioned {
    ($name:ident) => {
        #[cfg(not(test))]
        std::arch::global_asm!(concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@ROCR_1"));
    };
}

/// Declares one operation in all memory orders. They are all the strongest: it costs nothing where it counts.
macro_rules! in_all_orders {
    ($($names:ident)* => $(#[$doc:meta])* ($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $body:block) => {
        $crate::abi::in_all_orders!(@ [$($names)*] $(#[$doc])* ($($arg: $ty),*) ($(-> $ret)?) $body);
    };
    (@ [] $($rest:tt)*) => {};
    (@ [$name:ident $($names:ident)*] $(#[$doc:meta])* ($($arg:ident: $ty:ty),*) ($(-> $ret:ty)?) $body:block) => {
        $crate::abi::api! {
            $(#[$doc])*
            fn $name($($arg: $ty),*) $(-> $ret)? $body
        }
        $crate::abi::in_all_orders!(@ [$($names)*] $(#[$doc])* ($($arg: $ty),*) ($(-> $ret)?) $body);
    };
}

pub(crate) use {api, in_all_orders, versioned};

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
    pub fn of(address: u64) -> Self {
        Out(address as *mut T)
    }

    /// Writes the first bytes of the answer, as many as there is room for.
    pub fn set_start(self, value: T, room: usize) -> Result {
        let to = self.check()?;
        let from = (&raw const value).cast::<u8>();
        // SAFETY: not null; the caller of the C function promises that there is so much room.
        unsafe { std::ptr::copy_nonoverlapping(from, to.0.cast::<u8>(), room.min(size_of::<T>())) };
        Ok(())
    }

    /// Null is an invalid argument.
    pub fn check(self) -> Result<Self> {
        if self.0.is_null() { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(self) }
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes the answer.
    pub fn set(self, value: T) -> Result {
        let to = self.check()?;
        // SAFETY: not null; the caller of the C function promises that it points to room for a `T`.
        unsafe { to.0.write_unaligned(value) };
        Ok(())
    }

    /// Writes one answer of several.
    pub fn set_at(self, index: usize, value: T) -> Result {
        Out(self.check()?.0.wrapping_add(index)).set(value)
    }

    /// What is there now.
    pub fn get(self) -> Result<T>
    where
        T: Copy,
    {
        In(self.0.cast_const()).get()
    }

    pub fn address(self) -> u64 {
        self.0 as u64
    }
}

/// A pointer that the function reads from.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// What is at an address.
    pub fn of(address: u64) -> Self {
        In(address as *const T)
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// What it points to; null is an invalid argument.
    pub fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: not null; the caller of the C function promises that it points to a `T`.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Several of them; null is an invalid argument unless there are none.
    pub fn list(self, count: usize) -> Result<Vec<T>> {
        (0..count).map(|i| In(if self.0.is_null() { self.0 } else { self.0.wrapping_add(i) }).get()).collect()
    }
}

/// A pointer to an answer whose type depends on what was asked.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Any(*mut c_void);

impl Any {
    pub fn check(self) -> Result<Self> {
        if self.0.is_null() { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(self) }
    }

    /// Writes the answer.
    pub fn set<T>(self, value: T) -> Result {
        Out(self.0.cast::<T>()).set(value)
    }

    /// Writes text into a field of `size` bytes, filled up with zeros.
    pub fn set_text(self, text: &str, size: usize) -> Result {
        let to = Out(self.check()?.0.cast::<u8>());
        let bytes = text.bytes().take(size - 1).chain(std::iter::repeat(0)).take(size);
        bytes.enumerate().try_for_each(|(i, b)| to.set_at(i, b))
    }

    /// Writes bytes.
    pub fn set_bytes(self, bytes: &[u8]) -> Result {
        let to = Out(self.check()?.0.cast::<u8>());
        bytes.iter().enumerate().try_for_each(|(i, b)| to.set_at(i, *b))
    }
}

/// A C string.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// Its text; null is an invalid argument.
    pub fn get(self) -> Result<String> {
        if self.0.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: not null; the caller of the C function promises that it ends in a zero.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// A pointer that the runtime hands back to the program's own functions, and does not look into.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Data(pub *mut c_void);

// SAFETY: the pointer is only handed back to the program, which knows from which threads that may happen.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

/// The program's answer to one step of an iteration: anything but success ends it.
pub fn go_on(status: Status) -> Result {
    if status == Status::SUCCESS { Ok(()) } else { Err(status) }
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        #[repr(transparent)]
        pub struct $name(pub u64);)*
    };
}

handles! {
    /// `hsa_agent_t`.
    Agent;
    /// `hsa_region_t` and `hsa_amd_memory_pool_t`.
    Pool;
    /// `hsa_isa_t`.
    Isa;
    /// `hsa_cache_t`.
    Cache;
    /// `hsa_wavefront_t`.
    Wavefront;
    /// `hsa_signal_t`.
    SignalHandle;
    /// `hsa_signal_group_t`.
    SignalGroup;
    /// `hsa_amd_vmem_alloc_handle_t`.
    VmemHandle;
    /// `hsa_code_object_reader_t`.
    Reader;
    /// `hsa_code_object_t`.
    CodeObject;
    /// `hsa_code_symbol_t`.
    CodeSymbol;
    /// `hsa_executable_t`.
    ExecutableHandle;
    /// `hsa_executable_symbol_t`.
    SymbolHandle;
    /// `hsa_loaded_code_object_t`.
    LoadedHandle;
}

/// Copies memory of the program; false when some of it is not there.
pub fn copy_host(to: u64, from: u64, size: usize) -> bool {
    let _present = Present::among_others();
    // SAFETY: the program promises that both ranges are its own or were allocated by the runtime. Waves may access
    // them at the same time, which the program has to prevent as with a GPU. A copy that is given up leaves nothing
    // behind but bytes.
    unsafe { wavemill_wave::host::guarded(|| std::ptr::copy(from as *const u8, to as *mut u8, size)) }.is_ok()
}

/// Reads or changes a word of the program's memory, which waves may access at the same time; none when it is not there.
pub fn word_at(address: u64, act: impl FnOnce(&AtomicU64) -> u64) -> Option<u64> {
    if address == 0 || !address.is_multiple_of(8) {
        return None;
    }
    let _present = Present::among_others();
    // SAFETY: aligned, not null, and the program promises that the word is its own or was allocated by the runtime. An
    // access that is given up leaves nothing behind.
    unsafe { wavemill_wave::host::guarded(|| act(&*(address as *const AtomicU64))) }.ok()
}

/// `hsa_amd_event_t` with its only kind of content.
#[repr(C)]
pub struct Event {
    /// What happened: 0, a memory fault.
    pub kind: u32,
    /// Whose it is.
    pub agent: Agent,
    /// The address.
    pub address: u64,
    /// Why, as bits.
    pub reasons: u32,
}

/// Told about events.
pub type Handler = extern "C" fn(*const Event, Data) -> Status;

/// Told when memory is freed.
pub type Deallocated = extern "C" fn(u64, Data);
