//! `hsa_amd_memory_async_batch_copy`: lists of copies, of one or many pieces each, that wait for a word of memory and change
//! another one when they are done.

use crate::abi::*;
use crate::amd::copy::{dependencies, when};
use crate::runtime::{Runtime, runtime, signal};
use crate::transfer::{copy, exchange, within};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wavemill_runtime::signal::{Signal, Wanted, look_again, now};

/// `HSA_AMD_MEMORY_COPY_OP_VERSION`.
const VERSION: u16 = 1;
/// Pieces of one operation.
const MOST: u16 = 1024;
/// How long to look away when the word that a copy waits for is not there yet.
const PATIENCE: Duration = Duration::from_micros(50);

/// `HSA_AMD_MEMORY_COPY_OP_*`.
mod kind {
    pub const LINEAR: u16 = 0;
    pub const BROADCAST: u16 = 1;
    pub const SWAP: u16 = 2;
    pub const INDIRECT_FROM: u16 = 3;
    pub const INDIRECT_TO: u16 = 4;
    pub const INDIRECT_BOTH: u16 = 5;
}

/// `hsa_amd_memory_copy_op_t`: what its unions hold, `kind` and `entries` say.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CopyOp {
    version: u16,
    kind: u16,
    entries: u16,
    traffic_class: u16,
    completion: SignalHandle,
    /// An address, or a list of them.
    from: u64,
    from_agent: Agent,
    /// An agent, or a list of them.
    to_agent: u64,
    to: u64,
    /// A size, or a list of them.
    size: u64,
    /// Of the other side of an exchange.
    other_size: u64,
    wait: Await,
    signal: Afterwards,
    reserved: u64,
}

/// The word that an operation waits for: a comparison (0: none) of the bits of a mask with a value.
#[derive(Clone, Copy)]
#[repr(C)]
struct Await {
    function: u16,
    scope: u16,
    reserved: u32,
    address: u64,
    value: u64,
    mask: u64,
}

impl Await {
    /// Whether the word is as it should be; none if it cannot be read.
    fn met(&self) -> Option<bool> {
        if self.function == 0 {
            return Some(true);
        }
        let (word, value) = (word(self.address, |w| w.load(Ordering::Acquire))? & self.mask, self.value);
        Some(match self.function {
            1 => word < value,
            2 => word <= value,
            3 => word == value,
            4 => word != value,
            5 => word >= value,
            _ => word > value,
        })
    }
}

/// What becomes of a word when an operation is done: nothing, it is written, added to or subtracted from.
#[derive(Clone, Copy)]
#[repr(C)]
struct Afterwards {
    operation: u16,
    scope: u16,
    reserved: u32,
    address: u64,
    data: u64,
}

impl Afterwards {
    fn perform(&self) -> bool {
        if self.operation == 0 {
            return true;
        }
        let done = word(self.address, |w| match self.operation {
            1 => w.swap(self.data, Ordering::AcqRel),
            2 => w.fetch_add(self.data, Ordering::AcqRel),
            _ => w.fetch_sub(self.data, Ordering::AcqRel),
        });
        look_again();
        done.is_some()
    }
}

/// Reads or changes a word of memory.
fn word(address: u64, act: impl FnOnce(&AtomicU64) -> u64) -> Option<u64> {
    word_at(runtime().ok()?.system.heap.host_address(address), act)
}

/// One piece of an operation.
#[derive(Clone, Copy)]
struct Piece {
    to: u64,
    from: u64,
    size: usize,
    exchange: bool,
    /// The addresses are in memory, at these.
    indirect: (bool, bool),
}

impl Piece {
    fn perform(&self) -> bool {
        let resolve = |address, indirect| match indirect {
            true => word(address, |w| w.load(Ordering::Acquire)),
            false => Some(address),
        };
        let (Some(to), Some(from)) = (resolve(self.to, self.indirect.0), resolve(self.from, self.indirect.1))
        else {
            return false;
        };
        let inside = |address| runtime().is_ok_and(|r| within(&r, address, self.size).is_ok());
        match to != 0 && from != 0 && inside(to) && inside(from) {
            true if self.exchange => exchange(to, from, self.size),
            true => copy(to, from, self.size),
            false => false,
        }
    }
}

impl CopyOp {
    /// What it copies; an operation that is not in order is an invalid argument.
    fn pieces(&self, runtime: &Runtime) -> Result<Vec<Piece>> {
        let valid = self.version == VERSION
            && self.kind <= kind::INDIRECT_BOTH
            && match self.kind {
                kind::LINEAR | kind::SWAP => self.entries <= MOST,
                kind::BROADCAST => (1..=MOST).contains(&self.entries),
                _ => self.entries == 0,
            }
            && self.wait.function <= 6
            && self.signal.operation <= 3
            && self.wait.reserved == 0
            && self.signal.reserved == 0
            && self.reserved == 0
            && (self.wait.function == 0 || word_address(self.wait.address))
            && (self.signal.operation == 0 || word_address(self.signal.address));
        if !valid || self.from == 0 || self.to == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        runtime.agent(self.from_agent)?;
        let many = self.entries != 0;
        let count = usize::from(self.entries);
        let numbers = |address: u64| In::<u64>::of(address).list(count);
        let agents = if many { numbers(self.to_agent)? } else { vec![self.to_agent] };
        agents.into_iter().try_for_each(|a| runtime.agent(Agent(a)).map(drop))?;
        let indirect = match self.kind {
            kind::INDIRECT_FROM => (false, true),
            kind::INDIRECT_TO => (true, false),
            kind::INDIRECT_BOTH => (true, true),
            _ => (false, false),
        };
        let exchange = self.kind == kind::SWAP;
        let piece = |to, from, size: u64| Piece { to, from, size: size as usize, exchange, indirect };
        let single = || piece(self.to, self.from, self.size);
        let pieces: Vec<Piece> = match (self.kind, many) {
            (kind::LINEAR | kind::SWAP, true) => {
                let (to, from, sizes) = (numbers(self.to)?, numbers(self.from)?, numbers(self.size)?);
                to.into_iter().zip(from).zip(sizes).map(|((to, from), size)| piece(to, from, size)).collect()
            }
            (kind::BROADCAST, true) => {
                numbers(self.to)?.into_iter().map(|to| piece(to, self.from, self.size)).collect()
            }
            // Both sides of an exchange are of one size.
            (kind::SWAP, false) if self.size == self.other_size && self.size != 0 => vec![single()],
            (kind::SWAP | kind::BROADCAST, false) => return Err(Status::ERROR_INVALID_ARGUMENT),
            (_, false) if self.other_size == 0 => vec![single()],
            _ => return Err(Status::ERROR_INVALID_ARGUMENT),
        };
        for piece in &pieces {
            let sides = [(piece.to, piece.indirect.0), (piece.from, piece.indirect.1)];
            for (address, indirect) in sides {
                if address == 0 || indirect && !word_address(address) {
                    return Err(Status::ERROR_INVALID_ARGUMENT);
                }
                within(runtime, address, if indirect { 8 } else { piece.size })?;
            }
        }
        Ok(pieces)
    }
}

/// A word lies where it is read and written whole.
fn word_address(address: u64) -> bool {
    address != 0 && address.is_multiple_of(8)
}

/// Does an operation when signals are 0 and its word is as it should be.
fn begin(runtime: &Runtime, op: CopyOp, pieces: Vec<Piece>, wanted: Vec<Wanted>, done: Signal) -> Result {
    let bytes = pieces.iter().fold(0usize, |n, p| n.saturating_add(p.size));
    let work = move || pieces.iter().all(Piece::perform) && op.signal.perform();
    if op.wait.function == 0 {
        return when(runtime, wanted, done, bytes, work);
    }
    let action = Box::new(move |_| {
        let start = now();
        match op.wait.met() {
            Some(false) => {
                std::thread::sleep(PATIENCE);
                return true;
            }
            Some(true) if work() => done.complete(start, now()),
            _ => done.fail(),
        }
        false
    });
    if runtime.system.copies.when(wanted, action) { Ok(()) } else { Err(Status::ERROR_OUT_OF_RESOURCES) }
}

api! {
    /// Does a list of copies when signals are 0; each takes one off the signal that they have in common.
    fn hsa_amd_memory_async_batch_copy(
        ops: In<CopyOp>,
        count: u32,
        signals: u32,
        dependent: In<SignalHandle>,
    ) -> Status {
        let runtime = runtime()?;
        if count == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let ops = ops.list(count as usize)?;
        let done = ops[0].completion;
        if ops.iter().any(|op| op.completion.0 != done.0) {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let done = signal(done)?;
        // Nothing is done unless all of it is in order.
        let all = ops.iter().map(|op| op.pieces(&runtime)).collect::<Result<Vec<_>>>()?;
        for (op, pieces) in ops.into_iter().zip(all) {
            begin(&runtime, op, pieces, dependencies(signals, dependent)?, done)?;
        }
        Ok(())
    }
}
