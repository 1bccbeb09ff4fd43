//! What the host has allocated and freed: for accesses and frees that come too late.

use super::set::Check;
use crate::report::Report;
use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Freed ranges that are remembered.
const MOST: usize = 1 << 16;
/// Of so many the place is remembered at which they were freed.
const PLACES: u64 = 1024;

/// Memory that was freed.
struct Gone {
    bytes: u64,
    /// The how manyeth allocation it was.
    number: u64,
    /// How many dispatches had begun.
    dispatches: u64,
    /// The how manyeth that was freed, and where the program did so.
    order: u64,
    place: Option<Arc<Backtrace>>,
}

#[derive(Default)]
struct State {
    /// Live memory: size, and the number of the allocation.
    live: BTreeMap<u64, (u64, u64)>,
    freed: BTreeMap<u64, Gone>,
    allocated: u64,
    order: u64,
    dispatches: u64,
}

/// Allocations of the host, and what became of them.
#[derive(Default)]
pub struct Freed(Mutex<State>);

impl Freed {
    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Memory was allocated: what was there before is forgotten.
    pub fn allocated(&self, address: u64, bytes: u64) {
        self.with(|s| {
            let end = address.saturating_add(bytes);
            let covers: Vec<u64> =
                s.freed.range(..end).filter(|(a, f)| **a + f.bytes > address).map(|(a, _)| *a).collect();
            s.freed.retain(|a, _| !covers.contains(a));
            s.live.insert(address, (bytes, s.allocated));
            s.allocated += 1;
        });
    }

    /// Memory was freed, by who calls this: how much.
    pub fn freed(&self, address: u64) -> Option<u64> {
        let place = Some(Arc::new(Backtrace::force_capture()));
        self.with(|s| {
            let (bytes, number) = s.live.remove(&address)?;
            if s.freed.len() == MOST {
                s.freed.pop_first();
            }
            s.order += 1;
            let (order, dispatches) = (s.order, s.dispatches);
            s.freed.insert(address, Gone { bytes, number, dispatches, order, place });
            if order % PLACES == 0 {
                let old = s.freed.values_mut().filter(|g| g.order + PLACES < order);
                old.for_each(|g| g.place = None);
            }
            Some(bytes)
        })
    }

    /// A dispatch begins.
    pub fn dispatched(&self) {
        self.with(|s| s.dispatches += 1);
    }

    /// What is known of memory that was freed.
    pub fn find(&self, address: u64) -> Option<String> {
        self.with(|s| {
            let (start, gone) = s.freed.range(..=address).next_back()?;
            (address < start + gone.bytes).then(|| {
                let place = gone.place.as_ref().and_then(|p| caller(&p.to_string()));
                format!(
                    "{} bytes into allocation {} ({} bytes at {start:#x}), freed when {} dispatches had begun{}",
                    address - start,
                    gone.number,
                    gone.bytes,
                    gone.dispatches,
                    place.map_or(String::new(), |p| format!(", {p}"))
                )
            })
        })
    }

    /// The host wants to free what is not allocated: what is wrong with that.
    pub fn wrong(&self, address: u64) -> Report {
        let again = self.with(|s| s.freed.contains_key(&address));
        let inside = self.with(|s| {
            let (start, (bytes, number)) = s.live.range(..address).next_back()?;
            let past = address - start;
            (past < *bytes)
                .then(|| format!("{past} bytes into allocation {number} ({bytes} bytes at {start:#x})"))
        });
        let here = caller(&Backtrace::force_capture().to_string());
        let (kind, message, mend) = match again {
            true => ("double-free", "is freed a second time", "free each allocation once"),
            false => {
                ("wrong-free", "is freed, where no allocation begins", "free what an allocation has returned")
            }
        };
        let facts = [("address", inside), ("freed", self.find(address)), ("called", here)];
        Report {
            check: Check::Mem.name().into(),
            kind: kind.into(),
            message: format!("{address:#x} {message}"),
            facts: facts.into_iter().filter_map(|(name, fact)| Some((name.into(), fact?))).collect(),
            mend: mend.into(),
            count: 1,
            ..Report::default()
        }
    }
}

/// The first place of the program in a trace: what is Rust is ours; functions of libraries without lines will do if there is
/// nothing better.
fn caller(trace: &str) -> Option<String> {
    const INTERFACES: [&str; 3] = ["hsa_", "hip", "cl"];
    let mut symbol = "";
    let mut outside = false;
    let mut fallback = None;
    for line in trace.lines().map(str::trim) {
        if let Some(at) = line.strip_prefix("at ") {
            let mut parts = at.rsplitn(3, ':');
            let (_, number, file) = (parts.next()?, parts.next()?, parts.next()?);
            if outside && !file.ends_with(".rs") {
                return Some(format!("in {symbol} at {file}:{number}"));
            }
        } else if let Some((_, name)) = line.split_once(": ") {
            symbol = name;
            let interface = INTERFACES.iter().any(|i| name.starts_with(i));
            if outside && !interface && fallback.is_none() && name != "<unknown>" {
                fallback = Some(format!("in {name}"));
            }
            outside |= interface;
        }
    }
    fallback
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_remembered_until_it_is_used_again() {
        let all = Freed::default();
        all.allocated(0x1000, 64);
        all.dispatched();
        assert!(all.find(0x1000).is_none());
        all.freed(0x1000);
        let text = all.find(0x1010).unwrap();
        assert!(text.starts_with("16 bytes into allocation 0 (64 bytes at 0x1000), freed when 1"), "{text}");
        assert!(all.find(0x1040).is_none());
        all.allocated(0x1020, 4);
        assert!(all.find(0x1010).is_none());
    }

    #[test]
    fn wrong_frees_are_told_apart() {
        let all = Freed::default();
        all.allocated(0x1000, 64);
        let inside = all.wrong(0x1010);
        assert_eq!((inside.kind.as_str(), inside.facts[0].0.as_str()), ("wrong-free", "address"));
        assert!(inside.facts[0].1.starts_with("16 bytes into allocation 0"), "{inside:?}");
        all.freed(0x1000);
        let again = all.wrong(0x1000);
        assert_eq!(again.kind, "double-free");
        assert!(again.facts.iter().any(|(name, _)| name == "freed"), "{again:?}");
    }

    #[test]
    fn the_place_in_a_trace_is_the_programs() {
        let trace = "   0: wavemill_check::freed\n             at ./crates/check/src/dynamic/freed.rs:1:2\n   \
                     1: hsa_amd_memory_pool_free\n   2: hipFree\n   3: release(int)\n             at ./bad.cpp:30:5\n   \
                     4: main\n";
        assert_eq!(caller(trace).as_deref(), Some("in release(int) at ./bad.cpp:30"));
        let bare = trace.replace("             at ./bad.cpp:30:5\n", "");
        assert_eq!(caller(&bare).as_deref(), Some("in release(int)"));
        assert_eq!(caller(""), None);
    }
}
