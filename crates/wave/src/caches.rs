//! The first-level caches between a work-group and memory, for those who hunt missing cache maintenance. Memory here is what
//! the L2 cache has, so that loads which hit a line may be stale: always, and in the same way in every run.
//!
//! A work-group has a vector and a scalar cache of its own, empty when it starts: it is the only one on its compute unit since
//! the acquire of its dispatch. What its stores leave in the scalar cache is written when it ends, as by its dispatch's
//! release. Both have 16 KiB in lines of 64 bytes (MI200's, as AMD's profiler documents them), and lose the line that has
//! been there for longest. The manual's 8.2.3, 9.1.10, 12.6 (S_DCACHE_*) and 12.13 (BUFFER_WBINVL1) say the rest:
//!
//! - A load hits what is there; with GLC it drops the line and reads memory.
//! - A vector store goes to memory. Lines all of whose bytes one instruction wrote stay, unless it has GLC; others go.
//! - A scalar store stays in its cache until S_DCACHE_WB, or goes to memory as well with GLC. S_DCACHE_INV drops what is not
//!   waiting to be written, S_DCACHE_DISCARD what is.
//! - Atomics are done in L2; their lines go.
//! - BUFFER_WBINVL1 and its kin drop all vector lines. BUFFER_WBL2 and BUFFER_INVL2, SLC and SCC are for L2: here, nothing.

use crate::mem::Memory;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wavemill_sem::bus::{Coherence, Kind, Space};

/// Bytes of a line.
const LINE: u64 = 64;
/// Lines of a cache.
const LINES: usize = 256;

/// A line: which bytes it has, and which of them memory does not have yet.
#[derive(Clone, Copy)]
struct Line {
    valid: u64,
    dirty: u64,
    bytes: [u8; LINE as usize],
}

const EMPTY: Line = Line { valid: 0, dirty: 0, bytes: [0; LINE as usize] };

impl Line {
    fn put(&mut self, at: u64, byte: u8) {
        self.bytes[at as usize] = byte;
        self.valid |= 1 << at;
    }

    /// Writes what memory does not have.
    fn write_back(&mut self, number: u64, memory: &Memory) {
        for at in (0..LINE).filter(|at| self.dirty >> at & 1 != 0) {
            // What was freed meanwhile is nobody's loss.
            memory.write(number * LINE + at, &self.bytes[at as usize..=at as usize]);
        }
        self.dirty = 0;
    }
}

/// A cache: lines by number, and their numbers, oldest first.
#[derive(Default)]
struct Cache {
    lines: BTreeMap<u64, Line>,
    order: VecDeque<u64>,
}

impl Cache {
    /// A line that is there, or becomes so.
    fn line(&mut self, number: u64, memory: &Memory) -> &mut Line {
        if !self.lines.contains_key(&number) {
            while self.order.len() >= LINES
                && let Some(oldest) = self.order.pop_front()
            {
                self.drop_line(oldest, memory);
            }
            self.order.push_back(number);
        }
        self.lines.entry(number).or_insert(EMPTY)
    }

    /// Drops a line; what waits to be written is.
    fn drop_line(&mut self, number: u64, memory: &Memory) {
        if let Some(mut line) = self.lines.remove(&number) {
            line.write_back(number, memory);
            self.order.retain(|&n| n != number);
        }
    }

    /// Drops everything but what waits to be written.
    fn invalidate(&mut self) {
        self.lines.values_mut().for_each(|line| line.valid = line.dirty);
        self.lines.retain(|_, line| line.valid != 0);
        let lines = &self.lines;
        self.order.retain(|n| lines.contains_key(n));
    }

    /// Fetches a line, as far as it lies in the allocation of an address. What the line has already, it keeps.
    fn fill(&mut self, address: u64, memory: &Memory) -> Option<&mut Line> {
        let number = address / LINE;
        let range = memory.find(address)?;
        let (from, to) = ((number * LINE).max(range.start), ((number + 1) * LINE).min(range.end));
        let mut bytes = [0; LINE as usize];
        let bytes = &mut bytes[..(to - from) as usize];
        if !memory.read(from, bytes) {
            return None;
        }
        let line = self.line(number, memory);
        for (at, &byte) in (from - number * LINE..).zip(bytes.iter()) {
            if line.valid >> at & 1 == 0 {
                line.put(at, byte);
            }
        }
        Some(line)
    }
}

/// The caches of a work-group.
#[derive(Default)]
pub struct Caches(Mutex<Both>);

#[derive(Default)]
struct Both {
    vector: Cache,
    scalar: Cache,
    /// What the vector store under way has written: lines and which of their bytes.
    combined: BTreeMap<u64, Line>,
}

fn lines(address: u64, bytes: u8) -> impl Iterator<Item = u64> {
    address / LINE..=address.saturating_add(bytes.max(1) as u64 - 1) / LINE
}

impl Caches {
    fn lock(&self) -> MutexGuard<'_, Both> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether accesses to a memory go through one of them.
    pub(crate) fn serve(space: Space) -> bool {
        matches!(space, Space::Global | Space::Scratch | Space::Scalar)
    }

    /// An instruction begins: lines that the last store wrote as a whole stay.
    pub(crate) fn settle(&self, memory: &Memory) {
        let both = &mut *self.lock();
        for (number, line) in std::mem::take(&mut both.combined) {
            if line.valid == !0 {
                *both.vector.line(number, memory) = line;
            }
        }
    }

    /// A load of bytes that may be accessed: what it finds in the cache. None: memory has them.
    pub(crate) fn read(
        &self,
        memory: &Memory,
        space: Space,
        address: u64,
        bytes: u8,
        how: Coherence,
    ) -> Option<u64> {
        let both = &mut *self.lock();
        let cache = if space == Space::Scalar { &mut both.scalar } else { &mut both.vector };
        if how.glc {
            lines(address, bytes).for_each(|number| cache.drop_line(number, memory));
            return None;
        }
        let mut value = 0;
        for i in 0..bytes as u64 {
            let at = address.wrapping_add(i);
            let has =
                |line: &Line| (line.valid >> (at % LINE) & 1 != 0).then(|| line.bytes[(at % LINE) as usize]);
            let hit = cache.lines.get(&(at / LINE)).and_then(has);
            // Beyond an allocation, where page bounds let loads go, nothing is kept.
            let byte = hit.or_else(|| cache.fill(at, memory).as_deref().and_then(has))?;
            value |= (byte as u64) << (8 * i);
        }
        Some(value)
    }

    /// A store of bytes that may be accessed. True: memory gets them, too.
    pub(crate) fn write(
        &self,
        memory: &Memory,
        space: Space,
        address: u64,
        bytes: u8,
        value: u64,
        how: Coherence,
    ) -> bool {
        let both = &mut *self.lock();
        let scalar = space == Space::Scalar;
        for i in 0..bytes as u64 {
            let at = address.wrapping_add(i);
            let (number, within, byte) = (at / LINE, at % LINE, (value >> (8 * i)) as u8);
            if scalar {
                let line = both.scalar.line(number, memory);
                line.put(within, byte);
                if how.glc {
                    line.dirty &= !(1 << within);
                } else {
                    line.dirty |= 1 << within;
                }
            } else {
                both.vector.drop_line(number, memory);
                if !how.glc {
                    both.combined.entry(number).or_insert(EMPTY).put(within, byte);
                }
            }
        }
        !scalar || how.glc
    }

    /// An atomic goes to memory.
    pub(crate) fn bypass(&self, memory: &Memory, space: Space, address: u64, bytes: u8) {
        let both = &mut *self.lock();
        let cache = if space == Space::Scalar { &mut both.scalar } else { &mut both.vector };
        lines(address, bytes).for_each(|number| cache.drop_line(number, memory));
    }

    /// S_DCACHE_INV and S_DCACHE_WB.
    pub(crate) fn maintain_scalar(&self, memory: &Memory, kind: Kind) {
        let scalar = &mut self.lock().scalar;
        match kind {
            Kind::Invalidate => scalar.invalidate(),
            _ => scalar.lines.iter_mut().for_each(|(&number, line)| line.write_back(number, memory)),
        }
    }

    /// S_DCACHE_DISCARD: lines from an address on are not written.
    pub(crate) fn discard(&self, address: u64, count: u8) {
        let scalar = &mut self.lock().scalar;
        for number in address / LINE..(address / LINE).saturating_add(count as u64) {
            if scalar.lines.get(&number).is_some_and(|line| line.dirty != 0) {
                scalar.lines.remove(&number);
                scalar.order.retain(|&n| n != number);
            }
        }
    }

    /// BUFFER_WBINVL1: all that the vector cache has is dropped.
    pub(crate) fn empty_vector(&self) {
        let both = &mut *self.lock();
        both.vector = Cache::default();
        both.combined.clear();
    }

    /// The work-group has ended: what waits to be written is.
    pub fn flush(&self, memory: &Memory) {
        self.maintain_scalar(memory, Kind::WriteBack);
    }
}
