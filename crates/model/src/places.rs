//! Where memory instructions go: random operands for each family, with the text of the instruction and the places that the
//! manual's sums give.

use crate::access::{Access, Action, BYTES, DATA, Family, RESULT, SCALAR};
use wavemill_isa::Level;
use wavemill_testing::Random;

/// An offset in memory or LDS; none is out of range.
pub(crate) type Location = Option<usize>;

/// Where a lane's own place begins, in steps of this.
const SLOT: usize = 32;
/// Bytes of a lane's private memory.
const PRIVATE: usize = BYTES / 64;

/// An instruction with its operands.
pub(crate) struct Plan {
    pub text: String,
    pub sgprs: Vec<(u32, u32)>,
    pub m0: u32,
    pub exec: u64,
    /// v0 and v1.
    pub vgprs: [[u32; 64]; 2],
    /// Of each lane, dword by dword (a scalar instruction: one list).
    pub places: Vec<Vec<Location>>,
    /// Results are written, so many dwords.
    pub returns: bool,
    /// Results may be asked for.
    may_return: bool,
    pub out_dwords: usize,
    pub is_scalar: bool,
    /// What lanes add to the numbers of others, in bytes of four; or the pattern by which they find others.
    pub shift: u32,
}

fn range(file: char, first: usize, dwords: usize) -> String {
    match dwords {
        1 => format!("{file}{first}"),
        n => format!("{file}[{first}:{}]", first + n - 1),
    }
}

fn lanes_on(r: &mut Random) -> u64 {
    match r.below(5) {
        0 | 1 => !0,
        2 => 1 << r.below(64),
        _ => r.next() ^ r.next() << 17,
    }
}

/// Random places: anywhere for loads, lanes apart from one another for all else.
fn spots(r: &mut Random, access: &Access, level: Level) -> Vec<usize> {
    let bytes = access.bytes();
    let natural = bytes.next_power_of_two();
    let aligned = access.is_atomic() || access.action == Action::Conditional;
    let align = if level >= Level::Gfx900 && !aligned && r.one_in(2) { 1 } else { natural };
    let mut order: Vec<usize> = (0..64).collect();
    for i in (1..64).rev() {
        order.swap(i, r.below(i as u64 + 1) as usize);
    }
    // Consecutive ones are what compilers make, and what engines have a short way for.
    let consecutive = r.one_in(3);
    let start = SLOT * r.below(64) as usize;
    order
        .iter()
        .enumerate()
        .map(|(lane, &slot)| match access.writes() {
            _ if consecutive => start + lane * natural,
            true => slot * SLOT + r.below(((SLOT - bytes) / align + 1) as u64) as usize * align,
            false => r.below(((BYTES - bytes) / align) as u64) as usize * align,
        })
        .collect()
}

/// The dwords of a place, or the place alone when it is smaller or changed as a whole.
fn dwords(access: &Access, at: usize) -> Vec<Location> {
    match access.is_atomic() {
        true => vec![Some(at)],
        false => (0..access.bytes().div_ceil(4)).map(|i| Some(at + 4 * i)).collect(),
    }
}

impl Plan {
    pub(crate) fn new(r: &mut Random, access: &Access, level: Level, base: u64) -> Plan {
        match access.family {
            Family::Global | Family::Flat => Plan::flat(r, access, level, base),
            Family::Lds { pair: None } => Plan::lds(r, access, level),
            Family::Lds { pair: Some(step) } => Plan::pair(r, access, level, step),
            Family::Buffer => Plan::buffer(r, access, level, base),
            Family::Scalar { buffer, unit } => Plan::scalar(r, access, level, base, (buffer, unit)),
            Family::Scratch => Plan::scratch(r, access),
            Family::Numbered => Plan::numbered(r, access, level),
            Family::Apart => Plan::apart(r, access, level),
        }
    }

    fn empty(r: &mut Random, access: &Access, level: Level) -> Plan {
        // Sums of floats and halves in memory return nothing before gfx90a.
        let silent = access.name.ends_with("atomic_add_f32") || access.name.ends_with("atomic_pk_add_f16");
        Plan {
            may_return: access.is_atomic() && (!silent || level >= Level::Gfx90a),
            text: String::new(),
            sgprs: Vec::new(),
            m0: !0,
            exec: lanes_on(r),
            vgprs: [[0; 64]; 2],
            places: Vec::new(),
            returns: matches!(access.action, Action::Load { .. }),
            out_dwords: access.bytes().div_ceil(4),
            is_scalar: false,
            shift: 0,
        }
    }

    /// Destination and data around an address, as most families write them; `glc` comes at the end.
    fn spell(&mut self, r: &mut Random, access: &Access, address: &str, rest: &str) {
        let (name, data) = (access.name, range('v', DATA, access.operands()));
        let result = range('v', RESULT, self.out_dwords);
        self.text = match access.action {
            Action::Load { .. } => format!("{name} {result}, {address}{rest}"),
            Action::Store { .. } => format!("{name} {address}, {data}{rest}"),
            _ if self.may_return && r.one_in(2) => {
                self.returns = true;
                format!("{name} {result}, {address}, {data}{rest} glc")
            }
            _ => format!("{name} {address}, {data}{rest}"),
        };
    }

    /// FLAT and GLOBAL: a 64-bit address, or a scalar one with 32 bits of offset, and a constant from GFX9 on.
    fn flat(r: &mut Random, access: &Access, level: Level, base: u64) -> Plan {
        let mut plan = Plan::empty(r, access, level);
        let global = access.family == Family::Global;
        let offset: i64 = match () {
            _ if level < Level::Gfx900 || r.one_in(3) => 0,
            _ if global => r.below(8192) as i64 - 4096,
            _ => r.below(4096) as i64,
        };
        let scalar = global && r.one_in(2);
        let spots = spots(r, access, level);
        let before = 8192 + 4 * r.below(100_000);
        if scalar {
            let address = base - before;
            plan.sgprs = vec![(4, address as u32), (5, (address >> 32) as u32)];
        }
        for (lane, &at) in spots.iter().enumerate() {
            let from = if scalar { before } else { base };
            let address = from.wrapping_add(at as u64).wrapping_add_signed(-offset);
            plan.vgprs[0][lane] = address as u32;
            plan.vgprs[1][lane] = if scalar { r.next() as u32 } else { (address >> 32) as u32 };
            plan.places.push(dwords(access, at));
        }
        let address = if scalar { "v0" } else { "v[0:1]" };
        let mut rest = match (global, scalar) {
            (false, _) => String::new(),
            (true, false) => ", off".into(),
            (true, true) => ", s[4:5]".into(),
        };
        if offset != 0 {
            rest += &format!(" offset:{offset}");
        }
        plan.spell(r, access, address, &rest);
        plan
    }

    /// LDS: a 32-bit address and an unsigned constant; what is beyond the allocation reads as zero and is not written.
    fn lds(r: &mut Random, access: &Access, level: Level) -> Plan {
        let mut plan = Plan::empty(r, access, level);
        let spots = spots(r, access, level);
        let least = spots.iter().copied().min().unwrap_or(0);
        let offset = if r.one_in(3) { 0 } else { r.below(least as u64 + 1) as usize };
        for (lane, &at) in spots.iter().enumerate() {
            let outside = r.one_in(20);
            let room = access.bytes().next_power_of_two();
            let at = if outside { BYTES + room * r.below(512) as usize } else { at };
            plan.vgprs[0][lane] = (at - offset) as u32;
            let places = dwords(access, at);
            plan.places.push(if outside { vec![None; places.len()] } else { places });
        }
        let (name, n) = (access.name, access.bytes().div_ceil(4));
        let result = range('v', RESULT, n);
        let data = match access.action {
            Action::Atomic { .. } | Action::Float { .. } if access.operands() > n => {
                format!("{}, {}", range('v', DATA, n), range('v', DATA + n, n))
            }
            _ => range('v', DATA, n),
        };
        plan.returns |= access.returns;
        plan.text = match access.action {
            Action::Load { .. } => format!("{name} {result}, v0"),
            _ if access.returns => format!("{name} {result}, v0, {data}"),
            _ => format!("{name} v0, {data}"),
        };
        if offset != 0 {
            plan.text += &format!(" offset:{offset}");
        }
        plan
    }

    /// LDS, two places (Sea Islands manual, DS_ADD_SRC2_U32 and its like): A is the address, B = A + 4 * (offset1[7] ? {A[31],
    /// A[31:17]} : {offset1[6], offset1[6:0], offset0}). Lanes change one half of LDS and read the other.
    fn apart(r: &mut Random, access: &Access, level: Level) -> Plan {
        let mut plan = Plan::empty(r, access, level);
        plan.returns = false;
        let (bytes, half) = (access.bytes(), BYTES / 2);
        let mut order: Vec<usize> = (0..64).collect();
        for i in (1..64).rev() {
            order.swap(i, r.below(i as u64 + 1) as usize);
        }
        let downwards = r.one_in(2);
        let by_lane = r.one_in(2);
        for (lane, &slot) in order.iter().enumerate() {
            let own = slot * SLOT + bytes * r.below((SLOT / bytes) as u64) as usize;
            let (first, second) = if downwards { (half + own, 0) } else { (own, half) };
            let other =
                if by_lane { second + bytes * r.below((half / bytes) as u64) as usize } else { second + own };
            let apart = (other as i64 - first as i64) / 4;
            let upper = if by_lane { (apart as u32) << 17 } else { 0 };
            plan.vgprs[0][lane] = first as u32 | upper;
            plan.places.push(vec![Some(first), Some(other)]);
        }
        let apart = if downwards { -(half as i64) } else { half as i64 } / 4;
        // With bit 15 the rest of the offset means nothing.
        let offset = if by_lane { 0x8000 | r.below(0x8000) } else { apart as u64 & 0x7fff };
        plan.text = format!("{} v0 offset:{offset}", access.name);
        plan
    }

    /// LDS, two places: offsets count in numbers, or in 64 of them.
    fn pair(r: &mut Random, access: &Access, level: Level, step: usize) -> Plan {
        let mut plan = Plan::empty(r, access, level);
        let bytes = access.bytes();
        let mut order: Vec<usize> = (0..64).collect();
        for i in (1..64).rev() {
            order.swap(i, r.below(i as u64 + 1) as usize);
        }
        // Far apart: lanes eight bytes from one another, offsets in steps of 512 bytes; else within a lane's own slot.
        let far = step > 8;
        let unit = if far { 512 / step } else { 1 };
        let count = if far { 7 } else { (SLOT / step) as u64 };
        let first = r.below(count) as usize;
        let second = (first + 1 + r.below(count - 1) as usize) % count as usize;
        let offsets = [first * unit, second * unit];
        for (lane, &slot) in order.iter().enumerate() {
            let at = if far { 8 * slot } else { SLOT * slot };
            plan.vgprs[0][lane] = at as u32;
            let both = offsets.iter().flat_map(|o| (0..bytes / 4).map(move |i| Some(at + o * step + 4 * i)));
            plan.places.push(both.collect());
        }
        let n = bytes / 4;
        plan.out_dwords = 2 * n;
        let (name, [a, b]) = (access.name, offsets);
        let result = range('v', RESULT, 2 * n);
        let data = format!("{}, {}", range('v', DATA, n), range('v', DATA + n, n));
        plan.returns |= access.returns;
        let what = match access.action {
            Action::Load { .. } => format!("{name} {result}, v0"),
            Action::Exchange { .. } => format!("{name} {result}, v0, {data}"),
            _ => format!("{name} v0, {data}"),
        };
        plan.text = format!("{what} offset0:{a} offset1:{b}");
        plan
    }

    /// Private memory from GFX9 on (10.5, and 3.12 of what was measured: a lane's dwords lie 64 dwords apart): an offset in a vector
    /// or a scalar register, and a constant; FLAT_SCRATCH says where it begins.
    fn scratch(r: &mut Random, access: &Access) -> Plan {
        let mut plan = Plan::empty(r, access, Level::Gfx900);
        let bytes = access.bytes();
        let align = bytes.min(4);
        let own = |r: &mut Random| align * r.below(((PRIVATE - bytes) / align + 1) as u64) as usize;
        let uniform = r.one_in(2);
        let common = own(r);
        let offset =
            if r.one_in(3) { 0 } else { r.below(4096) as i64 - 4095 + r.below(PRIVATE as u64) as i64 };
        // A register's offset is not negative, and neither is the sum.
        let offset = if uniform { offset.min(common as i64) } else { offset.min(0) };
        for lane in 0..64 {
            let at = if uniform { common } else { own(r) };
            plan.vgprs[0][lane] = (at as i64 - offset) as u32;
            let place = |i: usize| {
                let at = at + 4 * i;
                Some(at / 4 * 256 + 4 * lane + at % 4)
            };
            plan.places.push((0..bytes.div_ceil(4)).map(place).collect());
        }
        plan.sgprs = vec![(12, (common as i64 - offset) as u32)];
        let (name, data) = (access.name, range('v', DATA, access.operands()));
        let result = range('v', RESULT, plan.out_dwords);
        let address = if uniform { ("off", "s12") } else { ("v0", "off") };
        plan.text = match access.action {
            Action::Load { .. } => format!("{name} {result}, {}, {}", address.0, address.1),
            _ => format!("{name} {}, {data}, {}", address.0, address.1),
        };
        if offset != 0 {
            plan.text += &format!(" offset:{offset}");
        }
        plan
    }

    /// Places that no register has: each lane's dword from M0 on (12.12), a counter there (GFX9; before, M0 bounds LDS), and
    /// lanes of the wave, which are no places at all.
    fn numbered(r: &mut Random, access: &Access, level: Level) -> Plan {
        let mut plan = Plan::empty(r, access, level);
        let gfx9 = level >= Level::Gfx900;
        let offset = 4 * r.below(256) as usize;
        let from = if gfx9 { 4 * r.below(256) as usize } else { 0 };
        let (name, result, data) = (access.name, range('v', RESULT, 1), range('v', DATA, 1));
        if gfx9 {
            plan.m0 = from as u32;
        }
        let each = matches!(access.action, Action::Load { .. } | Action::Store { .. });
        plan.places =
            (0..64).map(|lane| vec![Some(offset + from + if each { 4 * lane } else { 0 })]).collect();
        plan.returns = !matches!(access.action, Action::Store { .. });
        plan.text = match access.action {
            // Every pattern there is: of four lanes, of 32, rotations and reversed bits.
            Action::Swizzle => {
                plan.vgprs[0] = std::array::from_fn(|_| r.edgy(32) as u32);
                plan.shift = r.below(0x1_0000) as u32 | if r.one_in(3) { 0xc000 } else { 0 };
                plan.text = format!("{name} {result}, v0 offset:{}", plan.shift);
                return plan;
            }
            Action::Permute { .. } => {
                plan.vgprs[0] = std::array::from_fn(|_| r.edgy(32) as u32);
                plan.shift = offset as u32;
                format!("{name} {result}, v0, {data}")
            }
            Action::Store { .. } => format!("{name} {data}"),
            _ => format!("{name} {result}"),
        };
        if offset != 0 {
            plan.text += &format!(" offset:{offset}");
        }
        plan
    }

    /// A buffer: raw, structured (GFX9: the manual's check is of the index alone), or private memory.
    fn buffer(r: &mut Random, access: &Access, level: Level, base: u64) -> Plan {
        let mut plan = Plan::empty(r, access, level);
        let (bytes, gfx9) = (access.bytes(), level >= Level::Gfx900);
        let whole = access.is_atomic();
        // A number of 64 bits does not lie in one piece in private memory.
        let kind = match r.below(if gfx9 { 3 } else { 2 }) {
            1 if whole && bytes == 8 => 0,
            kind => kind,
        };
        let scalar = 8 * r.below(32);
        let constant = 8 * r.below(32);
        let start = 16 * r.below(8);
        let (mut index, mut offset, mut word3) = (false, true, 4 << 12 | 4 << 15u32);
        let (mut stride, mut records) = (0u64, 4 * r.below(BYTES as u64 / 4));
        let parts = if whole || bytes < 4 { 1 } else { bytes / 4 };
        let part = if whole { bytes } else { bytes.min(4) };
        let align = if whole { bytes as u64 } else { 4 };
        match kind {
            // Private memory: dwords of 64 (32, 16, 8) lanes side by side; no check.
            1 => {
                let shift = r.below(4) as u32;
                let lanes = 8u64 << shift;
                stride = 64;
                word3 = 4 << 12 | shift << 21 | 1 << 23;
                // Before GFX9 the size of an element is a field; from GFX8 on upper bits of the stride lie in the format.
                if !gfx9 {
                    word3 |= 1 << 19;
                }
                if level < Level::Gfx8 {
                    word3 |= 4 << 15;
                }
                records = u32::MAX.into();
                for lane in 0..64u64 {
                    // One element of each lane: its dwords stay within the record of 64 bytes.
                    let own = align * r.below((stride - bytes as u64) / align + 1);
                    plan.vgprs[0][lane as usize] = own as u32;
                    plan.places.push(
                        (0..parts as u64)
                            .map(|i| {
                                let at = own + 4 * i;
                                let (high, low) = (lane / lanes, lane % lanes);
                                let inside = (high * stride + at / 4 * 4) * lanes + low * 4 + at % 4;
                                Some((start + scalar + inside) as usize)
                            })
                            .collect(),
                    );
                }
            }
            2 => {
                index = true;
                offset = r.one_in(2);
                stride = 32;
                records = r.below(64);
                let mut order: Vec<u64> = (0..64).collect();
                for i in (1..64).rev() {
                    order.swap(i, r.below(i as u64 + 1) as usize);
                }
                // Without an offset of its own, a lane has the constant alone.
                for (lane, &number) in order.iter().enumerate() {
                    let own = if offset { align * r.below((32 - bytes as u64) / align + 1) } else { 0 };
                    plan.vgprs[0][lane] = number as u32;
                    plan.vgprs[1][lane] = own as u32;
                    let at = start + scalar + constant + 32 * number + own;
                    let inside = number < records;
                    let place = |i: usize| inside.then_some(at as usize + 4 * i);
                    plan.places.push((0..parts).map(place).collect());
                }
            }
            _ => {
                offset = !r.one_in(4);
                let slots = spots(r, access, Level::Gfx8);
                for (lane, &slot) in slots.iter().enumerate() {
                    let own = if offset { slot as u64 / align * align } else { 0 };
                    // From GFX9 on the sum with the constant wraps.
                    let wraps = gfx9 && offset && !access.writes() && r.one_in(8);
                    let sum = if wraps { own % (constant + 1) / align * align } else { own + constant };
                    plan.vgprs[0][lane] = sum.wrapping_sub(constant) as u32;
                    let counted = if level >= Level::Gfx8 { scalar } else { 0 };
                    let place = |i: usize| {
                        let end = counted + sum + (4 * i + part) as u64;
                        (end <= records).then_some((start + scalar + sum) as usize + 4 * i)
                    };
                    plan.places.push((0..parts).map(place).collect());
                }
            }
        }
        if kind == 1 {
            // The constant is part of what is swizzled: none, so that a lane stays in its record.
            return plan.describe(
                r,
                access,
                (base + start, stride, records, word3),
                (scalar, 0),
                (index, offset),
            );
        }
        if !offset && !index && access.writes() {
            plan.exec = 1 << r.below(64);
        }
        plan.describe(r, access, (base + start, stride, records, word3), (scalar, constant), (index, offset))
    }

    /// The text of a buffer instruction, and its resource in s[8:11].
    fn describe(
        mut self,
        r: &mut Random,
        access: &Access,
        (base, stride, records, word3): (u64, u64, u64, u32),
        (scalar, constant): (u64, u64),
        (index, offset): (bool, bool),
    ) -> Plan {
        let swizzled = (word3 >> 23 & 1) << 31;
        let word1 = (base >> 32) as u32 & 0xffff | (stride as u32) << 16 | swizzled;
        self.sgprs =
            vec![(8, base as u32), (9, word1), (10, records as u32), (11, word3), (12, scalar as u32)];
        let address = match (index, offset) {
            (true, true) => "v[0:1]",
            (false, false) => "off",
            _ => "v0",
        };
        let data = range('v', DATA, access.operands());
        self.text = format!("{} {data}, {address}, s[8:11], s12", access.name);
        for (on, word) in [(index, " idxen"), (offset, " offen")] {
            self.text += if on { word } else { "" };
        }
        if constant != 0 {
            self.text += &format!(" offset:{constant}");
        }
        if self.may_return && r.one_in(2) {
            self.returns = true;
            self.text += " glc";
        }
        self
    }

    /// Scalar memory: an address or a buffer, and one offset.
    fn scalar(
        r: &mut Random,
        access: &Access,
        level: Level,
        base: u64,
        (buffer, unit): (bool, usize),
    ) -> Plan {
        let mut plan = Plan::empty(r, access, level);
        plan.is_scalar = true;
        let (bytes, old) = (access.bytes(), level < Level::Gfx8);
        let whole = matches!(access.action, Action::Atomic { .. });
        let align = if whole { bytes } else { 4 };
        let at = align * r.below(((BYTES - bytes) / align) as u64) as usize;
        // Each addend loses two bits from GFX8 on.
        let mut low = |on: bool| if on && !old { r.below(4) } else { 0 };
        let (low_base, low_offset) = (low(!buffer), low(true));
        let records = if buffer && !old { 4 * r.below(BYTES as u64 / 2) } else { 2 * BYTES as u64 };
        let stride = if buffer && r.one_in(3) { 4 } else { 0 };
        let offset = match old {
            // A constant counts dwords there, up to 255 of them.
            true => at.min(1020 / align * align),
            false => at,
        };
        let start = base + (at - offset) as u64;
        let size = records;
        let words = if whole { 1 } else { bytes / 4 };
        let end = |i: usize| (offset + if whole { bytes } else { 4 * i + 4 }) as u64;
        let inside = |i: usize| !buffer || end(i) <= size;
        plan.places = vec![(0..words).map(|i| inside(i).then_some(at + 4 * i)).collect()];
        let word1 = (start >> 32) as u32 | (stride as u32) << 16;
        let records = records.checked_div(stride).unwrap_or(records);
        let register = if buffer { 8 } else { 4 };
        plan.sgprs = vec![(register, start as u32 | low_base as u32), (register + 1, word1)];
        if buffer {
            plan.sgprs.extend([(10, records as u32), (11, 4 << 12 | 4 << 15)]);
        } else {
            plan.sgprs[1].1 = (start >> 32) as u32;
        }
        let given = offset as u64 | low_offset;
        let sbase = if buffer { "s[8:11]" } else { "s[4:5]" };
        // From GFX9 on a register and a constant (8.2.1.1): each loses its low bits.
        let both = level >= Level::Gfx900 && r.one_in(4);
        let constant = if both { 4 * r.below(offset as u64 / 4 + 1) } else { 0 };
        let in_register = (offset as u64 - constant) / unit as u64;
        let constant = offset as u64 - in_register * unit as u64;
        let low_bits = if unit == 1 { low_offset } else { 0 };
        if both || unit > 1 {
            plan.sgprs.push((12, (in_register | low_bits) as u32));
            plan.m0 = (in_register | low_bits) as u32;
        } else {
            plan.sgprs.push((12, given as u32));
            plan.m0 = given as u32;
        }
        let register = if access.writes() { "m0" } else { "s12" };
        if both || unit > 1 && constant == 0 && r.one_in(2) {
            plan.text = format!(
                "{} {}, {sbase}, {register}",
                access.name,
                range('s', SCALAR, if whole { access.operands() } else { bytes / 4 })
            );
            if both {
                plan.text += &format!(" offset:{:#x}", constant | r.below(4));
            }
            if whole && r.one_in(2) {
                plan.returns = true;
                plan.text += " glc";
            }
            return plan;
        }
        let operand = match r.below(3) {
            // A register counts in other units: the constant.
            _ if unit > 1 => format!("{given:#x}"),
            0 if !access.writes() => "s12".to_owned(),
            1 if !old || access.writes() => "m0".to_owned(),
            _ if old => format!("{:#x}", offset / 4),
            _ => format!("{given:#x}"),
        };
        let dwords = if whole { access.operands() } else { bytes / 4 };
        plan.text = format!("{} {}, {sbase}, {operand}", access.name, range('s', SCALAR, dwords));
        if whole && r.one_in(2) {
            plan.returns = true;
            plan.text += " glc";
        }
        plan
    }
}
