//! Host pages that are not there. What waves access is checked against the allocations, but behind an allocation may be
//! memory of a program, or a file of another process, and both can take it away: the host then raises SIGSEGV or SIGBUS
//! in the thread that runs the wave. [`guarded`] turns that into an answer, as Wasmtime and QEMU do.

/// The host has no memory at this address, or none that may be accessed so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gone {
    /// The host address.
    pub address: u64,
}

pub use platform::guarded;

/// Copies memory that others may unmap at any time.
///
/// # Safety
/// `from` must be readable and `to` writable for `len` bytes, or not be mapped at all; they must not overlap.
pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize) -> Result<(), Gone> {
    // SAFETY: the caller's promise; a copy that is abandoned leaves nothing behind but bytes.
    unsafe { guarded(|| std::ptr::copy_nonoverlapping(from, to, len)) }
}

// Miri has no signals.
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
mod platform {
    use super::Gone;
    use std::any::Any;
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::ptr::null_mut;
    use std::sync::OnceLock;

    /// Where to go on when an access fails.
    #[repr(C)]
    struct Frame {
        stack: u64,
        address: u64,
        /// The stack pointer of whoever accessed it.
        deepest: u64,
    }

    thread_local! {
        static FRAME: Cell<*mut Frame> = const { Cell::new(null_mut()) };
    }

    /// What was done about each signal before.
    static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();
    const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

    /// Calls `call(data)` and returns 0, or 1 when [`land`] was reached instead. Callee-saved registers and the control
    /// words of SSE and x87 are what must survive (System V ABI, 3.2.1).
    #[unsafe(naked)]
    unsafe extern "C" fn enter(
        frame: *mut Frame,
        call: extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> c_int {
        std::arch::naked_asm!(
            "push rbp",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "push r15",
            "sub rsp, 8",
            "stmxcsr [rsp]",
            "fnstcw [rsp + 4]",
            "mov [rdi], rsp",
            "mov rdi, rdx",
            "call rsi",
            "xor eax, eax",
            "add rsp, 8",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
        )
    }

    /// Returns 1 from [`enter`] whose stack pointer is the present one.
    #[unsafe(naked)]
    unsafe extern "C" fn land() -> ! {
        std::arch::naked_asm!(
            "ldmxcsr [rsp]",
            "fldcw [rsp + 4]",
            "mov eax, 1",
            "add rsp, 8",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
        )
    }

    extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        let frame = FRAME.get();
        // SAFETY: the kernel hands valid pointers. Signals that a process sent have no positive code.
        let raised = unsafe { (*info).si_code } > 0;
        if raised && !frame.is_null() {
            // SAFETY: the frame is on the stack of the `guarded` that this thread is in. The context is the kernel's
            // and ours until we return; `land` finds the stack as `enter` left it.
            unsafe {
                (*frame).address = (*info).si_addr() as u64;
                let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
                (*frame).deepest = registers[libc::REG_RSP as usize] as u64;
                const DIRECTION_FLAG: i64 = 1 << 10;
                registers[libc::REG_RSP as usize] = (*frame).stack as i64;
                registers[libc::REG_RIP as usize] = land as *const () as i64;
                registers[libc::REG_EFL as usize] &= !DIRECTION_FLAG;
            }
            return;
        }
        let before = BEFORE.get().map(|b| b[usize::from(signal == libc::SIGBUS)]);
        // SAFETY: what was there before gets what the kernel gave us; a default action happens when the access is
        // tried again.
        unsafe {
            match before {
                Some(old) if old.sa_sigaction > libc::SIG_IGN && old.sa_flags & libc::SA_SIGINFO != 0 => {
                    let old: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                        std::mem::transmute(old.sa_sigaction);
                    old(signal, info, context);
                }
                Some(old) if old.sa_sigaction > libc::SIG_IGN => {
                    let old: extern "C" fn(c_int) = std::mem::transmute(old.sa_sigaction);
                    old(signal);
                }
                _ => _ = libc::signal(signal, libc::SIG_DFL),
            }
        }
    }

    /// Handles the signals from now on.
    fn install() {
        BEFORE.get_or_init(|| {
            SIGNALS.map(|signal| {
                // SAFETY: plain data, filled as sigaction(2) says; the handler is safe to run in any thread.
                unsafe {
                    let mut old: libc::sigaction = std::mem::zeroed();
                    libc::sigaction(signal, std::ptr::null(), &mut old);
                    let mut new: libc::sigaction = std::mem::zeroed();
                    new.sa_sigaction = on_signal as *const () as usize;
                    new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
                    libc::sigemptyset(&mut new.sa_mask);
                    libc::sigaction(signal, &new, null_mut());
                    old
                }
            })
        });
    }

    struct Call<F, R> {
        f: Option<F>,
        result: Option<Result<R, Box<dyn Any + Send>>>,
    }

    extern "C" fn call<F: FnOnce() -> R, R>(data: *mut c_void) {
        // SAFETY: `guarded` passes its `Call`, which nobody else uses meanwhile.
        let call = unsafe { &mut *data.cast::<Call<F, R>>() };
        // Nothing unwinds through `enter`.
        call.result = call.f.take().map(|f| catch_unwind(AssertUnwindSafe(f)));
    }

    /// Tells AddressSanitizer, if it is there, that the frames between two stack pointers are gone: whoever has their place next
    /// may use all of it. (What it has for functions that do not return knows of frames above them only.)
    #[cold]
    fn forget_frames(deepest: u64, stack: u64) {
        // SAFETY: the name is a string; the function that it names takes a place and a length, and touches notes of its own.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"__asan_unpoison_memory_region".as_ptr());
            if !found.is_null() {
                let tell: extern "C" fn(*const c_void, usize) = std::mem::transmute(found);
                tell(deepest as *const c_void, stack.saturating_sub(deepest) as usize);
            }
        }
    }

    /// Runs `f`. When memory that it accesses is not there, `f` is abandoned where it is and the answer is the address.
    ///
    /// # Safety
    /// `f` must hold no lock and leave nothing half done that others rely on wherever it accesses memory that may be gone:
    /// its frames are dropped without running destructors.
    pub unsafe fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, Gone> {
        install();
        let mut frame = Frame { stack: 0, address: 0, deepest: 0 };
        let mut all = Call { f: Some(f), result: None };
        let outer = FRAME.replace(&mut frame);
        fn entry<F: FnOnce() -> R, R>(_: &Call<F, R>) -> extern "C" fn(*mut c_void) {
            call::<F, R>
        }
        let entry = entry(&all);
        // SAFETY: `enter` calls `entry` with its `Call`, and comes back once, by itself or through `land`.
        let landed = unsafe { enter(&raw mut frame, entry, (&raw mut all).cast()) } != 0;
        FRAME.set(outer);
        if landed {
            crate::alone::given_up();
            forget_frames(frame.deepest, frame.stack);
        }
        match all.result.take() {
            Some(Ok(result)) if !landed => Ok(result),
            Some(Err(panic)) if !landed => resume_unwind(panic),
            _ => Err(Gone { address: frame.address }),
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
mod platform {
    use super::Gone;

    /// Runs `f`. On this host, memory that is not there ends the process.
    ///
    /// # Safety
    /// None here; elsewhere `f` may be abandoned.
    pub unsafe fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, Gone> {
        Ok(f())
    }
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    /// A page that nobody can access.
    fn nowhere() -> *mut u8 {
        // SAFETY: a new mapping wherever there is room.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(page, libc::MAP_FAILED);
        page.cast()
    }

    #[test]
    fn missing_pages_are_answers() {
        let page = nowhere();
        let mut out = [0u8; 8];
        for offset in [0, 100] {
            // SAFETY: not accessible, which is what is asked.
            let gone = unsafe { copy(page.add(offset), out.as_mut_ptr(), 1) };
            assert_eq!(gone, Err(Gone { address: page as u64 + offset as u64 }));
        }
        // SAFETY: as above.
        let write = unsafe { guarded(|| page.write_volatile(1)) };
        assert_eq!(write, Err(Gone { address: page as u64 }));
        // SAFETY: nothing is abandoned here.
        assert_eq!(unsafe { guarded(|| 7) }, Ok(7));
    }

    /// Some frames below the caller's, with something on each that a sanitizer guards.
    #[inline(never)]
    fn deep(depth: usize, last: &dyn Fn()) -> usize {
        let mut here = [depth as u8; 300];
        std::hint::black_box(&mut here);
        if depth == 0 {
            last();
        } else {
            deep(depth - 1, last);
        }
        here.iter().map(|b| usize::from(*b)).sum()
    }

    /// AddressSanitizer has nothing against those who come where frames were that were abandoned. What it compiles makes room
    /// for itself; the standard library does not, and hands the host names in its own frame.
    #[test]
    fn the_place_of_abandoned_frames_is_used_again() {
        let (page, name) = (nowhere(), "x".repeat(300));
        // SAFETY: closures without anything to drop.
        let gone = unsafe { guarded(|| deep(50, &|| _ = page.read_volatile())) };
        assert!(gone.is_err());
        deep(20, &|| assert!(std::fs::read_link(&name).is_err()));
    }

    #[test]
    fn guards_nest_and_panics_pass() {
        let page = nowhere();
        // SAFETY: closures without anything to drop.
        unsafe {
            let outer = guarded(|| {
                let inner = guarded(|| page.read_volatile());
                assert!(inner.is_err());
                page.add(8).read_volatile()
            });
            assert_eq!(outer, Err(Gone { address: page as u64 + 8 }));
        }
        // SAFETY: as above.
        let panicked = std::panic::catch_unwind(|| unsafe { guarded(|| panic!("passes")) });
        assert!(panicked.is_err());
    }
}
