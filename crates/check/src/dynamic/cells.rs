//! The undefined bits of memory that starts out undefined: LDS and private memory.

use super::registers::Origin;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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
        let number = dword / PAGE;
        let page = match number < NEAR {
            true => self.near.get(number as usize).and_then(Option::as_ref),
            false => self.far.get(&number),
        };
        page.map_or(!0, |page| page[(dword % PAGE) as usize])
    }

    /// Where they are from, if somebody has brought them here.
    pub fn origin(&self, dword: u64) -> Option<Origin> {
        self.origins.get(&dword).copied()
    }

    /// Some bits are written, of which some are undefined.
    pub fn set(&mut self, dword: u64, written: u32, undefined: u32, origin: Option<Origin>) {
        let number = dword / PAGE;
        let new = || Box::new([!0; PAGE as usize]);
        let page = match number < NEAR {
            true => {
                let number = number as usize;
                self.near.resize_with(self.near.len().max(number + 1), || None);
                self.near[number].get_or_insert_with(new)
            }
            false => self.far.entry(number).or_insert_with(new),
        };
        let cell = &mut page[(dword % PAGE) as usize];
        *cell = *cell & !written | undefined;
        if let Some(origin) = origin.filter(|_| undefined != 0) {
            self.origins.insert(dword, origin);
        }
    }
}
