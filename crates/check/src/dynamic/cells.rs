//! The undefined bits of memory that starts out undefined: LDS and private memory.

use super::registers::Origin;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Dwords that are kept together.
const PAGE: u64 = 64;

/// Numbers of pages are no secrets, and few: one multiplication spreads them well enough.
#[derive(Clone, Copy, Default, Debug)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64((*b).into()));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A map by numbers.
pub type Numbered<T> = HashMap<u64, T, BuildHasherDefault<Spread>>;

/// Pages of LDS, of which there are few: they lie side by side.
const NEAR: u64 = 0x1_0000 / 4 / PAGE;

type Page = Box<[u32; PAGE as usize]>;

/// The pages of some dwords, and which of each page's they are.
fn parts(dwords: Range<u64>) -> impl Iterator<Item = (u64, Range<usize>)> {
    (dwords.start / PAGE..dwords.end.div_ceil(PAGE)).map(move |number| {
        let inside = |dword: u64| dword.clamp(number * PAGE, (number + 1) * PAGE) - number * PAGE;
        (number, inside(dwords.start) as usize..inside(dwords.end) as usize)
    })
}

/// Dwords that were written: their undefined bits, and where these are from, if that is not known from the place itself.
#[derive(Default)]
pub struct Cells {
    near: Vec<Option<Page>>,
    far: Numbered<Page>,
    origins: Numbered<Origin>,
}

impl Cells {
    /// The undefined bits of a dword.
    pub fn get(&self, dword: u64) -> u32 {
        self.page(dword / PAGE).map_or(!0, |page| page[(dword % PAGE) as usize])
    }

    fn page(&self, number: u64) -> Option<&Page> {
        match number < NEAR {
            true => self.near.get(number as usize).and_then(Option::as_ref),
            false => self.far.get(&number),
        }
    }

    /// Whether none of some dwords has any.
    pub fn is_known(&self, dwords: Range<u64>) -> bool {
        if dwords.end - dwords.start == 1 {
            return self.get(dwords.start) == 0;
        }
        parts(dwords).all(|(number, part)| {
            self.page(number).is_some_and(|page| page[part].iter().fold(0, |all, bits| all | bits) == 0)
        })
    }

    /// All bits of some dwords are written, and defined.
    pub fn define(&mut self, dwords: Range<u64>) {
        for (number, part) in parts(dwords) {
            self.page_mut(number)[part].fill(0);
        }
    }

    /// Where they are from, if somebody has brought them here.
    pub fn origin(&self, dword: u64) -> Option<Origin> {
        self.origins.get(&dword).copied()
    }

    fn page_mut(&mut self, number: u64) -> &mut Page {
        let new = || Box::new([!0; PAGE as usize]);
        match number < NEAR {
            true => {
                let number = number as usize;
                self.near.resize_with(self.near.len().max(number + 1), || None);
                self.near[number].get_or_insert_with(new)
            }
            false => self.far.entry(number).or_insert_with(new),
        }
    }

    /// Some bits are written, of which some are undefined.
    pub fn set(&mut self, dword: u64, written: u32, undefined: u32, origin: Option<Origin>) {
        let cell = &mut self.page_mut(dword / PAGE)[(dword % PAGE) as usize];
        *cell = *cell & !written | undefined;
        if let Some(origin) = origin.filter(|_| undefined != 0) {
            self.origins.insert(dword, origin);
        }
    }
}
