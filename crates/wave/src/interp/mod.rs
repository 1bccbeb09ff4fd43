//! The interpreter: decodes blocks once, then executes them instruction by instruction.
//!
//! [`kernels`] applies `sem`'s meanings to registers, a strip of vector instructions at a time; [`valu`] decides which of
//! them runs a strip; [`control`] has scalar and program control, [`smem`], [`lds`], [`vmem`], [`mod@format`]
//! and [`image`] memory, [`quick`] its simple cases, [`params`] interpolation, [`matrix`] MFMA.

mod control;
mod format;
mod hwreg;
mod image;
pub(crate) mod kernels;
mod lds;
mod matrix;
mod params;
pub(crate) mod quick;
mod registers;
mod smem;
mod steps;
mod valu;
mod vmem;

pub use control::since_start as clock;

use crate::engine::{Engine, Event, Fault, FaultKind};
use crate::group::GroupShared;
use crate::mem::Memory;
use crate::program::{self, Block, Inst, Layout, Run};
use crate::simd::Simd;
use crate::state::{Vgpr, Wave, mode};
use crate::strip::Task;
pub(crate) use image::data_registers;
use kernels::{Kernels, Temps, kernels};
use std::collections::HashMap;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use wavemill_isa::{Decoder, Target};
use wavemill_sem::Mode;

/// Bytes of code that are looked up together.
const PAGE: u64 = 4096;

/// Blocks by the dword of a page they start at.
struct Page {
    blocks: Box<[OnceLock<Box<Block>>]>,
}

/// Runs waves by decoding blocks once and executing them with 16-lane kernels.
pub struct Interp {
    decoder: Decoder,
    simd: Simd,
    kernels: &'static Kernels,
    pages: RwLock<HashMap<(u64, Layout), Arc<Page>>>,
}

/// How a block ended.
enum Next {
    /// At the address in the wave's PC.
    Go,
    /// With something the machine must know.
    Stop(Event),
    /// At the address in the wave's PC, with code that may have changed.
    Refetch,
}

/// A wave being run.
struct Exec<'a> {
    wave: &'a mut Wave,
    group: &'a GroupShared,
    memory: &'a Memory,
    kernels: &'static Kernels,
    /// Taken apart whenever MODE changes.
    mode: Mode,
    /// See [`Exec::ordinary`]; kept up to date with MODE.
    ordinary: bool,
    temps: Box<Temps>,
    /// Address of the running block.
    block: u64,
    /// Stores may not have reached memory: S_WAITCNT waits for them.
    stored: bool,
    /// What blocks are decoded for; kept up to date with MODE and STATUS.
    layout: Layout,
}

impl Interp {
    /// An interpreter for a target, with the widest SIMD kernels the host has (`WAVEMILL_SIMD` overrides).
    pub fn new(target: Target) -> Interp {
        Self::with_simd(target, Simd::detect())
    }

    /// An interpreter with kernels of one's choice, which the host must have ([`Simd::available`]); else portable ones.
    pub fn with_simd(target: Target, simd: Simd) -> Interp {
        let simd = if Simd::available().contains(&simd) { simd } else { Simd::Portable };
        Interp { decoder: Decoder::new(target), simd, kernels: kernels(simd), pages: RwLock::default() }
    }

    /// The target.
    pub fn target(&self) -> &Target {
        self.decoder.target()
    }

    /// The kernels in use.
    pub fn simd(&self) -> Simd {
        self.simd
    }

    fn page(&self, base: u64, layout: Layout) -> Arc<Page> {
        let key = (base, layout);
        if let Some(page) = self.pages.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return page.clone();
        }
        let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
        let page = pages
            .entry(key)
            .or_insert_with(|| Arc::new(Page { blocks: (0..PAGE / 4).map(|_| OnceLock::new()).collect() }));
        page.clone()
    }
}

impl Engine for Interp {
    fn run(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        if wave.observer.is_none() {
            return self.run_wave(wave, group, memory, budget);
        }
        wave.run_begins();
        let event = self.run_wave(wave, group, memory, budget);
        wave.run_ended(&event);
        event
    }

    fn invalidate(&self, start: u64, len: u64) {
        let (first, last) = (start & !(PAGE - 1), start.saturating_add(len));
        // A block may reach beyond its page, so the page before goes too.
        let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|&(base, _), _| base.saturating_add(PAGE) < first || base >= last);
    }
}

impl Interp {
    fn run_wave(&self, wave: &mut Wave, group: &GroupShared, memory: &Memory, budget: u64) -> Event {
        wave.turn = None;
        if let Some(event) = wave.attend() {
            return event;
        }
        let mode = Mode::new(wave.mode, wave.level);
        let mut layout = Layout::of(wave);
        let zero = Vgpr([0; 64]);
        let mut exec = Exec {
            mode,
            ordinary: false,
            temps: Box::new(Temps { src: [[zero; 2]; 3], dst: [zero; 2] }),
            kernels: self.kernels,
            block: wave.pc,
            layout,
            stored: true,
            wave,
            group,
            memory,
        };
        exec.mode_changed();
        let mut spent = 0;
        let mut base = !0;
        let mut page = None;
        loop {
            let pc = exec.wave.pc;
            if pc & !(PAGE - 1) != base || exec.layout != layout {
                base = pc & !(PAGE - 1);
                layout = exec.layout;
                page = Some(self.page(base, layout));
            }
            let Some(page) = page.as_ref() else { return exec.fault(FaultKind::Fetch, 0, pc, pc) };
            if pc & 3 != 0 {
                return exec.fault(FaultKind::Fetch, 0, pc, pc);
            }
            let block = page.blocks[(pc % PAGE / 4) as usize]
                .get_or_init(|| Box::new(program::decode_block(&self.decoder, memory, pc, layout)));
            let next = if layout.single() { exec.run_step(pc, block) } else { exec.run_block(pc, block) };
            match next {
                Next::Go => {}
                Next::Stop(event) => return event,
                Next::Refetch => {
                    self.pages.write().unwrap_or_else(PoisonError::into_inner).clear();
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

impl Exec<'_> {
    fn fault(&self, kind: FaultKind, lanes: u64, pc: u64, address: u64) -> Event {
        Event::Fault(Fault { kind, pc, lanes, address })
    }

    fn run_block(&mut self, pc: u64, block: &Block) -> Next {
        self.block = pc;
        let mut at = 0;
        while let Some(op) = block.lane_ops.list.get(at) {
            if op.task != Task::Leave {
                at = self.strip(block, at);
                continue;
            }
            let (i, inst) = (at, &block.insts[at]);
            at += 1;
            let stop = match inst.run {
                // These are the strips above.
                Run::Valu(_) | Run::Compare(_) => continue,
                Run::Salu => {
                    self.salu(inst);
                    continue;
                }
                Run::Nop => continue,
                Run::Wait => {
                    self.wait();
                    continue;
                }
                Run::Registers => {
                    self.registers(inst);
                    continue;
                }
                Run::Interpolate => {
                    self.interpolate(inst);
                    continue;
                }
                Run::Mfma => {
                    self.mfma(inst);
                    continue;
                }
                Run::ScalarMemory => self.scalar_memory(inst),
                Run::Lds => self.lds(inst),
                Run::Gws if self.gws(inst) => continue,
                Run::Gws => {
                    // The wave waits: the instruction has not run, and will be tried again.
                    for inst in &block.insts[..i] {
                        program::count(&mut self.wave.counters, inst);
                    }
                    self.wave.pc = self.pc(inst);
                    return Next::Stop(Event::Preempted);
                }
                Run::Memory => self.vector_memory(inst),
                Run::Formatted | Run::Image => {
                    self.stored = true;
                    if matches!(inst.run, Run::Image) { self.image(inst) } else { self.formatted(inst) }
                }
                Run::Control => {
                    self.wave.pc = self.pc(inst).wrapping_add(inst.len as u64);
                    match self.control(inst) {
                        Next::Stop(event) => Err(event),
                        // With another layout, the rest of the block means something else.
                        Next::Go if self.layout == block.layout => continue,
                        next => {
                            block.insts[..=i].iter().for_each(|n| program::count(&mut self.wave.counters, n));
                            return next;
                        }
                    }
                }
                Run::Illegal(word) => Err(self.fault(FaultKind::Illegal { word }, 0, self.pc(inst), 0)),
                Run::Unsupported => {
                    Err(self.fault(FaultKind::Unsupported { name: inst.row.name }, 0, self.pc(inst), 0))
                }
                Run::Fetch => Err(self.fault(FaultKind::Fetch, 0, self.pc(inst), self.pc(inst))),
            };
            if let Err(event) = stop {
                // Only what ran counts; a fault leaves the PC at the instruction.
                for inst in &block.insts[..i + !matches!(event, Event::Fault(_)) as usize] {
                    program::count(&mut self.wave.counters, inst);
                }
                if let Event::Fault(fault) = &event {
                    self.wave.pc = self.pc(inst);
                    if self.trap_fault(inst, fault) {
                        return Next::Go;
                    }
                }
                return Next::Stop(event);
            }
        }
        self.wave.counters.add(&block.counters);
        if !block.insts.last().is_some_and(|i| matches!(i.run, Run::Control)) {
            self.wave.pc = pc.wrapping_add(block.len as u64);
        }
        Next::Go
    }

    /// S_WAITCNT: what the wave has stored is in memory before it goes on, and what it will load is loaded after. Other
    /// counters than zero are too much to hope for, and waiting for all of them is allowed.
    fn wait(&mut self) {
        if self.stored {
            // Loads must not overtake stores: the one thing that x86 does not promise by itself.
            fence(Ordering::SeqCst);
            self.stored = false;
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
        self.layout = Layout::of(self.wave);
        self.mode = Mode::new(self.wave.mode, self.wave.level);
        self.ordinary = self.ordinary();
    }

    /// VSKIP: vector instructions do nothing (manual 3.5).
    fn skips_vector(&self) -> bool {
        self.wave.mode >> mode::VSKIP & 1 != 0
    }
}
