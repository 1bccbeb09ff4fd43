//! From a mnemonic to its rows, and from a row to its place in the table and what goes with it.

use crate::basis::Basis;
use crate::row::Row;
use crate::{OPERATIONS, ROWS};
use std::sync::OnceLock;

/// The mnemonics padded to one length, which can be copied faster than strings of any.
static PADDED: [[u8; 32]; ROWS.len()] = {
    let mut table = [[b' '; 32]; ROWS.len()];
    let mut i = 0;
    while i < table.len() {
        let name = ROWS[i].name.as_bytes();
        let mut j = 0;
        while j < name.len() {
            table[i][j] = name[j];
            j += 1;
        }
        i += 1;
    }
    table
};

impl Row {
    /// What it does, in words.
    pub fn operation(&self) -> &'static str {
        OPERATIONS[self.op as usize]
    }

    /// What its exactness rests on, and the source where that is not the manual alone.
    pub fn basis(&self) -> (Basis, &'static str) {
        crate::r#gen::bases::BASES[self.op as usize]
    }

    /// The row's place in [`crate::ROWS`].
    pub fn index(&self) -> usize {
        (std::ptr::from_ref(self) as usize - ROWS.as_ptr() as usize) / size_of::<Row>()
    }

    /// The mnemonic with blanks after it.
    pub fn padded_name(&self) -> &'static [u8; 32] {
        &PADDED[self.index()]
    }
}

const SLOTS: usize = 4096;

/// An open-addressing hash of the mnemonics: a slot holds 1 + the index of the first row with a name, and rows that
/// share a name are chained in table order.
struct Names {
    slots: Box<[u16; SLOTS]>,
    next: Vec<u16>,
}

fn hash(name: &[u8]) -> usize {
    // Called once per line of assembly. The length and the eight bytes at either end tell most names apart; those that
    // differ only in the middle share a slot.
    let (head, tail) = match (name.first_chunk(), name.last_chunk()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => (name.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
    };
    let mix = |word: u64| word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let h = mix(head ^ name.len() as u64);
    (mix(h ^ h >> 32 ^ tail) >> 32) as usize % SLOTS
}

fn names() -> &'static Names {
    static NAMES: OnceLock<Names> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut n = Names { slots: Box::new([0; SLOTS]), next: vec![0; ROWS.len()] };
        for (i, row) in ROWS.iter().enumerate() {
            let mut at = hash(row.name.as_bytes());
            loop {
                match n.slots[at] {
                    0 => {
                        n.slots[at] = i as u16 + 1;
                        break;
                    }
                    first if ROWS[first as usize - 1].name == row.name => {
                        let mut last = first as usize - 1;
                        while n.next[last] != 0 {
                            last = n.next[last] as usize - 1;
                        }
                        n.next[last] = i as u16 + 1;
                        break;
                    }
                    _ => at = (at + 1) % SLOTS,
                }
            }
        }
        n
    })
}

/// The rows with a mnemonic: one for most, several where generations differ.
pub fn by_name(name: impl AsRef<[u8]>) -> impl Iterator<Item = &'static Row> {
    let name = name.as_ref();
    let table = names();
    let mut at = hash(name);
    let mut link = loop {
        match table.slots[at] {
            0 => break 0,
            i if ROWS[i as usize - 1].name.as_bytes() == name => break i,
            _ => at = (at + 1) % SLOTS,
        }
    };
    std::iter::from_fn(move || {
        let i = (link as usize).checked_sub(1)?;
        link = table.next[i];
        Some(&ROWS[i])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_under_its_name() {
        for row in &ROWS {
            assert!(by_name(row.name).any(|r| std::ptr::eq(r, row)), "{}", row.name);
        }
        assert_eq!(by_name("v_nonsense").count(), 0);
        assert_eq!(by_name("v_add_u32").count(), 2);
    }
}
