//! What evaluating expressions may cost: symbols are set to expressions of symbols, and a file can have many of them.

use super::MAX_STEPS;
use crate::ids::SymId;
use std::cell::Cell;

/// Steps that cost nothing in [`Work`]'s sum; what people and compilers write takes fewer.
const FREE: u32 = 1_000;
/// Steps of an evaluation when one was given up: the assembly has failed and is to end soon.
const AFTER: u32 = 16;
/// Steps beyond the free ones that a whole assembly may take: a second or so.
const MAX_TOTAL: u64 = 20_000_000;

/// The steps of all evaluations of an assembly, and whether one had to be given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    spent: Cell<u64>,
    given_up: Cell<bool>,
    blamed: Cell<Option<SymId>>,
}

impl Work {
    /// Runs one evaluation with the steps it may take, and counts those it took.
    pub fn bounded<T>(&self, evaluate: impl FnOnce(&Cell<u32>) -> T) -> T {
        let most = if self.given_up.get() { AFTER } else { MAX_STEPS };
        let fuel = Cell::new(most);
        let result = evaluate(&fuel);
        let used = most - fuel.get();
        self.spent.set(self.spent.get() + u64::from(used.saturating_sub(FREE)));
        if self.spent.get() > MAX_TOTAL {
            self.give_up();
        }
        result
    }

    /// An evaluation went too deep or took too long: what it says cannot be trusted.
    #[cold]
    pub fn give_up(&self) {
        self.given_up.set(true);
    }

    /// The value of this symbol was looked at; the first one after an evaluation was given up is the innermost.
    pub fn blame(&self, id: SymId) {
        if self.given_up.get() && self.blamed.get().is_none() {
            self.blamed.set(Some(id));
        }
    }

    /// Was an evaluation given up, and in whose value?
    pub fn given_up(&self) -> Option<Option<SymId>> {
        self.given_up.get().then(|| self.blamed.get())
    }
}
