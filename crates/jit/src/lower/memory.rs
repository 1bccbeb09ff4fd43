//! Loads and stores of a strip as instructions on values.

use super::{Lowerer, Version, blank};
use crate::allocate::memory::Access as Known;
use crate::allocate::{Class, Home, Inst, Kind, NONE, V};
use crate::strip::memory::{Access, Action, LaneAddress};
use wavemill_sem::record::{Node, Value};

impl Lowerer<'_> {
    /// An access as instructions know it.
    fn known(&self, number: usize) -> Known {
        let access = &self.strip.accesses[number];
        let signed = matches!(access.action, Action::Load { signed: true });
        // The strip's first one has been noted when it begins.
        let others = self.strip.accesses.iter().filter(|a| !a.place.in_share()).count() > 1;
        let noted = access.place.in_share() || !others;
        let pc = (!noted).then(|| (self.pcs)(access.at) as u32);
        Known { number: number as u8, bytes: access.bytes, step: access.step(), signed, pc }
    }

    /// The mask of an access's lanes; none if they are all.
    fn lanes(&mut self, access: &Access) -> V {
        match self.strip.program.nodes[access.active.0 as usize] {
            Node::Constant(1, _) => NONE,
            _ => self.get(access.active)[0],
        }
    }

    /// Checks all accesses, and notes where they go.
    pub(super) fn verify(&mut self) {
        for (number, access) in self.strip.accesses.iter().enumerate() {
            let (low, high) = match access.place {
                LaneAddress::Memory { low, high, .. } => (self.get(low)[0], self.get(high)[0]),
                LaneAddress::Based { offset, .. }
                | LaneAddress::Share { offset, .. }
                | LaneAddress::Buffer { offset, .. }
                | LaneAddress::Private { offset, .. } => (self.get(offset)[0], NONE),
            };
            let src = [low, high, NONE, self.lanes(access)];
            let kind = Kind::Verify(self.known(number));
            self.push(Inst { src, ..blank(kind) });
        }
    }

    /// Does all loads, and keeps what they get.
    pub(super) fn load(&mut self) {
        for (number, access) in self.strip.accesses.iter().enumerate().filter(|(_, a)| !a.stores()) {
            let lanes = self.lanes(access);
            let src = [NONE, NONE, NONE, lanes];
            let known = self.known(number);
            if access.bytes > 4 {
                self.push(Inst { src, ..blank(Kind::Fetch(known)) });
                continue;
            }
            let v = self.made(Class::Vector, Inst { src, ..blank(Kind::Load(known)) });
            let kind = Kind::ToRow(number as u8, 0);
            self.push(Inst { src: [v, NONE, NONE, NONE], ..blank(kind) });
        }
    }

    /// A dword that an access has loaded.
    pub(super) fn loaded(&mut self, n: u16) -> V {
        let (number, dword) = (n as usize / 4, n as u8 % 4);
        if self.strip.ahead {
            return self.leaf(Class::Vector, Home::Row(number as u8, dword));
        }
        let access = &self.strip.accesses[number];
        let known = self.known(number);
        let src = [NONE, NONE, NONE, self.lanes(access)];
        if access.bytes <= 4 {
            return self.made(Class::Vector, Inst { src, ..blank(Kind::Load(known)) });
        }
        if self.fetched >> number & 1 == 0 {
            self.fetched |= 1 << number;
            self.push(Inst { src, ..blank(Kind::Fetch(known)) });
        }
        self.leaf(Class::Vector, Home::Row(number as u8, dword))
    }

    /// Stores what there is to store.
    pub(super) fn put(&mut self) {
        for (number, access) in self.strip.accesses.iter().enumerate() {
            let Action::Store(values) = access.action else { continue };
            let known = self.known(number);
            let lanes = self.lanes(access);
            let paired = |a: &Access| a.stores() && a.place.in_share();
            let same = |a: &Access| a.at == access.at && paired(a) && paired(access);
            let pair = number > 0 && same(&self.strip.accesses[number - 1]);
            let second = self.strip.accesses.get(number + 1).is_some_and(same);
            if access.bytes <= 4 && !pair && !second {
                let v = self.get(values[0])[0];
                self.push(Inst { src: [v, NONE, NONE, lanes], ..blank(Kind::Put(known)) });
                continue;
            }
            for (dword, &value) in values.iter().take(access.dwords()).enumerate() {
                let v = self.get(value)[0];
                let kind = Kind::ToRow(number as u8, dword as u8);
                self.push(Inst { src: [v, NONE, NONE, NONE], ..blank(kind) });
            }
            let kind = match (pair, second) {
                (false, true) => continue,
                (true, _) => Kind::PutPair(self.known(number - 1), known),
                _ => Kind::PutRows(known),
            };
            self.push(Inst { src: [NONE, NONE, NONE, lanes], ..blank(kind) });
        }
    }

    /// What must be computed for accesses: where they go, or what is stored.
    pub(super) fn access_values(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for access in &self.strip.accesses {
            all.push(access.active);
            match (self.version, access.place, access.action) {
                (Version::Places, LaneAddress::Memory { low, high, .. }, _) => all.extend([low, high]),
                (Version::Places, place, _) => all.extend(place.offset()),
                (Version::Hopeful | Version::Careful, _, Action::Store(values)) => {
                    all.extend(values.iter().take(access.dwords()));
                }
                _ => {}
            }
        }
        all
    }
}
