//! What an instruction has accessed: access by access, or of all lanes together where they were told of so. Who can, looks at
//! lanes together; for others, they are taken apart.

use wavemill_sem::bus::Coherence;
use wavemill_sem::state::lanes as active;
use wavemill_wave::observe::{Access, Kind, Lanes, Space};

/// What all active lanes of an instruction have accessed, as much each.
#[derive(Clone, Copy)]
pub struct Together {
    /// Where.
    pub space: Space,
    /// What was done.
    pub kind: Kind,
    /// The instruction's coherence bits.
    pub coherence: Coherence,
    /// The lanes: there are some.
    pub exec: u64,
    /// Bytes of each.
    pub bytes: u32,
    /// The lowest address.
    pub first: u64,
    /// All 64 lanes, side by side.
    pub beside: bool,
    pc: u64,
    /// How far from the lowest address each lane's is.
    past: [u32; 64],
}

impl Together {
    /// The address of a lane's first byte.
    #[inline]
    pub fn address(&self, lane: u32) -> u64 {
        let past = if self.beside { lane * self.bytes } else { self.past[lane as usize & 63] };
        self.first + u64::from(past)
    }
}

/// What an instruction has accessed.
#[derive(Default)]
pub struct Accesses {
    list: Vec<Access>,
    /// Those that were told of together, in parts: some instructions access two places for each lane.
    parts: Vec<Together>,
    /// Not all of them were told of together.
    pub apart: bool,
}

impl Accesses {
    /// Nothing.
    pub const fn new() -> Accesses {
        Accesses { list: Vec::new(), parts: Vec::new(), apart: false }
    }

    /// Another instruction begins.
    pub fn clear(&mut self) {
        self.list.clear();
        self.parts.clear();
        self.apart = false;
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.list.is_empty()
    }

    /// One more.
    pub fn add(&mut self, access: Access) {
        self.list();
        self.parts.clear();
        self.list.push(access);
        self.apart = true;
    }

    /// Those of all lanes.
    pub fn add_lanes(&mut self, lanes: &Lanes<'_>) {
        if lanes.exec == 0 {
            return;
        }
        let Lanes { space, kind, coherence, pc, exec, bytes, first, .. } = *lanes;
        let mut past = [0; 64];
        if let Some((offsets, least)) = lanes.offsets {
            past.iter_mut().zip(offsets).for_each(|(past, offset)| *past = offset.wrapping_sub(least));
        }
        let beside = lanes.offsets.is_none();
        let together = Together { space, kind, coherence, exec, bytes, first, beside, pc, past };
        // Whoever has looked at the list already sees what is new there, too.
        if self.apart || !self.list.is_empty() {
            self.list();
            take_apart(&together, &mut self.list);
        }
        if !self.apart {
            self.parts.push(together);
        }
    }

    /// All of them, if they are those of lanes together.
    pub fn together(&self) -> Option<&[Together]> {
        (!self.parts.is_empty()).then_some(&self.parts)
    }

    /// Each of them.
    pub fn list(&mut self) -> &[Access] {
        if self.list.is_empty() {
            self.parts.iter().for_each(|part| take_apart(part, &mut self.list));
        }
        &self.list
    }

    /// The first: where, what was done and the address.
    pub fn first(&self) -> Option<(Space, Kind, u64)> {
        match self.parts.first() {
            Some(t) => Some((t.space, t.kind, t.address(t.exec.trailing_zeros()))),
            None => self.list.first().map(|a| (a.space, a.kind, a.address)),
        }
    }

    /// Whether one of them is there.
    pub fn any_in(&self, space: Space) -> bool {
        self.parts.iter().any(|t| t.space == space) || self.list.iter().any(|a| a.space == space)
    }
}

/// Dwords, as where each lane is told of by itself; atomics are one access. No check looks at values.
fn take_apart(together: &Together, list: &mut Vec<Access>) {
    let Together { space, kind, coherence, pc, bytes, .. } = *together;
    let piece = if matches!(kind, Kind::Atomic(_)) { bytes } else { bytes.min(4) };
    for lane in active(together.exec) {
        let start = together.address(lane);
        for address in (start..start + u64::from(bytes)).step_by(piece as usize) {
            let lane = Some(lane as u8);
            let bytes = piece;
            list.push(Access { pc, space, address, bytes, kind, coherence, lane, value: 0, fault: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_taken_apart_where_that_is_wanted() {
        let mut offsets = [0; 64];
        (offsets[2], offsets[5]) = (108, 100);
        let lanes = Lanes {
            space: Space::Lds,
            kind: Kind::Read,
            coherence: Coherence::default(),
            pc: 4,
            exec: 0b10_0100,
            bytes: 8,
            first: 0x40,
            offsets: Some((&offsets, 100)),
        };
        let mut accesses = Accesses::new();
        accesses.add_lanes(&lanes);
        let places = |a: &mut Accesses| a.list().iter().map(|a| (a.lane, a.address)).collect::<Vec<_>>();
        let apart = [(Some(2), 0x48), (Some(2), 0x4c), (Some(5), 0x40), (Some(5), 0x44)];
        assert_eq!(accesses.first(), Some((Space::Lds, Kind::Read, 0x48)));
        assert_eq!(places(&mut accesses), apart);
        assert!(accesses.together().is_some_and(|parts| parts.len() == 1) && !accesses.apart);
        // A second part, with and without a look at the first.
        let second = Lanes { exec: 1 << 5, bytes: 4, first: 0, ..lanes };
        accesses.add_lanes(&second);
        assert!(accesses.together().is_some_and(|parts| parts.len() == 2));
        assert_eq!(places(&mut accesses), [&apart[..], &[(Some(5), 0)]].concat());
        accesses.clear();
        accesses.add_lanes(&lanes);
        accesses.add_lanes(&second);
        assert_eq!(places(&mut accesses), [&apart[..], &[(Some(5), 0)]].concat());
        accesses.clear();
        accesses.add_lanes(&lanes);
        let one = Access { lane: None, ..accesses.list()[0] };
        accesses.add(one);
        assert_eq!(places(&mut accesses), [&apart[..], &[(None, 0x48)]].concat());
        assert!(accesses.together().is_none());
        assert!(accesses.apart && accesses.any_in(Space::Lds) && !accesses.any_in(Space::Global));
    }
}
