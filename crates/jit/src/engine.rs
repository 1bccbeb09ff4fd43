//! The engine: finds compiled blocks, compiles those that are new, and lets code and interpreter take turns.

use crate::arena::{Arena, Segment, forked};
use crate::block::memory::Window;
use crate::block::{self, BARRIER, ENDED, GO, Link, PREEMPTED, Part, Source};
use crate::host::Host;
use crate::live::{self, Flow, Needs};
use crate::strip::Setting;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use wavemill_isa::{Decoder, Target};
use wavemill_sem::address::Addressing;
use wavemill_wave::interp::Exec;
use wavemill_wave::interp::cache::{Cache, Made, PAGE, Page};
use wavemill_wave::program::{self, Block, Layout, Run};
use wavemill_wave::step::Next;
use wavemill_wave::{
    CodeStats, Engine, Event, Fault, FaultKind, GroupShared, Interp, Likeness, Memory, Simd, Turns, Wave,
    host, mode,
};

/// Compiles blocks on first use, or when they have been used some times ([`Jit::patient`]); what it does not compile, the
/// interpreter runs.
pub struct Jit {
    host: Host,
    interp: Interp,
    decoder: Decoder,
    cache: Cache<Compiled, Key, Codes>,
    arena: Arc<Arena>,
    /// A number that no other engine of the process has.
    id: u64,
    /// How often the interpreter runs a block first.
    runs: u32,
    /// Instructions compiled, and nanoseconds of CPU time that it took.
    compiled: [AtomicU64; 2],
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
    fn of(wave: &Wave) -> Key {
        Key { layout: Layout::of(wave), mode: wave.mode & MODES }
    }
}

/// A block, and its code once it has been compiled, if it can be.
struct Compiled {
    source: Box<Source>,
    flow: OnceLock<Flow>,
    /// What somebody reads behind it, once that has been asked of it or of a block that leads to it.
    behind: OnceLock<Needs>,
    code: OnceLock<Option<Code>>,
    /// How often the interpreter has run it.
    runs: AtomicU32,
    /// The wave that it last ran for had all lanes active.
    all_active: AtomicBool,
}

/// The code of a block, with parts that are compiled when they are needed.
struct Code {
    segment: Segment,
    /// Code knows their addresses.
    _parts: Vec<Arc<Part>>,
}

/// How often the interpreter runs a block before it is compiled: to compile an instruction costs as much as to run it some
/// hundred times, and much of what programs have runs but a few times.
const RUNS: u32 = 32;

/// The code of a page, by the dword that it is for. The segments are the blocks' own.
struct Codes(Box<[AtomicPtr<u8>]>);

impl Default for Codes {
    fn default() -> Codes {
        Codes((0..PAGE / 4).map(|_| AtomicPtr::default()).collect())
    }
}

/// What an engine and the interpreter's [`Exec`] share while code runs; [`Link`] is the part that code knows. A thread keeps it
/// from one turn to the next, for the windows on memory in it.
#[repr(C)]
struct Turn {
    link: Link,
    /// The wave whose turn it is.
    wave: *mut Wave,
    /// The wave in the interpreter's hands, once it has something to do.
    exec: Option<Exec<'static>>,
    /// The interpreter has had nothing to do for the wave yet.
    untaken: bool,
    /// The engine, for this turn.
    jit: *const Jit,
    /// The work-group and memory, for this turn.
    around: (*const GroupShared, *const Memory),
    /// How the interpreter stopped the wave.
    next: Next,
    /// It stopped within a block, of which the rest is still to run: turns end where blocks do.
    midway: bool,
    /// The state of memory that the windows are of ([`Memory::generation`]); 0 if they are for this turn only.
    generation: u64,
    /// The code that the last turn ended in, until the thread rests ([`Engine::rest`]), and whose it is.
    last: InUse,
    last_of: (u64, u64, Option<Key>),
}

/// The code that runs.
#[derive(Default)]
struct InUse {
    /// Its page, which keeps it alive.
    page: Option<Arc<Page<Compiled, Codes>>>,
    /// Where waves begin, if it is there, and what they must be like and where.
    start: Option<((Likeness, u64), *const u8)>,
}

/// Nanoseconds that this thread has run.
fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

thread_local! {
    static TURN: Cell<Option<Box<Turn>>> = const { Cell::new(None) };
}

impl Turn {
    fn new() -> Box<Turn> {
        let link = Link {
            sgprs: std::ptr::null_mut(),
            vgprs: std::ptr::null_mut(),
            table: std::ptr::null(),
            exit: std::ptr::null(),
            steps,
            find,
            part,
            budget: 0,
            lds: std::ptr::null_mut(),
            lds_bytes: 0,
            windows: [Window::default(); 2 * block::memory::WINDOWS],
        };
        Box::new(Turn {
            link,
            wave: std::ptr::null_mut(),
            exec: None,
            untaken: true,
            jit: std::ptr::null(),
            around: (std::ptr::null(), std::ptr::null()),
            next: Next::Go,
            midway: false,
            generation: 0,
            last: InUse::default(),
            last_of: (0, 0, None),
        })
    }

    /// Makes it that of a work-group's waves.
    fn begin(&mut self, jit: &Jit, group: &GroupShared, memory: &Memory) {
        self.jit = jit;
        self.around = (group, memory);
        self.link.exit = jit.exit;
        self.link.lds = group.lds.base();
        self.link.lds_bytes = group.lds.len().into();
    }

    /// Makes it that of a wave's turn.
    fn take(&mut self, wave: &mut Wave, memory: &Memory, budget: u64) {
        let generation = memory.generation();
        if self.generation != generation {
            self.link.windows.fill(Window::default());
            self.generation = generation;
        }
        self.link.sgprs = std::ptr::from_mut(wave).wrapping_byte_add(wavemill_wave::layout::SGPRS).cast();
        self.link.vgprs = wave.register_file();
        self.link.budget = i64::try_from(budget).unwrap_or(i64::MAX);
        (self.next, self.midway) = (Next::Go, false);
        (self.wave, self.untaken) = (wave, true);
    }

    fn wave(&mut self) -> &mut Wave {
        // SAFETY: set when the turn began, and alive until it ends. While code runs nobody else uses it.
        unsafe { &mut *self.wave }
    }

    /// The wave in the interpreter's hands.
    fn exec(&mut self) -> &mut Exec<'static> {
        // SAFETY: as above; who begins a turn takes the wave out of these hands before it ends.
        let (wave, jit, group, memory) =
            unsafe { (&mut *self.wave, &*self.jit, &*self.around.0, &*self.around.1) };
        let untaken = std::mem::take(&mut self.untaken);
        match &mut self.exec {
            Some(exec) => {
                if untaken {
                    exec.take(wave);
                }
                exec
            }
            none => none.insert(jit.interp.exec(wave, group, memory)),
        }
    }
}

type Enter = unsafe extern "sysv64" fn(*mut Link, *const u8) -> u32;

impl Jit {
    /// An engine for a target; none if the host has neither AVX-512 nor AVX2, or does not let programs write code.
    /// `WAVEMILL_SIMD=avx2` has code made of AVX2 where the host has both.
    pub fn new(target: Target) -> Option<Jit> {
        let host = Host::of(Simd::detect()).or_else(|| Host::of(Simd::available()[0]))?;
        Jit::made_of(host, Interp::new(target), target)
    }

    /// One for each kind of code that the host can run, for tests.
    pub fn all(target: Target) -> Vec<Jit> {
        Simd::available().into_iter().filter_map(|simd| Jit::with_simd(target, simd)).collect()
    }

    /// An engine whose code is made of what a back end of the interpreter is made of; none if the host lacks that, or it
    /// is one that there is no code for.
    pub fn with_simd(target: Target, simd: Simd) -> Option<Jit> {
        let host = Host::of(simd).filter(|_| Simd::available().contains(&simd))?;
        Jit::made_of(host, Interp::with_simd(target, simd), target)
    }

    /// What its code is made of.
    pub fn simd(&self) -> Simd {
        self.host.simd()
    }

    fn made_of(host: Host, interp: Interp, target: Target) -> Option<Jit> {
        let arena = Arena::new()?;
        let (code, exit) = block::entry();
        let entry = arena.place(&code)?;
        let exit = entry.address().wrapping_add(exit);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let decoder = Decoder::new(target);
        let compiled = Default::default();
        Some(Jit {
            host,
            interp,
            decoder,
            cache: Cache::default(),
            arena,
            id,
            runs: 0,
            compiled,
            entry,
            exit,
        })
    }

    /// The same, which leaves blocks to the interpreter until they have run some times.
    pub fn patient(target: Target) -> Option<Jit> {
        Jit::new(target).map(|jit| Jit { runs: RUNS, ..jit })
    }

    fn enter(&self) -> Enter {
        // SAFETY: `block::entry` wrote a function of this type there.
        unsafe { std::mem::transmute::<*const u8, Enter>(self.entry.address()) }
    }

    /// Decodes a block.
    fn decode(&self, memory: &Memory, pc: u64, key: Key) -> Compiled {
        let block = program::decode_block(&self.decoder, memory, pc, key.layout);
        let source = Box::new(Source { block, pc, mode: key.mode, needs: OnceLock::new() });
        let compiled = Compiled {
            source,
            flow: OnceLock::new(),
            behind: OnceLock::new(),
            code: OnceLock::new(),
            runs: AtomicU32::new(0),
            all_active: AtomicBool::new(true),
        };
        if key.layout.single() || key.mode & UNUSUAL != 0 {
            // The interpreter's for good.
            let _ = compiled.code.set(None);
        }
        compiled
    }

    /// The code at an address, if it is known already or can be had; else the block, for the interpreter.
    #[inline]
    fn code<'p>(
        &self,
        page: &'p Page<Compiled, Codes>,
        known: *const u8,
        turn: &mut Turn,
        memory: &Memory,
        (pc, key): (u64, Key),
    ) -> Result<*const u8, &'p Block> {
        if !known.is_null() {
            return Ok(known);
        }
        let compiled = self.block(page, memory, pc, key);
        let code = self.compiled(compiled, turn.wave(), page, (memory, key));
        code.map(|code| code.segment.address()).ok_or(&compiled.source.block)
    }

    /// The block at an address of a page.
    fn block<'p>(&self, page: &'p Page<Compiled, Codes>, memory: &Memory, pc: u64, key: Key) -> &'p Compiled {
        self.cache.block(page, pc, || {
            let made = self.decode(memory, pc, key);
            let block = &made.source.block;
            Made { bytes: block.bytes(), code: block.code(), block: made }
        })
    }

    /// What a block's instructions do to registers.
    fn flow<'c>(&self, compiled: &'c Compiled) -> &'c Flow {
        let Source { block, pc, .. } = &*compiled.source;
        let file = block.layout.allocation();
        compiled.flow.get_or_init(|| Flow::of(&block.insts, *pc, block.len, self.decoder.target(), file))
    }

    /// Finds what somebody reads behind a block's instructions, if nobody reads all.
    fn find_needs(&self, compiled: &Compiled, page: &Page<Compiled, Codes>, (memory, key): (&Memory, Key)) {
        let base = compiled.source.pc & !(PAGE - 1);
        if key.layout.forgets() {
            if compiled.behind.get().is_none() {
                let (behind, others) = live::behind(self.flow(compiled), |pc| {
                    let here = pc & !(PAGE - 1) == base && pc.is_multiple_of(4);
                    here.then(|| self.flow(self.block(page, memory, pc, key)))
                });
                // Another thread may have found the same.
                for (pc, behind) in others {
                    let _ = self.block(page, memory, pc, key).behind.set(behind);
                }
                let _ = compiled.behind.set(behind);
            }
            let behind = compiled.behind.get().copied().unwrap_or(Needs::ALL);
            let _ = compiled.source.needs.set(self.flow(compiled).within(behind));
        }
    }

    /// A block's code; none if the interpreter is to run it.
    fn compiled<'c>(
        &self,
        compiled: &'c Compiled,
        wave: &Wave,
        page: &Page<Compiled, Codes>,
        from: (&Memory, Key),
    ) -> Option<&'c Code> {
        if let Some(code) = compiled.code.get() {
            return code.as_ref();
        }
        compiled.all_active.store(wave.exec() == !0, Ordering::Relaxed);
        if compiled.runs.fetch_add(1, Ordering::Relaxed) < self.runs {
            return None;
        }
        let code = self.compile(compiled, wave, page, from);
        // Blocks that will soon have run as often: the host has to fetch the compiler from memory for each that comes later. Those
        // with buffers wait until it can be seen what kind of buffers they are.
        let soon = |other: &&Compiled| {
            let has_buffers = |other: &Compiled| {
                other.source.block.insts.iter().any(|i| matches!(i.addressing, Addressing::Buffer(_)))
            };
            other.code.get().is_none()
                && other.runs.load(Ordering::Relaxed) > self.runs / 2
                && !has_buffers(other)
        };
        for other in page.made().filter(soon) {
            self.compile(other, wave, page, from);
        }
        code
    }

    /// Compiles a block, which is one of a page's, if nobody else does.
    fn compile<'c>(
        &self,
        compiled: &'c Compiled,
        wave: &Wave,
        page: &Page<Compiled, Codes>,
        from: (&Memory, Key),
    ) -> Option<&'c Code> {
        let compile = || {
            let began = cpu_time();
            let source = &compiled.source;
            self.find_needs(compiled, page, from);
            let setting =
                Setting::of(wave, source.mode, &source.block.insts, self.host.lanes(), self.host.crosses());
            let setting = Setting { all_active: compiled.all_active.load(Ordering::Relaxed), ..setting };
            let (code, parts) = block::compile(source, &setting, self.host);
            let segment = self.place(&code)?;
            parts.iter().for_each(|part| part.settle(segment.address()));
            let at = (source.pc % PAGE / 4) as usize;
            page.shared.0[at].store(segment.address().cast_mut(), Ordering::Release);
            self.count(source.block.insts.len(), began);
            Some(Code { segment, _parts: parts })
        };
        compiled.code.get_or_init(compile).as_ref()
    }

    /// Puts code somewhere. If there is no room, what is not running makes some for others.
    fn place(&self, code: &[u8]) -> Option<Segment> {
        let segment = self.arena.place(code);
        if segment.is_none() {
            self.cache.clear();
        }
        segment
    }

    /// Counts instructions that have been compiled, and the time since then.
    fn count(&self, count: usize, began: u64) {
        let [instructions, nanoseconds] = &self.compiled;
        instructions.fetch_add(count as u64, Ordering::Relaxed);
        nanoseconds.fetch_add(cpu_time().saturating_sub(began), Ordering::Relaxed);
    }

    /// Finds the code at the wave's PC, or the block, for the interpreter.
    fn find<'p>(
        &self,
        turn: &mut Turn,
        in_use: &'p mut InUse,
        memory: &Memory,
    ) -> Result<Result<*const u8, &'p Block>, Event> {
        let (pc, key) = (turn.wave().pc, Key::of(turn.wave()));
        let of = (self.id, pc & !(PAGE - 1), Some(key));
        if turn.last_of != of || in_use.page.is_none() {
            let found = self.cache.page(memory, of.1, key);
            turn.link.table = found.shared.0.as_ptr().cast();
            turn.last_of = of;
            *in_use = InUse { page: Some(found), start: None };
        }
        let fetch = Event::Fault(Fault { kind: FaultKind::Fetch, pc, lanes: 0, address: pc });
        let Some(found) = in_use.page.as_ref().filter(|_| pc & 3 == 0) else { return Err(fetch) };
        let known = found.shared.0[(pc % PAGE / 4) as usize].load(Ordering::Acquire);
        Ok(self.code(found, known, turn, memory, (pc, key)))
    }

    /// Runs a wave until its turn ends.
    fn turn(&self, turn: &mut Turn, in_use: &mut InUse, memory: &Memory) -> Event {
        let wave = turn.wave();
        let mut begins = wave.likeness().map(|likeness| (likeness, wave.pc));
        let mut known = in_use.start.filter(|(of, _)| begins == Some(*of)).map(|(_, code)| code);
        loop {
            let found = match known.take() {
                Some(code) => Ok(code),
                None => match self.find(turn, in_use, memory) {
                    Ok(found) => found,
                    Err(event) => return event,
                },
            };
            let next = match found {
                Ok(code) => {
                    if let Some(begins) = begins.take() {
                        in_use.start = Some((begins, code));
                    }
                    // SAFETY: the code was made for this wave's layout and mode. It is alive, and so is all code that
                    // its page's table names, as the page is.
                    let how = unsafe { self.enter()(std::ptr::from_mut(turn).cast(), code) };
                    match how {
                        GO => Next::Go,
                        PREEMPTED => return Event::Preempted,
                        ENDED => return Event::End,
                        BARRIER => return Event::Barrier,
                        _ => std::mem::replace(&mut turn.next, Next::Go),
                    }
                }
                Err(block) => {
                    let pc = turn.wave().pc;
                    let next = turn.exec().block(pc, block);
                    turn.link.budget -= block.insts.len() as i64;
                    next
                }
            };
            begins = None;
            match next {
                Next::Go => {}
                Next::Stop(event) => return event,
                Next::Refetch => {
                    self.cache.revalidate();
                    *in_use = InUse::default();
                }
            }
            let midway = std::mem::take(&mut turn.midway);
            if turn.link.budget <= 0 && !midway {
                return Event::Preempted;
            }
        }
    }

    /// Runs waves, one after the other as long as they end or reach a barrier.
    fn turns(&self, waves: &mut [Wave], group: &GroupShared, memory: &Memory, budget: u64) -> Turns {
        let mut turns = Turns::default();
        let mut turn = TURN.take().unwrap_or_else(Turn::new);
        turn.begin(self, group, memory);
        let ours = turn.last_of.0 == self.id;
        let mut in_use = std::mem::take(&mut turn.last);
        if !ours || !in_use.page.as_ref().is_some_and(|page| self.cache.is_current(page)) {
            in_use = InUse::default();
        }
        let run = || {
            for wave in waves {
                let event = wave.begin_noted_run().unwrap_or_else(|| {
                    turn.take(wave, memory, budget);
                    self.turn(&mut turn, &mut in_use, memory)
                });
                if !turns.note(event) {
                    break;
                }
            }
        };
        // SAFETY: memory that may be gone is accessed by single instructions, in code or in the interpreter, which hold no
        // locks, and change nothing but the wave, which ends, and memory. What owns memory lives out here.
        if let Err(gone) = unsafe { host::guarded(run) } {
            turns.other = Some(turn.exec().gone(gone));
        }
        turn.exec = None;
        turn.last = in_use;
        TURN.set(Some(turn));
        turns
    }
}

/// Runs instructions in the interpreter, for code.
///
/// # Safety
/// The link must be a [`Turn`]'s, and the source one that lives.
unsafe extern "sysv64" fn steps(link: *mut Link, source: *const Source, which: u32) -> u32 {
    // SAFETY: the caller's promise; while code runs nobody else uses the turn.
    let (turn, source) = unsafe { (&mut *link.cast::<Turn>(), &*source) };
    let (first, count) = ((which & 0xffff) as usize, (which >> 16) as usize);
    (first..first + count).any(|at| step(turn, source, at)).into()
}

/// Runs an instruction in the interpreter; true if the wave does not go on with the next one.
fn step(turn: &mut Turn, source: &Source, at: usize) -> bool {
    let insts = &source.block.insts;
    let exec = turn.exec();
    let next = match exec.instruction(source.pc, &source.block, at) {
        None if at + 1 < insts.len()
            && matches!(insts[at].run, Run::Control(_))
            && Key::of(exec.wave()).mode != source.mode =>
        {
            // The rest of the block was compiled for another mode.
            let wave = exec.wave();
            insts[..=at].iter().for_each(|n| program::count(&mut wave.counters, n));
            wave.pc = source.pc.wrapping_add(insts[at + 1].offset as u64);
            (turn.next, turn.midway) = (Next::Go, true);
            turn.link.budget -= at as i64 + 1;
            return true;
        }
        None => return false,
        Some(next) => next,
    };
    turn.next = next;
    turn.link.budget -= insts.len() as i64;
    true
}

/// Looks for the allocation that has an address, for code.
///
/// # Safety
/// The link must be a [`Turn`]'s.
unsafe extern "sysv64" fn find(link: *mut Link, which: u32, address: u64) -> u32 {
    // SAFETY: the caller's promise; while code runs nobody else uses the turn.
    let turn = unsafe { &mut *link.cast::<Turn>() };
    let (window, bytes) = ((which & 0xff) as usize, u64::from(which >> 8));
    let Some((range, lasts)) = turn.exec().range(address, bytes) else { return 0 };
    if window >= block::memory::WINDOWS && !range.writable {
        return 0;
    }
    if !lasts {
        turn.generation = 0;
    }
    turn.link.windows[window] = Window::new(&range, address);
    1
}

/// Compiles a part of a block, for code; its code, or null.
///
/// # Safety
/// The link must be a [`Turn`]'s, the source one that lives, and the part its own.
unsafe extern "sysv64" fn part(link: *mut Link, part: *const Part, source: *const Source) -> *const u8 {
    // SAFETY: the caller's promise; the engine runs the turn.
    let (jit, part, source) = unsafe { (&*(*link.cast::<Turn>()).jit, &*part, &*source) };
    part.code(|| {
        let began = cpu_time();
        let segment = jit.place(&block::compile_part(part, source, jit.host))?;
        // Its instructions have been counted with their block.
        jit.count(0, began);
        Some(segment)
    })
}

impl Engine for Jit {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        // Somebody wants to see every instruction, or every access; or the code is another process's.
        if wave.single_steps() || wave.observer.is_some() || forked() {
            return self.interp.run(wave, group, memory, budget);
        }
        let turns = self.turns(std::slice::from_mut(wave), group, memory, budget);
        self.rest();
        let ended = if turns.at_barrier != 0 { Event::Barrier } else { Event::End };
        turns.other.unwrap_or(ended)
    }

    fn run_in_turn(&self, waves: &mut [Wave], group: &GroupShared, memory: &Memory, budget: u64) -> Turns {
        if forked() || waves.iter().any(|wave| wave.single_steps() || wave.observer.is_some()) {
            return self.interp.run_in_turn(waves, group, memory, budget);
        }
        self.turns(waves, group, memory, budget)
    }

    fn rest(&self) {
        // Code takes memory as long as anybody has it.
        if let Some(mut turn) = TURN.take() {
            turn.last = InUse::default();
            TURN.set(Some(turn));
        }
    }

    fn code_stats(&self) -> Option<CodeStats> {
        let [instructions, nanoseconds] = self.compiled.each_ref().map(|n| n.load(Ordering::Relaxed));
        Some(CodeStats { instructions, nanoseconds, bytes: self.arena.used() as u64 })
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
