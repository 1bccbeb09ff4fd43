//! Elements of buffers: what instructions that convert make of an element's dwords, and the way back. Written over
//! [`Word`], several of them at a time, for one lane or many; where elements are, and whether they are there, others know.

use crate::component::{Component, Number};
use crate::format::{Format, Layout, Select, Swizzle};
use crate::lanes::{Word, w};

/// How components stand in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parts {
    /// A register each.
    Words,
    /// 16 bits each, a register each.
    Halves,
    /// 16 bits each, two to a register.
    Pairs,
    /// 16 bits in the upper half of the register, whose lower half may stay.
    HighHalf {
        /// It does; else it becomes zero.
        keep: bool,
    },
}

/// What an instruction moves between registers and an element.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// The element's format. What has none loads zeros, and stores nothing.
    pub format: Option<Format>,
    /// The resource's selects. The instruction's own format has none: X000, XY00 … (manual 9.1.4).
    pub select: Option<Swizzle>,
    /// Two bits of alpha, 2_10_10_10's fourth component, are an unsigned number in signed formats, too.
    pub unsigned_alpha: bool,
    /// Components that are moved.
    pub count: usize,
    /// How they stand in registers.
    pub parts: Parts,
}

/// What a loaded value is made of.
enum Source {
    Constant(u32),
    Component(Component),
}

impl Element {
    /// Registers that have the components.
    #[inline]
    pub const fn registers(&self) -> usize {
        match self.parts {
            Parts::Words | Parts::Halves => self.count,
            Parts::Pairs => self.count.div_ceil(2),
            Parts::HighHalf { .. } => 1,
        }
    }

    /// An element that has nothing but so many dwords, a component each, in the order of registers.
    #[inline]
    #[must_use]
    pub const fn whole(count: usize, number: Number, parts: Parts) -> Element {
        let bits = match count {
            1 => [32, 0, 0, 0],
            2 => [32, 32, 0, 0],
            3 => [32, 32, 32, 0],
            _ => [32; 4],
        };
        let format = Some(Format { layout: Layout::Plain(bits), number });
        Element { format, select: None, unsigned_alpha: false, count, parts }
    }

    /// Its dwords, if it is no other than [`Element::whole`] makes of them.
    #[inline(always)]
    pub fn dwords(&self) -> Option<usize> {
        let whole = self.format.map_or(0, Format::whole) as usize;
        let ordered = self.select.is_none_or(|s| s.keeps(self.count));
        (whole != 0 && whole == self.count && ordered).then_some(whole)
    }

    /// The same with the first component as a whole register.
    #[must_use]
    pub const fn words(self) -> Element {
        Element { count: 1, parts: Parts::Words, ..self }
    }

    /// Whether registers hold an element's dwords as they are, all of them.
    #[inline(always)]
    pub fn is_unchanged(&self) -> bool {
        self.parts == Parts::Words && self.dwords().is_some()
    }

    /// What a value comes from. Out of range, nothing but a select of one is one.
    #[inline]
    fn source(&self, n: usize, inside: bool) -> Source {
        let Some(format) = self.format else { return Source::Constant(0) };
        let i = match self.select.map(|s| s.value(n, format.one())) {
            None => n,
            Some(Select::Constant(c)) => return Source::Constant(c),
            Some(Select::Component(i)) => i,
        };
        match format.component(i) {
            _ if !inside => Source::Constant(0),
            Some(c) if self.unsigned_alpha && c.width == 2 && i == 3 => {
                Source::Component(Component { number: c.number.unsigned(), ..c })
            }
            Some(c) => Source::Component(c),
            // The resource's selects work on a texel whose missing fourth component is one (manual 9.4.1).
            None if i == 3 && self.select.is_some() => Source::Constant(format.one()),
            None => Source::Constant(0),
        }
    }

    /// What registers hold after a load of these words, or of an element that is out of range. The first one's lower half may be
    /// needed as it was.
    #[inline(always)]
    pub fn load<W: Word, const N: usize>(&self, words: Option<&[[W; N]]>, registers: &mut [[W; N]]) {
        for n in 0..self.count {
            self.load_value(n, words, registers);
        }
    }

    /// [`Self::load`] of one value, those before it being loaded.
    #[inline(always)]
    pub fn load_value<W: Word, const N: usize>(
        &self,
        n: usize,
        words: Option<&[[W; N]]>,
        registers: &mut [[W; N]],
    ) {
        let register = match self.parts {
            Parts::Words | Parts::Halves => n,
            Parts::Pairs => n / 2,
            Parts::HighHalf { .. } => 0,
        };
        let Some(register) = registers.get_mut(register) else { return };
        let values = match (self.source(n, words.is_some()), words) {
            (Source::Component(c), Some(words)) => match words.get(c.word()) {
                Some(word) => c.read(*word),
                None => [w(0); N],
            },
            (Source::Constant(c), _) => [w(c); N],
            (Source::Component(_), None) => [w(0); N],
        };
        if self.parts == Parts::Words {
            *register = values;
            return;
        }
        // What has no format is zero, whatever number it would be.
        let halves = match self.format {
            Some(format) => format.number.to_d16(values),
            None => values,
        };
        let (mask, up) = match self.parts {
            Parts::Words | Parts::Halves => (0, 0),
            Parts::Pairs if n.is_multiple_of(2) => (0, 0),
            Parts::Pairs => (!0, 16),
            Parts::HighHalf { keep } => (if keep { 0xffff } else { 0 }, 16),
        };
        for i in 0..N {
            register[i] = register[i] & w(mask) | halves[i].shl(w(up));
        }
    }

    /// The words that a store of registers makes, in words that are zero: as many as there is room for.
    #[inline(always)]
    pub fn store<W: Word, const N: usize>(&self, registers: &[[W; N]], words: &mut [[W; N]]) {
        for i in 0..4 {
            self.store_component(i, registers, words);
        }
    }

    /// [`Self::store`] of one component.
    #[inline(always)]
    pub fn store_component<W: Word, const N: usize>(
        &self,
        i: usize,
        registers: &[[W; N]],
        words: &mut [[W; N]],
    ) {
        let Some(format) = self.format else { return };
        let Some(c) = format.component(i) else { return };
        let Some(word) = words.get_mut(c.word()) else { return };
        let n = self.select.map_or(Some(i), |s| s.stored(i)).filter(|n| *n < self.count);
        // What no value is stored to is zero in every format.
        let Some(n) = n else { return };
        let (register, shift) = match self.parts {
            Parts::Words | Parts::Halves => (n, 0),
            Parts::Pairs => (n / 2, 16 * (n as u32 % 2)),
            Parts::HighHalf { .. } => (0, 16),
        };
        let Some(register) = registers.get(register) else { return };
        let mut values = *register;
        if self.parts != Parts::Words {
            for value in &mut values {
                *value = value.shr(w(shift));
            }
            values = format.number.from_d16(values);
        }
        let bits = c.write(values);
        for i in 0..N {
            word[i] = word[i] | bits[i];
        }
    }
}
