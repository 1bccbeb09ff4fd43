//! From a mnemonic to its rows.

use crate::ROWS;
use crate::row::Row;
use std::sync::OnceLock;

const SLOTS: usize = 4096;

/// An open-addressing hash of the mnemonics: a slot holds 1 + the index of the first row with a name, and rows that
/// share a name are chained in table order.
struct Names {
    slots: Box<[u16; SLOTS]>,
    next: Vec<u16>,
}

fn hash(name: &[u8]) -> usize {
    // FNV-1a: the names are short and this is called once per line.
    let h = name.iter().fold(0x811c_9dc5u32, |h, &b| (h ^ b as u32).wrapping_mul(0x0100_0193));
    (h ^ h >> 15) as usize % SLOTS
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
pub fn by_name(name: &str) -> impl Iterator<Item = &'static Row> {
    let table = names();
    let mut at = hash(name.as_bytes());
    let mut link = loop {
        match table.slots[at] {
            0 => break 0,
            i if ROWS[i as usize - 1].name == name => break i,
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
