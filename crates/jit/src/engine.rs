//! The engine: finds compiled blocks, compiles those that are new, and lets code and interpreter take turns.

use crate::arena::{Arena, Segment};
use crate::block::{self, GO, Link, PREEMPTED, Source};
use crate::strip::Setting;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use wavemill_isa::{Decoder, Target};
use wavemill_sem::Mode;
use wavemill_wave::interp::Exec;
use wavemill_wave::interp::cache::{Cache, PAGE, Page};
use wavemill_wave::program::{self, Layout, Run};
use wavemill_wave::step::Next;
use wavemill_wave::{Engine, Event, Fault, FaultKind, GroupShared, Interp, Memory, Wave, host, mode};

/// Compiles blocks on first use; what it does not compile, the interpreter runs.
pub struct Jit {
    interp: Interp,
    decoder: Decoder,
    cache: Cache<Compiled, Key, Codes>,
    arena: Arc<Arena>,
    entry: Segment,
    exit: *const u8,
}

// SAFETY: `exit` points into `entry`, which nobody writes.
unsafe impl Send for Jit {}
// SAFETY: as above.
unsafe impl Sync for Jit {}

/// What code is compiled for: the wave's layout, and the bits of MODE that meanings look at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    layout: Layout,
    mode: u32,
}

/// Bits of MODE that meanings of vector instructions look at: rounding and denormals, and these.
const MODES: u32 = 0xff | mode::DX10_CLAMP | mode::IEEE | mode::FP16_OVFL | UNUSUAL;
/// While they are set, the interpreter runs all.
const UNUSUAL: u32 = mode::GPR_IDX_EN | mode::VSKIP;

impl Key {
    fn of(exec: &mut Exec<'_>) -> Key {
        Key { layout: exec.layout(), mode: exec.wave().mode & MODES }
    }
}

/// A block, and its code if it has any.
struct Compiled {
    source: Box<Source>,
    code: Option<Segment>,
}

/// The code of a page, by the dword that it is for. The segments are the blocks' own.
struct Codes(Box<[AtomicPtr<u8>]>);

impl Default for Codes {
    fn default() -> Codes {
        Codes((0..PAGE / 4).map(|_| AtomicPtr::default()).collect())
    }
}

/// What an engine and the interpreter's [`Exec`] share while code runs; [`Link`] is the part that code knows.
#[repr(C)]
struct Turn<'a, 'w> {
    link: Link,
    exec: &'a mut Exec<'w>,
    /// How the interpreter stopped the wave.
    next: Next,
}

type Enter = unsafe extern "sysv64" fn(*mut Link, *const u8) -> u32;

impl Jit {
    /// An engine for a target; none if the host lacks AVX-512, or does not let programs write code.
    pub fn new(target: Target) -> Option<Jit> {
        let able = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        if !able {
            return None;
        }
        let arena = Arena::new()?;
        let (code, exit) = block::entry();
        let entry = arena.place(&code)?;
        let exit = entry.address().wrapping_add(exit);
        let (interp, decoder) = (Interp::new(target), Decoder::new(target));
        Some(Jit { interp, decoder, cache: Cache::default(), arena, entry, exit })
    }

    fn enter(&self) -> Enter {
        // SAFETY: `block::entry` wrote a function of this type there.
        unsafe { std::mem::transmute::<*const u8, Enter>(self.entry.address()) }
    }

    /// Decodes and compiles.
    fn make(&self, memory: &Memory, pc: u64, key: Key, wave: &Wave, codes: &Codes) -> Compiled {
        let block = program::decode_block(&self.decoder, memory, pc, key.layout);
        let source = Box::new(Source { block, pc, mode: key.mode });
        if key.layout.single() || key.mode & UNUSUAL != 0 {
            return Compiled { source, code: None };
        }
        let setting = Setting { mode: Mode::new(key.mode, wave.level()), level: wave.level() };
        let code = self.arena.place(&block::compile(&source, &setting));
        match &code {
            Some(code) => {
                codes.0[(pc % PAGE / 4) as usize].store(code.address().cast_mut(), Ordering::Release);
            }
            // All of it is full: what is not running makes room.
            None => self.cache.clear(),
        }
        Compiled { source, code }
    }

    /// Runs a wave until its turn ends. `page` keeps the code alive.
    fn turn(
        &self,
        exec: &mut Exec<'_>,
        page: &mut Option<Arc<Page<Compiled, Codes>>>,
        memory: &Memory,
        budget: u64,
    ) -> Event {
        let wave = exec.wave();
        let link = Link {
            sgprs: std::ptr::from_mut(wave).wrapping_byte_add(wavemill_wave::layout::SGPRS).cast(),
            vgprs: wave.register_file(),
            table: std::ptr::null(),
            exit: self.exit,
            step,
            budget: i64::try_from(budget).unwrap_or(i64::MAX),
        };
        let mut turn = Turn { link, exec, next: Next::Go };
        let mut at = (!0, Key::of(turn.exec));
        loop {
            let (pc, key) = (turn.exec.wave().pc, Key::of(turn.exec));
            if (pc & !(PAGE - 1), key) != at || page.is_none() {
                at = (pc & !(PAGE - 1), key);
                *page = Some(self.cache.page(memory, at.0, key));
            }
            let fetch = Event::Fault(Fault { kind: FaultKind::Fetch, pc, lanes: 0, address: pc });
            let Some(page) = page.as_ref().filter(|_| pc & 3 == 0) else { return fetch };
            let wave = &*turn.exec.wave();
            let compiled = self.cache.block(page, pc, || {
                let made = self.make(memory, pc, key, wave, &page.shared);
                let bytes = made.source.block.bytes();
                (made, bytes)
            });
            let next = match &compiled.code {
                Some(code) => {
                    turn.link.table = page.shared.0.as_ptr().cast();
                    // SAFETY: the code was made for this wave's layout and mode. It is alive, and so is all code that
                    // its page's table names, as the page is.
                    let how = unsafe { self.enter()(&raw mut turn.link, code.address()) };
                    match how {
                        GO => Next::Go,
                        PREEMPTED => return Event::Preempted,
                        _ => std::mem::replace(&mut turn.next, Next::Go),
                    }
                }
                None => {
                    let block = &compiled.source.block;
                    let next = turn.exec.block(pc, block);
                    turn.link.budget -= block.insts.len() as i64;
                    next
                }
            };
            match next {
                Next::Go => {}
                Next::Stop(event) => return event,
                Next::Refetch => {
                    self.cache.clear();
                    at.0 = !0;
                }
            }
            if turn.link.budget <= 0 {
                return Event::Preempted;
            }
        }
    }
}

/// Runs an instruction in the interpreter, for code.
///
/// # Safety
/// The link must be a [`Turn`]'s, and the source one that lives.
unsafe extern "sysv64" fn step(link: *mut Link, source: *const Source, at: u32) -> u32 {
    // SAFETY: the caller's promise; while code runs nobody else uses the turn.
    let (turn, source) = unsafe { (&mut *link.cast::<Turn<'_, '_>>(), &*source) };
    let (block, at) = (&source.block, at as usize);
    let insts = &block.insts;
    let next = match turn.exec.instruction(source.pc, block, at) {
        None if at + 1 < insts.len()
            && matches!(insts[at].run, Run::Control(_))
            && Key::of(turn.exec).mode != source.mode =>
        {
            // The rest of the block was compiled for another mode.
            let wave = turn.exec.wave();
            insts[..=at].iter().for_each(|n| program::count(&mut wave.counters, n));
            wave.pc = source.pc.wrapping_add(insts[at + 1].offset as u64);
            Next::Go
        }
        None => return 0,
        Some(next) => next,
    };
    turn.next = next;
    turn.link.budget -= insts.len() as i64;
    1
}

impl Engine for Jit {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        // Somebody wants to see every instruction.
        if wave.single_steps() {
            return self.interp.run(wave, group, memory, budget);
        }
        if let Some(event) = wave.begin_run() {
            wave.end_run(&event);
            return event;
        }
        let mut exec = self.interp.exec(wave, group, memory);
        let mut page = None;
        // SAFETY: memory that may be gone is accessed by single instructions, in code or in the interpreter, which hold no
        // locks, and change nothing but the wave, which ends, and memory. What owns memory lives out here.
        let event = match unsafe { host::guarded(|| self.turn(&mut exec, &mut page, memory, budget)) } {
            Ok(event) => event,
            Err(gone) => exec.gone(gone),
        };
        wave.end_run(&event);
        event
    }

    fn invalidate(&self, start: u64, len: u64) {
        self.interp.invalidate(start, len);
        self.cache.invalidate(start, len);
    }

    fn revalidate(&self) {
        self.interp.revalidate();
        self.cache.revalidate();
    }
}
