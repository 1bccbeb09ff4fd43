//! Memory that a program never frees.

use crate::dynamic::Check;
use crate::report::Report;
use std::collections::BTreeMap;

/// What a program has allocated and not freed.
#[derive(Default)]
pub struct Ledger {
    live: BTreeMap<u64, (u64, u64)>,
    allocated: u64,
}

impl Ledger {
    /// Memory was allocated.
    pub fn allocated(&mut self, address: u64, bytes: u64) {
        self.live.insert(address, (bytes, self.allocated));
        self.allocated += 1;
    }

    /// Memory was freed.
    pub fn freed(&mut self, address: u64) {
        self.live.remove(&address);
    }

    /// What is left, oldest first.
    pub fn reports(&self) -> Vec<Report> {
        let mut left: Vec<(u64, u64, u64)> =
            self.live.iter().map(|(a, (bytes, n))| (*n, *a, *bytes)).collect();
        left.sort_unstable();
        let report = |(number, address, bytes): (u64, u64, u64)| Report {
            check: Check::Leak.name().into(),
            kind: "never-freed".into(),
            message: format!(
                "{bytes} bytes at {address:#x}, allocation {number} of the program, are never freed"
            ),
            mend: "free it before the program ends".into(),
            count: 1,
            ..Report::default()
        };
        left.into_iter().map(report).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_freed_is_told() {
        let mut ledger = Ledger::default();
        ledger.allocated(0x2000, 8);
        ledger.allocated(0x1000, 4);
        ledger.freed(0x2000);
        let reports = ledger.reports();
        assert_eq!(reports.len(), 1);
        assert!(reports[0].message.starts_with("4 bytes at 0x1000, allocation 1 "), "{}", reports[0].message);
    }
}
