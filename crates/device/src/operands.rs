//! The registers of the instruction at fault, with what they held.

use wavemill_wave::Wave;

/// A wave's registers when it stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registers {
    scalar: Vec<u32>,
    vector: Vec<[u32; 64]>,
    /// Vector registers before the accumulators.
    vgprs: usize,
}

impl Registers {
    /// Those of a wave.
    pub(crate) fn of(wave: &Wave) -> Registers {
        let shape = wave.shape();
        let vector = (0..shape.vgprs + shape.agprs).filter_map(|r| wave.vgpr(r).copied()).collect();
        Registers { scalar: (0..128).map(|c| wave.sgpr(c)).collect(), vector, vgprs: shape.vgprs.into() }
    }

    /// A scalar register by its operand code.
    pub(crate) fn scalar(&self, code: usize) -> u32 {
        self.scalar.get(code).copied().unwrap_or(0)
    }

    /// The vector registers that are not what they were, in the lanes given: as numbers, or as f32.
    pub(crate) fn changed_vectors(&self, before: &Registers, mask: u64, float: bool) -> Vec<String> {
        let mut out = Vec::new();
        for (i, (now, then)) in self.vector.iter().zip(&before.vector).enumerate() {
            let changed = (0..64).filter(|l| now[*l] != then[*l]).fold(0u64, |m, l| m | 1 << l) & mask;
            if changed == 0 {
                continue;
            }
            let name = match i.checked_sub(self.vgprs) {
                Some(n) => format!("a{n}"),
                None => format!("v{i}"),
            };
            let value = |l: usize| u64::from(now[l]);
            // Steps between the bits of floats say nothing to people.
            let groups = if float { equals(changed, value) } else { groups(changed, value) };
            out.extend(rows(&name, &groups, float));
        }
        out
    }
}

/// Rows of a table that is enough to see what happened; beyond it there is only the number of what is left out.
pub(crate) const ROWS: usize = 6;

/// Each register that an instruction's text names, and its value: scalar ones as a number, vector ones for the lanes
/// given, lanes whose values go up by the same step together. `place` says what an address lies in, if in anything.
pub fn describe(
    text: &str,
    registers: &Registers,
    mask: u64,
    place: impl Fn(u64) -> Option<String>,
) -> Vec<String> {
    let mut seen = Vec::new();
    let mut out = Vec::new();
    let words = text.split([' ', ',', '|', '-', '(', ')', '\t']).filter(|w| !w.is_empty()).skip(1);
    for word in words {
        let Some((file, first, count)) = register(word).filter(|r| !seen.contains(r)) else { continue };
        seen.push((file, first, count));
        match file {
            's' => out.extend(scalar(word, first, count, registers, &place)),
            _ => out.extend(vector(word, file, first, count, registers, mask)),
        }
    }
    out
}

/// File, first register and count of `v3`, `s[4:7]`, `a[0:1]`, `vcc`, `exec`, `m0`.
fn register(word: &str) -> Option<(char, usize, usize)> {
    match word {
        "vcc" => return Some(('s', 106, 2)),
        "exec" => return Some(('s', 126, 2)),
        "m0" => return Some(('s', 124, 1)),
        _ => {}
    }
    let file = word.chars().next().filter(|c| matches!(c, 's' | 'v' | 'a'))?;
    let rest = &word[1..];
    let (first, last) = match rest.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
        Some(range) => range.split_once(':').unwrap_or((range, range)),
        None => (rest, rest),
    };
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    Some((file, first, last.checked_sub(first)? + 1))
}

fn scalar(
    word: &str,
    first: usize,
    count: usize,
    registers: &Registers,
    place: &impl Fn(u64) -> Option<String>,
) -> Option<String> {
    let words = registers.scalar.get(first..first + count)?;
    let text = match words {
        // A pair is an address as a rule: what the program meant, also when an offset has led far away from it.
        [low, high] => {
            let value = u64::from(*low) | u64::from(*high) << 32;
            format!("{value:#x}{}", place(value).map(|p| format!(": {p}")).unwrap_or_default())
        }
        _ => words.iter().map(|w| format!("{w:#x}")).collect::<Vec<_>>().join(" "),
    };
    Some(format!("{word} = {text}"))
}

fn vector(
    word: &str,
    file: char,
    first: usize,
    count: usize,
    registers: &Registers,
    mask: u64,
) -> Vec<String> {
    let base = if file == 'a' { registers.vgprs } else { 0 };
    let Some(low) = registers.vector.get(base + first) else { return Vec::new() };
    // Pairs are addresses and doubles; of larger groups the first register says enough.
    let high = registers.vector.get(base + first + 1).filter(|_| count == 2);
    let value = |lane: usize| u64::from(low[lane]) | high.map_or(0, |h| u64::from(h[lane])) << 32;
    let name = if count > 2 { format!("{file}{first}") } else { word.to_owned() };
    rows(&name, &groups(mask, value), false)
}

/// A line for each group of lanes, the first few.
fn rows(name: &str, groups: &[Group], float: bool) -> Vec<String> {
    let row = |g: &Group| {
        let step = if g.lanes.count_ones() > 1 { step(g.step) } else { String::new() };
        let value = match float {
            true => format!("{:?}", f32::from_bits(g.value as u32)),
            false => format!("{:#x}{step}", g.value),
        };
        format!("{name} = {value} (lanes {})", lanes(g.lanes))
    };
    let mut out: Vec<String> = groups.iter().take(ROWS).map(row).collect();
    if groups.len() > ROWS {
        out.push(format!("{name}: {} more groups of lanes", groups.len() - ROWS));
    }
    out
}

/// By how much values go up from lane to lane.
pub(crate) fn step(step: i64) -> String {
    match step {
        0 => String::new(),
        step if step < 0 => format!(", -{:#x} each", step.unsigned_abs()),
        step => format!(", +{step:#x} each"),
    }
}

/// `3`, `0-63` or `0-3,8,10-12`.
pub fn lanes(mask: u64) -> String {
    let mut parts = Vec::new();
    let mut lane = 0;
    while lane < 64 {
        let run = (mask >> lane).trailing_ones();
        match run {
            0 => lane += 1,
            1 => parts.push(format!("{lane}")),
            n => parts.push(format!("{lane}-{}", lane + n - 1)),
        }
        lane += run;
    }
    parts.join(",")
}

/// Lanes one after the other whose values go up by the same step.
pub(crate) struct Group {
    pub(crate) lanes: u64,
    pub(crate) value: u64,
    pub(crate) step: i64,
}

/// Puts lanes together that have the same value.
fn equals(mask: u64, value: impl Fn(usize) -> u64) -> Vec<Group> {
    let mut all: Vec<Group> = Vec::new();
    for lane in (0..64).filter(|l| mask >> l & 1 != 0) {
        match all.last_mut() {
            Some(group) if group.value == value(lane) => group.lanes |= 1 << lane,
            _ => all.push(Group { lanes: 1 << lane, value: value(lane), step: 0 }),
        }
    }
    all
}

/// Puts lanes together whose values go up by the same step.
pub(crate) fn groups(mask: u64, value: impl Fn(usize) -> u64) -> Vec<Group> {
    let mut all: Vec<Group> = Vec::new();
    let mut last = 0;
    for lane in (0..64).filter(|l| mask >> l & 1 != 0) {
        let now = value(lane);
        let step = now.wrapping_sub(last) as i64;
        match all.last_mut() {
            Some(group) if group.lanes.count_ones() == 1 => {
                group.lanes |= 1 << lane;
                group.step = step;
            }
            Some(group) if group.step == step => group.lanes |= 1 << lane,
            _ => all.push(Group { lanes: 1 << lane, value: now, step: 0 }),
        }
        last = now;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_ranges() {
        assert_eq!(lanes(0b1_1110_0101), "0,2,5-8");
        assert_eq!(lanes(!0), "0-63");
        assert_eq!(lanes(0), "");
        assert_eq!(lanes(1 << 63), "63");
    }

    #[test]
    fn registers_are_found_in_text() {
        assert_eq!(register("v[2:3]"), Some(('v', 2, 2)));
        assert_eq!(register("s5"), Some(('s', 5, 1)));
        assert_eq!(register("vcc"), Some(('s', 106, 2)));
        assert_eq!(
            (register("off"), register("v"), register("glc"), register("0x10")),
            (None, None, None, None)
        );
    }

    #[test]
    fn lanes_with_the_same_step_are_together() {
        let mut vector = vec![[0; 64]; 4];
        vector[2] = std::array::from_fn(|l| 0x1000 + 4 * l as u32);
        vector[2][32] = 0xdead_0000;
        let mut scalar = vec![0; 128];
        (scalar[4], scalar[5]) = (0x5678, 0x1234);
        let registers = Registers { scalar, vector, vgprs: 4 };
        let place = |address: u64| (address >> 32 == 0x1234).then(|| "in a room".to_owned());
        let said = describe("global_load_dword v1, v2, s[4:5] offset:16", &registers, !0, place);
        assert_eq!(said[0], "v1 = 0x0 (lanes 0-63)");
        assert_eq!(said[1], "v2 = 0x1000, +0x4 each (lanes 0-31)");
        assert_eq!(said.last().map(String::as_str), Some("s[4:5] = 0x123400005678: in a room"));
        let nowhere = |_| None;
        let scalar = describe("s_load_dword s0, s[4:5], 0x0", &registers, 0, nowhere);
        assert_eq!(scalar[1], "s[4:5] = 0x123400005678");
        let flat = describe("flat_load_dword v3, v[2:3]", &registers, 1, nowhere);
        assert_eq!(flat[1], "v[2:3] = 0x1000 (lanes 0)");
    }
}
