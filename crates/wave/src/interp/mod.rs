//! The interpreter: decodes blocks once, then executes them instruction by instruction.
//!
//! [`kernels`] applies `sem`'s meanings to registers, a strip of vector instructions at a time; [`valu`] decides which of
//! them runs a strip; [`quick`] has the simple cases of memory accesses, [`rows`] those of private memory and of LDS beside lanes' numbers, [`elements`] those that convert, [`images`] those of texels, [`exchange`] LDS's exchanges, [`cross`] permutes, [`matrix`] MFMA. Everything else is executed by
//! `sem` on the wave's registers and memory ([`Running`]).

pub mod cache;
mod cross;
mod elements;
mod exchange;
mod groups;
mod images;
pub(crate) mod kernels;
mod matrix;
mod places;
pub(crate) mod quick;
mod rows;
mod update;
mod valu;

use crate::engine::Engine;
use crate::event::{Event, Fault, FaultKind};
use crate::group::GroupShared;
use crate::host::{self, Gone};
use crate::mem::{Memory, Range};
use crate::program::{self, Block, Inst, Layout, Run};
use crate::running::Running;
use crate::simd::Simd;
use crate::state::Wave;
use crate::step::Next;
use crate::strip::Task;
use cache::{Cache, Made, PAGE, Page};
use kernels::{Kernels, Temps, kernels};
use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Arc;
use std::sync::atomic::{Ordering, compiler_fence, fence};
use wavemill_isa::{Decoder, Target};
use wavemill_sem::control::Control;
use wavemill_sem::execute::control::{self, Flow};
use wavemill_sem::memory::{Access, Formatted};
use wavemill_sem::mimg::Action;
use wavemill_sem::share::Share;
use wavemill_sem::smem::ScalarMemory;
use wavemill_sem::state::State;
use wavemill_sem::{Mode, bus, execute};

/// Runs waves by decoding blocks once and executing them with 16-lane kernels.
pub struct Interp {
    decoder: Decoder,
    simd: Simd,
    kernels: &'static Kernels,
    cache: Cache<Block>,
}

/// A wave being run, in the interpreter's hands. An engine that does some instructions itself gets one for a turn
/// ([`Interp::exec`]) and has the others done here, one by one ([`Exec::instruction`]) or a block at a time ([`Exec::block`]).
pub struct Exec<'a> {
    /// The wave as `sem`'s meanings see it.
    run: Running<'a>,
    kernels: &'static Kernels,
    /// Taken apart whenever MODE changes.
    mode: Mode,
    /// See [`Exec::ordinary`]; kept up to date with MODE.
    ordinary: bool,
    /// Written before it is read. A thread lends its own.
    temps: ManuallyDrop<Box<MaybeUninit<Temps>>>,
    /// Address of the running block.
    block: u64,
    /// What blocks are decoded for; kept up to date with MODE and STATUS.
    layout: Layout,
}

/// Registers that an instruction writes at most: a matrix of 32 rows.
const MOST_WRITTEN: u16 = 32;

thread_local! {
    /// Temporaries that no [`Exec`] of the thread uses.
    static TEMPS: Cell<Option<Box<MaybeUninit<Temps>>>> = const { Cell::new(None) };
}

impl Drop for Exec<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it after this. A thread that ends takes what it has lent with it.
        let temps = unsafe { ManuallyDrop::take(&mut self.temps) };
        let _ = TEMPS.try_with(|spare| spare.set(Some(temps)));
    }
}

impl Interp {
    /// An interpreter for a target, with the widest SIMD kernels the host has (`WAVEMILL_SIMD` overrides).
    pub fn new(target: Target) -> Interp {
        Self::with_simd(target, Simd::detect())
    }

    /// An interpreter with kernels of one's choice, which the host must have ([`Simd::available`]); else portable ones.
    pub fn with_simd(target: Target, simd: Simd) -> Interp {
        let simd = if Simd::available().contains(&simd) { simd } else { Simd::Portable };
        Interp { decoder: Decoder::new(target), simd, kernels: kernels(simd), cache: Cache::default() }
    }

    /// The target.
    pub fn target(&self) -> &Target {
        self.decoder.target()
    }

    /// The kernels in use.
    pub fn simd(&self) -> Simd {
        self.simd
    }
}

impl Engine for Interp {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        let event = match wave.begin_run() {
            Some(event) => event,
            None => self.run_wave(wave, group, memory, budget),
        };
        wave.end_run(&event);
        event
    }

    fn invalidate(&self, start: u64, len: u64) {
        self.cache.invalidate(start, len);
    }

    fn revalidate(&self) {
        self.cache.revalidate();
    }
}

impl Interp {
    /// Runs one instruction of a wave: another engine hands over what it does not do itself. The event is what stops the
    /// wave, if anything does; else it goes on at its PC.
    pub fn step(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory) -> Option<Event> {
        let pc = wave.pc;
        wave.touch_all();
        wave.accessing = pc;
        let mut exec = self.exec(wave, group, memory);
        let block = program::decode_one(&self.decoder, memory, pc, exec.layout);
        // SAFETY: as in `run_wave`.
        let next = match unsafe { host::guarded(|| exec.run_step(pc, &block)) } {
            Ok(next) => next,
            Err(gone) => return Some(exec.gone(gone)),
        };
        match next {
            Next::Go => None,
            Next::Refetch => {
                self.cache.revalidate();
                None
            }
            Next::Stop(event) => Some(event),
        }
    }

    /// Takes a wave into the interpreter's hands.
    pub fn exec<'a>(&self, wave: &'a mut Wave, group: &'a GroupShared, memory: &'a Memory) -> Exec<'a> {
        let mut exec = Exec {
            mode: Mode::new(wave.mode, wave.level),
            ordinary: false,
            temps: ManuallyDrop::new(TEMPS.take().unwrap_or_else(Box::new_uninit)),
            kernels: self.kernels,
            block: wave.pc,
            layout: Layout::of(wave),
            run: Running { wave, group, memory },
        };
        exec.ordinary = exec.ordinary();
        exec
    }

    fn run_wave(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        let mut exec = self.exec(wave, group, memory);
        let mut page = None;
        // SAFETY: memory that may be gone is accessed by single instructions, which hold no locks, and change nothing but
        // the wave, which ends, and memory. What owns memory lives out here.
        match unsafe { host::guarded(|| self.turn(&mut exec, &mut page, budget)) } {
            Ok(event) => event,
            Err(gone) => exec.gone(gone),
        }
    }

    /// Runs a wave until its turn ends.
    fn turn(&self, exec: &mut Exec<'_>, page: &mut Option<Arc<Page<Block>>>, budget: u64) -> Event {
        let memory = exec.run.memory;
        let mut layout = exec.layout;
        let mut spent = 0;
        let mut base = !0;
        loop {
            let pc = exec.run.wave.pc;
            if pc & !(PAGE - 1) != base || exec.layout != layout {
                base = pc & !(PAGE - 1);
                layout = exec.layout;
                *page = Some(self.cache.page(memory, base, layout));
            }
            let Some(page) = page.as_ref() else { return exec.fault(FaultKind::Fetch, 0, pc, pc) };
            if pc & 3 != 0 {
                return exec.fault(FaultKind::Fetch, 0, pc, pc);
            }
            let decode = || {
                let block = program::decode_block(&self.decoder, memory, pc, layout);
                Made { bytes: block.bytes(), code: block.code(), block }
            };
            let block = self.cache.block(page, pc, decode);
            let next = exec.block(pc, block);
            match next {
                Next::Go => {}
                Next::Stop(event) => return event,
                Next::Refetch => {
                    self.cache.revalidate();
                    base = !0;
                }
            }
            spent += block.insts.len() as u64;
            if spent >= budget {
                return Event::Preempted;
            }
        }
    }
}

impl<'a> Exec<'a> {
    /// Takes another wave of the work-group instead.
    pub fn take(&mut self, wave: &'a mut Wave) {
        self.block = wave.pc;
        let likeness = wave.likeness();
        let same = likeness.is_some() && likeness == self.run.wave.likeness();
        self.run.wave = wave;
        if !same {
            self.mode_changed();
        }
    }
}

impl Exec<'_> {
    fn fault(&self, kind: FaultKind, lanes: u64, pc: u64, address: u64) -> Event {
        Event::Fault(Fault { kind, pc, lanes, address })
    }

    /// Notes where the wave is before it accesses memory that may be gone.
    #[inline]
    fn accesses(&mut self, inst: &Inst) {
        let pc = self.pc(inst);
        // SAFETY: a field of the wave, which is ours. The compiler must have stored it when a signal comes.
        unsafe { (&raw mut self.run.wave.accessing).write_volatile(pc) };
        compiler_fence(Ordering::SeqCst);
    }

    /// The memory of an access is gone ([`host::guarded`]): the event that ends the wave.
    #[cold]
    pub fn gone(&mut self, gone: Gone) -> Event {
        let place = self.run.wave.accessing;
        self.run.wave.pc = place;
        let address = self.run.memory.seen_at(gone.address).unwrap_or(gone.address);
        self.fault(FaultKind::Gone, 0, place, address)
    }

    /// Runs a block of one instruction, with everything around it.
    fn run_step(&mut self, pc: u64, block: &Block) -> Next {
        let Some(inst) = block.insts.first() else { return Next::Go };
        let step = match self.run.begin_step(pc, inst) {
            Ok(step) => step,
            Err(event) => return Next::Stop(event),
        };
        let next = self.run_block(pc, block);
        let next = self.run.end_step(step, inst, next);
        self.mode_changed();
        next
    }

    /// Runs a block that was decoded at an address for the wave's layout as it is now.
    #[inline]
    pub fn block(&mut self, pc: u64, block: &Block) -> Next {
        self.run.wave.touch_all();
        if block.stepped { self.run_step(pc, block) } else { self.run_block(pc, block) }
    }

    fn run_block(&mut self, pc: u64, block: &Block) -> Next {
        self.block = pc;
        let mut at = 0;
        while let Some(op) = block.lane_ops.list.get(at) {
            if op.task != Task::Leave {
                at = self.strip(block, at, block.lane_ops.list.len());
            } else if op.scalar {
                execute::scalar(&block.insts[at], &mut self.run);
                at += 1;
            } else if let Some(next) = self.single(block, at) {
                return next;
            } else {
                at += 1;
            }
        }
        self.run.wave.counters.add(&block.counters);
        if !block.ends_with_control() {
            self.run.wave.pc = pc.wrapping_add(block.len as u64);
        }
        Next::Go
    }

    /// Runs one instruction of a block at an address. None: the wave goes on with the next one; else that block is over,
    /// and what ran of it is counted.
    pub fn instruction(&mut self, pc: u64, block: &Block, at: usize) -> Option<Next> {
        self.block = pc;
        let inst = &block.insts[at];
        match inst.run {
            // What these write, unless it is left to `execute`, follows the first register.
            Run::Memory(_) | Run::Formatted(_) | Run::Image(_) | Run::Share(_) | Run::Mfma => {
                self.run.wave.touch(inst.dst, MOST_WRITTEN);
            }
            _ => self.run.wave.touch_all(),
        }
        if block.lane_ops.list[at].task != Task::Leave {
            self.strip(block, at, at + 1);
            return None;
        }
        self.single(block, at)
    }

    /// Runs an instruction that is not for kernels.
    #[inline(always)] // a call, and its result in memory, cost scalar code a tenth
    fn single(&mut self, block: &Block, i: usize) -> Option<Next> {
        let inst = &block.insts[i];
        let flow = match inst.run {
            Run::Salu => {
                execute::scalar(inst, &mut self.run);
                return None;
            }
            Run::Nop => return None,
            Run::Wait => {
                self.wait();
                return None;
            }
            Run::Mfma => {
                self.mfma(inst);
                return None;
            }
            Run::Memory(access) if self.memory_quickly(inst, access) => return None,
            Run::Formatted(what) if self.formatted_quickly(inst, what) => return None,
            Run::Share(share) if self.share_quickly(inst, share) => return None,
            Run::Image(action) if self.image_quickly(inst, action) => return None,
            Run::Control(control) => {
                self.run.wave.pc = self.pc(inst).wrapping_add(inst.len as u64);
                let flow = control::execute(control, inst, &mut self.run);
                if !matches!(control, Control::Branch(_)) {
                    // Some of these write MODE and STATUS.
                    self.mode_changed();
                }
                Ok(flow)
            }
            _ => {
                // What counts instructions is an instruction's place in the program, not in a block.
                self.run.wave.uncounted = i as u64;
                let flow = self.execute(inst);
                self.run.wave.uncounted = 0;
                flow
            }
        };
        match flow {
            // With another layout, the rest of the block means something else.
            Ok(Flow::Next | Flow::Lanes) if self.layout == block.layout => None,
            flow => {
                block.insts[..i].iter().for_each(|n| program::count(&mut self.run.wave.counters, n));
                let pc = self.pc(inst);
                let next = self.run.finish(pc, inst, flow);
                self.mode_changed();
                Some(next)
            }
        }
    }

    /// The wave.
    pub fn wave(&mut self) -> &mut Wave {
        self.run.wave
    }

    /// The range that has all of so many bytes at an address, and whether it is an allocation, which stays as it is until
    /// [`Memory::generation`] changes.
    pub fn range(&mut self, address: u64, bytes: u64) -> Option<(Range, bool)> {
        let range = self.run.wave.cache.lookup(self.run.memory, address, bytes)?;
        let allocation = self.run.memory.find(address);
        Some((range, allocation.is_some_and(|a| a.start == range.start)))
    }

    /// Executes an instruction as `sem` has it.
    fn execute(&mut self, inst: &Inst) -> Result<Flow, bus::Fault> {
        self.accesses(inst);
        self.run.wave.touch_all();
        self.run.wave.pc = self.pc(inst).wrapping_add(inst.len as u64);
        self.run.wave.stored |= match inst.run {
            Run::Memory(access) => matches!(access, Access::Store { .. }),
            Run::ScalarMemory(what) => matches!(what, ScalarMemory::Store { .. }),
            Run::Formatted(_) | Run::Image(_) => true,
            _ => false,
        };
        execute::execute(inst, &mut self.run)
    }

    /// Accesses with one check for all lanes, as `quick` makes them for the active ones. False: not done.
    #[inline(always)]
    fn quickly(&mut self, inst: &Inst, stores: bool, quick: impl FnOnce(&mut Self, u64) -> bool) -> bool {
        let exec = self.run.wave.exec();
        if exec == 0 || self.run.skips_vector() {
            return false;
        }
        self.accesses(inst);
        let done = quick(self, exec);
        self.run.wave.stored |= done && stores;
        done
    }

    /// A load or store.
    #[inline(never)]
    fn memory_quickly(&mut self, inst: &Inst, access: Access) -> bool {
        let stores = matches!(access, Access::Store { .. });
        self.quickly(inst, stores, |exec, lanes| exec.quick_memory(inst, access, lanes))
    }

    /// Elements of buffers that are converted.
    #[inline(never)]
    fn formatted_quickly(&mut self, inst: &Inst, what: Formatted) -> bool {
        self.quickly(inst, what.store, |exec, lanes| exec.quick_elements(inst, what, lanes))
    }

    /// Images.
    #[inline(never)]
    fn image_quickly(&mut self, inst: &Inst, action: Action) -> bool {
        let stores = matches!(action, Action::Store(_) | Action::Atomic(_));
        self.quickly(inst, stores, |exec, lanes| exec.quick_image(inst, action, lanes))
    }

    /// LDS.
    #[inline(never)]
    fn share_quickly(&mut self, inst: &Inst, share: Share) -> bool {
        self.quickly(inst, false, |exec, lanes| exec.quick_share(inst, share, lanes))
    }

    /// S_WAITCNT: what the wave has stored is in memory before it goes on, and what it will load is loaded after. Other
    /// counters than zero are too much to hope for, and waiting for all of them is allowed.
    fn wait(&mut self) {
        if self.run.wave.stored {
            // Loads must not overtake stores: the one thing that x86 does not promise by itself.
            fence(Ordering::SeqCst);
            self.run.wave.stored = false;
        } else {
            fence(Ordering::AcqRel);
        }
    }

    /// The address of an instruction of the running block.
    fn pc(&self, inst: &Inst) -> u64 {
        self.block.wrapping_add(inst.offset as u64)
    }

    /// MODE or STATUS was written.
    fn mode_changed(&mut self) {
        self.layout = Layout::of(self.run.wave);
        self.mode = Mode::new(self.run.wave.mode, self.run.wave.level);
        self.ordinary = self.ordinary();
    }
}
