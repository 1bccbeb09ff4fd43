//! Shared virtual memory: attributes of ranges of the program's own memory, among them which GPUs may access it.

use crate::heap::Gpus;
use crate::platform::Gpu;
use std::collections::BTreeMap;
use std::sync::Arc;
use wavemill_device::memory::MemoryError;

/// Attributes of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Attributes {
    /// GPUs that may access it, with and without faults: both are the same here, but programs can ask.
    pub accessible: Gpus,
    /// Those of them that shall access it in place.
    pub in_place: Gpus,
    /// Numbers of attributes and their values, as the program has set them.
    pub values: [Option<u64>; 8],
}

impl Attributes {
    /// Whether the program wants it coarse-grained (`HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED`).
    fn coarse(&self) -> bool {
        self.values[0] == Some(1)
    }
}

struct Piece {
    end: u64,
    attributes: Attributes,
}

/// All ranges that have attributes.
#[derive(Default)]
pub struct Svm {
    pieces: BTreeMap<u64, Piece>,
}

impl Svm {
    /// Changes the attributes of a range.
    ///
    /// # Safety
    /// The memory must stay valid as long as GPUs may access it.
    pub unsafe fn set(
        &mut self,
        gpus: &[Arc<Gpu>],
        start: u64,
        end: u64,
        change: impl Fn(&mut Attributes),
    ) -> Result<(), MemoryError> {
        self.split(gpus, start)?;
        self.split(gpus, end)?;
        // Holes get attributes, too.
        let mut at = start;
        while at < end {
            let next = self.pieces.range(at..end).next().map(|(&s, p)| (s, p.end));
            match next {
                Some((s, e)) if s == at => at = e,
                other => {
                    let hole = other.map_or(end, |(s, _)| s);
                    self.pieces.insert(at, Piece { end: hole, attributes: Attributes::default() });
                    at = hole;
                }
            }
        }
        for (&s, piece) in self.pieces.range_mut(start..end) {
            let old = piece.attributes;
            change(&mut piece.attributes);
            show(gpus, s, piece.end, &old, &piece.attributes)?;
        }
        Ok(())
    }

    /// The attributes of every part of a range.
    pub fn get(&self, start: u64, end: u64) -> Vec<Attributes> {
        let before = self.pieces.range(..start).next_back().filter(|(_, p)| p.end > start);
        let inside: Vec<(u64, &Piece)> =
            before.into_iter().chain(self.pieces.range(start..end)).map(|(&s, p)| (s, p)).collect();
        let covered: u64 = inside.iter().map(|(s, p)| p.end.min(end) - (*s).max(start)).sum();
        let mut list: Vec<Attributes> = inside.iter().map(|(_, p)| p.attributes).collect();
        if covered < end - start {
            list.push(Attributes::default());
        }
        list
    }

    /// Makes a range end at an address.
    fn split(&mut self, gpus: &[Arc<Gpu>], at: u64) -> Result<(), MemoryError> {
        let Some((&start, piece)) = self.pieces.range_mut(..at).next_back().filter(|(_, p)| p.end > at)
        else {
            return Ok(());
        };
        let (end, attributes) = (piece.end, piece.attributes);
        piece.end = at;
        self.pieces.insert(at, Piece { end, attributes });
        let nobody = Attributes::default();
        show(gpus, start, at, &nobody, &attributes)?;
        show(gpus, at, end, &nobody, &attributes)?;
        show(gpus, start, end, &attributes, &nobody)
    }
}

/// Changes which GPUs see a range.
fn show(
    gpus: &[Arc<Gpu>],
    start: u64,
    end: u64,
    old: &Attributes,
    new: &Attributes,
) -> Result<(), MemoryError> {
    for gpu in gpus {
        let memory = gpu.device.memory();
        let mut seen = old.accessible.contains(gpu.index);
        if seen && old.coarse() != new.coarse() {
            seen = !memory.unpin(start, end - start);
        }
        match (seen, new.accessible.contains(gpu.index)) {
            // Programs unmap such memory without a word, and the addresses come back as an allocation, then as memory with
            // attributes again: GPUs have lost sight of it.
            (seen, true) if !(seen && memory.is_pinned(start, end - start)) => {
                // SAFETY: whoever set the attributes has promised that the memory stays valid.
                unsafe { memory.pin(start, end - start, new.coarse()) }?
            }
            (true, false) => drop(memory.unpin(start, end - start)),
            _ => {}
        }
    }
    Ok(())
}
