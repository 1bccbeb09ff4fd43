//! The object being assembled: sections as lists of fragments, whose sizes and addresses are settled at the end.

use crate::symbol::{SymId, Symbols};

/// An object in the making.
#[derive(Debug, Default)]
pub struct Object {
    laid_out: bool,
}

impl Object {
    /// True once every fragment has its final offset.
    pub fn laid_out(&self) -> bool {
        self.laid_out
    }

    /// The distance `a - b` in bytes when it is certain by now.
    pub fn distance(&self, _symbols: &Symbols, _a: SymId, _b: SymId) -> Option<i64> {
        None
    }
}
