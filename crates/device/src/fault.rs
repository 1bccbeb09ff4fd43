//! Fault reports: what a wave did, where, and what lies there.

use crate::device::Device;
use crate::kernel::Kernel;
use crate::launch::item_id;
use crate::lines;
use crate::loader::Loaded;
use crate::memory::{Allocations, Freed, Nearest};
use crate::operands;
pub use crate::operands::lanes;
use crate::schedule::{Cause, Outcome, Stop};
use crate::whereabouts;
use std::fmt;
use std::sync::Arc;
use wavemill_asm::disasm::Disassembler;
use wavemill_isa::Target;
use wavemill_object::demangle;
use wavemill_wave::{Fault, FaultKind};

/// An instruction in the listing around a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Its address.
    pub address: u64,
    /// Its text, or the bytes that are none.
    pub text: String,
}

/// A report of what stopped a dispatch.
#[derive(Clone, Debug)]
pub struct Report {
    /// One line: what happened.
    pub summary: String,
    /// A word for programs: `read`, `write`, `read-only`, `misaligned`, `lds`, `fetch`, `illegal`, `unsupported`,
    /// `trap`, `debugtrap`, `exception`, `halt`, `observer`, `replay`, `timeout`, `cancelled`,
    /// `interrupted`, `internal`.
    pub kind: &'static str,
    /// Kernel.
    pub kernel: String,
    /// Where and why.
    pub stop: Stop,
    /// Function and offset that the PC lies in.
    pub function: Option<(String, u64)>,
    /// Source file and line.
    pub source: Option<(String, u32)>,
    /// Those of the code before it in its function, where the compiler has given it none.
    pub near: Option<(String, u32)>,
    /// Lanes that did it, one bit each; 0 for scalar instructions.
    pub lanes: u64,
    /// Address that was accessed.
    pub address: Option<u64>,
    /// What is nearest to it.
    pub nearest: Option<Nearest>,
    /// Instructions around the PC.
    pub listing: Vec<Line>,
    /// The registers that the instruction names, and what they held.
    pub operands: Vec<String>,
    /// What was at the address and is freed.
    pub freed: Option<Freed>,
    /// What an address is that no allocation is near to.
    pub stray: Option<&'static str>,
    /// Where the waves were, if it was stopped from outside.
    pub waves: Vec<String>,
    /// What may have led to it.
    pub hint: Option<String>,
}

/// Instructions shown before and after the one at fault.
const AROUND: usize = 4;

impl Report {
    /// Looks everything up.
    pub(crate) fn new(device: &Device, object: &Arc<Loaded>, kernel: &Kernel, stop: &Stop) -> Report {
        let (summary, kind) = summary(&stop.cause);
        let (lanes, address) = match &stop.cause {
            Cause::Fault(f) => (f.lanes, accesses_memory(f.kind).then_some(f.address)),
            _ => (0, None),
        };
        // Device functions of another code object may have been called.
        let object = device.object_at(stop.pc).unwrap_or_else(|| object.clone());
        let function = object.function_at(stop.pc).map(|s| (s.name.clone(), stop.pc - s.address));
        let listing = listing(device.target(), device.memory(), &object, stop.pc);
        let text = listing.iter().find(|l| l.address == stop.pc).map_or("", |l| &l.text);
        let within = |a: u64| device.memory().nearest(a).filter(Nearest::is_inside).map(|n| n.to_string());
        let operands =
            stop.registers.as_ref().map(|r| operands::describe(text, r, lanes, within)).unwrap_or_default();
        let nearest = address.and_then(|a| device.memory().nearest(a));
        let (source, near) = source(&object, stop.pc);
        Report {
            operands,
            freed: address.and_then(|a| device.memory().freed_at(a)).filter(|_| is_outside(&stop.cause)),
            stray: address.and_then(|a| stray(a, nearest.as_ref())),
            summary,
            kind,
            kernel: kernel.name.clone(),
            stop: stop.clone(),
            source,
            near,
            listing,
            function,
            lanes,
            nearest,
            address,
            waves: Vec::new(),
            hint: None,
        }
    }
}

impl Report {
    /// Says where the waves are that a dispatch left behind when it was stopped from outside; a fault is one wave's.
    pub(crate) fn whereabouts(&mut self, device: &Device, object: &Loaded, groups: u64, outcome: &Outcome) {
        if !matches!(self.stop.cause, Cause::Timeout(_) | Cause::Interrupted) {
            return;
        }
        let place = |pc: u64| {
            let at = match (source(object, pc), object.function_at(pc)) {
                ((Some((file, line)), _), _) => format!("{file}:{line}"),
                ((None, near), Some(f)) => {
                    let name = demangle::short(&f.name).unwrap_or_else(|| f.name.clone());
                    let near = near.map(|(file, line)| format!(" near {file}:{line}")).unwrap_or_default();
                    format!("{name}+{:#x}{near}", pc - f.address)
                }
                (_, None) => format!("{pc:#x}"),
            };
            let listing = listing(device.target(), device.memory(), object, pc);
            match listing.iter().find(|l| l.address == pc) {
                Some(line) => format!("{at} ({})", line.text),
                None => at,
            }
        };
        self.waves = whereabouts::describe(&outcome.left, groups, outcome.begun, place);
    }
}

/// A source file and a line.
type SourceLine = (String, u32);

/// Where the instruction at an address is from, or else what is before it in its function.
fn source(object: &Loaded, pc: u64) -> (Option<SourceLine>, Option<SourceLine>) {
    let at = |address: u64| address.wrapping_sub(object.bias);
    let found = lines::find(&object.file, at(pc));
    let near = found.is_none().then(|| object.function_at(pc)).flatten();
    let near = near.and_then(|f| lines::before(&object.file, at(pc), at(f.address)));
    (found, near)
}

/// Addresses below this are null with an offset: no allocation lies there.
const NULL: u64 = 1 << 16;

/// Closer to an allocation than this, an address was meant for it.
const NEAR: i128 = 1 << 16;

/// Farther from an allocation than this, an address has nothing to do with it.
const FAR: i128 = 1 << 26;

/// What an address is that has nothing to do with any allocation.
fn stray(address: u64, nearest: Option<&Nearest>) -> Option<&'static str> {
    if address < NULL {
        return Some("null, or an offset from it");
    }
    let within = |reach: i128| {
        nearest.is_some_and(|n| (-reach..i128::from(n.allocation.len) + reach).contains(&n.offset))
    };
    if within(NEAR) {
        return None;
    }
    if lines::is_host(address) {
        return Some(
            "memory of the host program that the GPU does not know (hipMalloc, hipHostMalloc and hipHostRegister \
             make it known)",
        );
    }
    (!within(FAR)).then_some("far from everything that is allocated")
}

/// Whether a wave was stopped because nothing is where it looked.
fn is_outside(cause: &Cause) -> bool {
    let outside =
        |f: &Fault| matches!(f.kind, FaultKind::Read { .. } | FaultKind::Write { .. } | FaultKind::Gone);
    matches!(cause, Cause::Fault(f) if outside(f))
}

fn accesses_memory(kind: FaultKind) -> bool {
    !matches!(kind, FaultKind::Illegal { .. } | FaultKind::Unsupported { .. } | FaultKind::Descriptor { .. })
}

fn summary(cause: &Cause) -> (String, &'static str) {
    match cause {
        Cause::Fault(f) => describe(f),
        Cause::Debugtrap(argument) => {
            (format!("debugtrap({argument}) without a debugger (s_trap 1)"), "debugtrap")
        }
        Cause::Trap(id) => (trap(*id), "trap"),
        Cause::Exception(bits) => {
            (format!("exception that the kernel lets trap: {}", exceptions(*bits)), "exception")
        }
        Cause::Halt => ("the wave halted itself (s_sethalt), and nothing can resume it".into(), "halt"),
        Cause::Observer => ("an observer stopped the wave, and nothing can resume it".into(), "observer"),
        Cause::Replay(mismatch) => (format!("the run differs from its record: {mismatch}"), "replay"),
        // Of a program's time, which is not a dispatch's own.
        Cause::Timeout(t) if t.is_zero() => ("the program's time was over before it began".into(), "timeout"),
        Cause::Timeout(t) => {
            (format!("not done after {} s", (t.as_secs_f64() * 1e3).round() / 1e3), "timeout")
        }
        Cause::Cancelled => ("the dispatch was cancelled".into(), "cancelled"),
        Cause::Interrupted => ("interrupted (Ctrl-C)".into(), "interrupted"),
        Cause::Internal => ("Wavemill itself failed; this is a bug".into(), "internal"),
    }
}

/// What a fault is, and the word for it.
pub fn describe(f: &Fault) -> (String, &'static str) {
    match f.kind {
        FaultKind::Read { bytes } => {
            (format!("read of {bytes} bytes at {:#x}, outside every allocation", f.address), "read")
        }
        FaultKind::Write { bytes } => {
            (format!("write of {bytes} bytes at {:#x}, outside every allocation", f.address), "write")
        }
        FaultKind::ReadOnly { bytes } => {
            (format!("write of {bytes} bytes at {:#x}, which is read-only", f.address), "read-only")
        }
        FaultKind::Misaligned { bytes } => (
            format!("atomic access to {bytes} bytes at {:#x}, which is not a multiple of it", f.address),
            "misaligned",
        ),
        FaultKind::Lds { bytes } => {
            (format!("access to {bytes} bytes at {:#x}, beyond the work-group's LDS", f.address), "lds")
        }
        FaultKind::Gone => {
            (format!("access at {:#x}, where the host has no such page any more", f.address), "gone")
        }
        FaultKind::Fetch => (format!("instruction fetch at {:#x}, where no code is", f.pc), "fetch"),
        FaultKind::Illegal { word } => {
            (format!("illegal instruction: nothing is encoded as {word:#010x}"), "illegal")
        }
        FaultKind::Descriptor { what } => (format!("access to {what}"), "descriptor"),
        FaultKind::Unsupported { name } => {
            (format!("{name} is an instruction Wavemill cannot execute yet"), "unsupported")
        }
    }
}

/// What a trap is for by the trap handler ABI (AMDGPU guide).
fn trap(id: u8) -> String {
    let what = match id {
        0 => "a trap reserved for the hardware",
        2 => "the kernel called abort",
        3 => "debug trap without a debugger",
        7 => "a breakpoint without a debugger",
        8 | 0xfe | 0xff => "a trap for the debugger, without one",
        _ => "a trap without a handler",
    };
    format!("{what} (s_trap {id})")
}

/// The names of exceptions in TRAPSTS.
fn exceptions(bits: u32) -> String {
    const NAMES: [&str; 9] = [
        "invalid operation",
        "denormal operand",
        "division by zero",
        "overflow",
        "underflow",
        "inexact result",
        "integer division by zero",
        "address watch",
        "memory violation",
    ];
    let names = NAMES.iter().enumerate().filter(|(i, _)| bits >> i & 1 != 0);
    names.map(|(_, n)| *n).collect::<Vec<_>>().join(", ")
}

/// Instructions around `pc`, decoded from the start of its function so that none is cut in two.
pub fn listing(target: &Target, memory: &Allocations, object: &Loaded, pc: u64) -> Vec<Line> {
    let disassembler = Disassembler::new(*target);
    let Some(code) = memory.find(pc) else { return Vec::new() };
    let from = object.function_at(pc).map_or(pc, |s| s.address).max(code.start);
    let end = code.end().min(pc.saturating_add(256));
    let mut bytes = vec![0; (end - from) as usize];
    if !memory.memory().read(from, &mut bytes) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let mut at = 0;
    let mut after = 0;
    while at < bytes.len() && after <= AROUND {
        let address = from + at as u64;
        // Data in front of the instruction may have thrown the decoding off.
        if address < pc && address + 8 > pc && lines.last().is_some_and(|l: &Line| l.address + 8 <= pc) {
            let aligned = disassembler.decoder().decode_bytes(&bytes[at..]).map_or(4, |i| i.len as usize);
            if address + aligned as u64 > pc {
                at = (pc - from) as usize;
                continue;
            }
        }
        let mut text = Vec::new();
        let len = match disassembler.one(&bytes[at..], &mut text) {
            Some(inst) => (inst.len as usize).max(4),
            None => {
                let word = bytes[at..].iter().take(4).rev().fold(0u32, |w, b| w << 8 | u32::from(*b));
                text = format!(".long {word:#010x}").into_bytes();
                4
            }
        };
        after += usize::from(address >= pc);
        lines.push(Line { address, text: String::from_utf8_lossy(&text).trim().replace('\t', " ") });
        at += len;
    }
    let at = lines.iter().position(|l| l.address >= pc).unwrap_or(lines.len());
    lines.drain(..at.saturating_sub(AROUND));
    lines
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.stop;
        let text = |n: [u32; 3]| n.map(|n| n.to_string()).join(",");
        writeln!(f, "GPU fault: {}", self.summary)?;
        writeln!(f, "  kernel      {}", demangle::shown(&self.kernel))?;
        writeln!(f, "  work-group  {} (of {} work-items)", text(s.group), text(s.group_size))?;
        writeln!(f, "  wave        {} of {}, exec {:#018x}", s.wave, s.waves, s.exec)?;
        if self.lanes != 0 {
            let first = self.lanes.trailing_zeros();
            let item = item_id(s.group_size, s.wave * 64 + first);
            let many = if self.lanes.count_ones() > 1 { "s" } else { "" };
            writeln!(f, "  lane{many:<8}{} (work-item {})", lanes(self.lanes), text(item))?;
        }
        match (self.stray, &self.nearest) {
            _ if let Some(Freed { allocation: a, dispatch }) = &self.freed => {
                let address = self.address.unwrap_or(0);
                let offset = address - a.start;
                writeln!(
                    f,
                    "  address     {address:#x}: {offset} bytes into {} ({}, {} bytes at {:#x}), which was freed before \
                     dispatch {dispatch}",
                    a.name,
                    a.usage.name(),
                    a.len,
                    a.start
                )?;
            }
            (Some(what), _) => writeln!(f, "  address     {:#x}: {what}", self.address.unwrap_or(0))?,
            (None, Some(nearest)) => {
                writeln!(f, "  address     {:#x}: {nearest}", self.address.unwrap_or(0))?;
            }
            (None, None) => {}
        }
        write!(f, "  pc          {:#x}", s.pc)?;
        if let Some((name, offset)) = &self.function {
            write!(f, " <{}+{offset:#x}>", demangle::short(name).as_deref().unwrap_or(name))?;
        }
        if let Some((file, line)) = &self.source {
            write!(f, " at {file}:{line}")?;
        } else if let Some((file, line)) = &self.near {
            write!(f, " near {file}:{line}")?;
        }
        writeln!(f)?;
        for line in &self.listing {
            let mark = if line.address == s.pc { "=>" } else { "  " };
            writeln!(f, "  {mark} {:#x}  {}", line.address, line.text)?;
        }
        for operand in &self.operands {
            writeln!(f, "     {operand}")?;
        }
        for (i, line) in self.waves.iter().enumerate() {
            let title = if i == 0 { "waves" } else { "" };
            writeln!(f, "  {title:<12}{line}")?;
        }
        if let Some(hint) = &self.hint {
            writeln!(f, "  note: {hint}")?;
        }
        Ok(())
    }
}
