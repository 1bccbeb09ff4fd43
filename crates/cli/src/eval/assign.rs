//! `REGISTER=VALUE`: what registers hold before the instructions run.

use super::draw::half;
use wavemill_isa::target::Target;
use wavemill_isa::{Level, regs};
use wavemill_wave::Wave;

/// Whether a word sets a register: an instruction has a blank before any `=`, a directive starts with a point.
pub fn is(word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "_[]:".contains(c);
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(part))
}

/// A register or a group of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterName {
    /// Vector registers: the first, and how many.
    Vector(u16, u16),
    /// Accumulation registers.
    Accumulator(u16, u16),
    /// Scalar registers, by operand code.
    Scalar(u32, u32),
    /// SCC.
    Scc,
    /// MODE.
    Mode,
}

impl RegisterName {
    /// Reads `v0`, `v[0:1]`, `a3`, `s[4:5]`, `exec`, `vcc`, `m0`, `scc`, `mode`.
    pub fn parse(name: &str) -> Result<RegisterName, String> {
        let name = name.trim().to_ascii_lowercase();
        match name.as_str() {
            "exec" => return Ok(RegisterName::Scalar(126, 2)),
            "exec_lo" => return Ok(RegisterName::Scalar(126, 1)),
            "exec_hi" => return Ok(RegisterName::Scalar(127, 1)),
            "vcc" => return Ok(RegisterName::Scalar(106, 2)),
            "vcc_lo" => return Ok(RegisterName::Scalar(106, 1)),
            "vcc_hi" => return Ok(RegisterName::Scalar(107, 1)),
            "m0" => return Ok(RegisterName::Scalar(124, 1)),
            "scc" => return Ok(RegisterName::Scc),
            "mode" => return Ok(RegisterName::Mode),
            _ => {}
        }
        let wrong = || format!("`{name}` is not a register: v0, a0, s0, v[0:1], exec, vcc, m0, scc, mode");
        let mut chars = name.chars();
        let file = chars.next().ok_or_else(wrong)?;
        let rest = chars.as_str();
        let number = |text: &str| text.trim().parse::<u16>().map_err(|_| wrong());
        let (first, last) = match rest.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
            Some(range) => match range.split_once(':') {
                Some((a, b)) => (number(a)?, number(b)?),
                None => (number(range)?, number(range)?),
            },
            None => (number(rest)?, number(rest)?),
        };
        if last < first || last > 255 || (file == 's' && last > 105) {
            return Err(wrong());
        }
        let count = last - first + 1;
        match file {
            'v' => Ok(RegisterName::Vector(first, count)),
            'a' => Ok(RegisterName::Accumulator(first, count)),
            's' => Ok(RegisterName::Scalar(first.into(), count.into())),
            _ => Err(wrong()),
        }
    }

    /// Refuses what the processor does not have.
    pub fn check(self, target: &Target) -> Result<(), String> {
        match self {
            RegisterName::Accumulator(..) if target.level() < Level::Gfx908 => {
                Err(format!("{} has no accumulation registers", target.cpu.name))
            }
            RegisterName::Scalar(first, count) if first < 106 && first + count > regs::sgpr_count(target) => {
                Err(format!("{} has s0 to s{}", target.cpu.name, regs::sgpr_count(target) - 1))
            }
            _ => Ok(()),
        }
    }
}

/// A value for each lane.
pub struct Values(Vec<u64>, Option<(u64, u64)>);

impl Values {
    /// Reads `lane*4+16`, `1,2,3`, `f16:1.5`.
    pub fn parse(text: &str) -> Result<Values, String> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("lane") {
            let wrong = || format!("`{text}`: lane, lane*N or lane*N+M is wanted");
            let split = rest[rest.len().min(1)..].find(['+', '-']).map_or(rest.len(), |i| i + 1);
            // `lane+5` has no factor, `lane*2-1` has both.
            let split = if rest.starts_with(['+', '-']) { 0 } else { split };
            let (factor, add) = rest.split_at(split);
            let factor = match factor.strip_prefix('*') {
                Some(n) => integer(n).ok_or_else(wrong)?,
                None if factor.is_empty() => 1,
                None => return Err(wrong()),
            };
            let add = match add.strip_prefix('+').unwrap_or(add) {
                "" => 0,
                n => integer(n).ok_or_else(wrong)?,
            };
            return Ok(Values(Vec::new(), Some((factor, add))));
        }
        let (ty, list) = text.split_once(':').unwrap_or(("", text));
        let values = list.split(',').map(|v| bits(ty, v.trim())).collect::<Result<Vec<u64>, String>>()?;
        Ok(Values(values, None))
    }

    /// The same in every lane.
    pub fn one(value: u64) -> Values {
        Values(vec![value], None)
    }

    /// The first lane's.
    pub fn first(&self) -> u64 {
        self.lane(0)
    }

    fn lane(&self, lane: usize) -> u64 {
        match self.1 {
            Some((factor, add)) => (lane as u64).wrapping_mul(factor).wrapping_add(add),
            None => self.0[lane % self.0.len()],
        }
    }

    /// Puts them into a register, or into each of several. 64-bit values take two.
    pub fn set(&self, wave: &mut Wave, place: RegisterName) {
        let dword =
            |value: u64, i: u32| if i.is_multiple_of(2) { value as u32 } else { (value >> 32) as u32 };
        match place {
            RegisterName::Vector(first, count) | RegisterName::Accumulator(first, count) => {
                let base =
                    if matches!(place, RegisterName::Accumulator(..)) { wave.shape().vgprs } else { 0 };
                for i in 0..count {
                    if let Some(lanes) = wave.vgpr_mut(base + first + i) {
                        for (lane, v) in lanes.iter_mut().enumerate() {
                            *v = dword(self.lane(lane), i.into());
                        }
                    }
                }
            }
            RegisterName::Scalar(first, count) => (0..count).for_each(|i| {
                // More than two are set one by one, if there are several values.
                let value =
                    if self.0.len() > 1 { self.lane(i as usize) } else { dword(self.lane(0), i).into() };
                wave.set_sgpr(first + i, value as u32);
            }),
            RegisterName::Scc => wave.scc = self.lane(0) != 0,
            RegisterName::Mode => wave.mode = self.lane(0) as u32,
        }
    }
}

/// A whole number in decimal or hexadecimal, negative ones as two's complement.
fn integer(text: &str) -> Option<u64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(d) => (true, d),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(&hex.replace('_', ""), 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// A number of a type; one with a point and no type is an f32.
fn bits(ty: &str, text: &str) -> Result<u64, String> {
    let float = || text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"));
    match ty {
        "" => match integer(text) {
            Some(n) => Ok(n),
            None => float().map(|f| u64::from((f as f32).to_bits())),
        },
        "i32" | "u32" | "i64" | "u64" | "hex" => {
            integer(text).ok_or_else(|| format!("`{text}` is not a whole number"))
        }
        "f32" => float().map(|f| u64::from((f as f32).to_bits())),
        "f64" => float().map(f64::to_bits),
        "f16" => float().map(|f| half(f).into()),
        "pk" => float().map(|f| u64::from(half(f)) * 0x1_0001),
        _ => Err(format!("no type `{ty}`: i32, u32, f16, f32, f64, pk or buf")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_values() {
        assert_eq!(RegisterName::parse("v[2:3]"), Ok(RegisterName::Vector(2, 2)));
        assert_eq!(RegisterName::parse("VCC"), Ok(RegisterName::Scalar(106, 2)));
        assert!(["v256", "x1", "v[3:2]", "s106", "", "v"].iter().all(|t| RegisterName::parse(t).is_err()));
        assert!(is("v0=lane") && !is("v_mov_b32 v0, 5 quad_perm:[0,1,2,3]") && !is(".set x=5"));
        let lane = |text: &str, n: usize| Values::parse(text).map(|v| v.lane(n) as u32);
        assert_eq!(lane("lane", 5), Ok(5));
        assert_eq!(lane("lane*4+16", 5), Ok(36));
        assert_eq!(lane("lane*2-1", 3), Ok(5));
        assert_eq!(lane("lane+5", 3), Ok(8));
        assert_eq!(lane("lane-1", 0), Ok(u32::MAX));
        assert_eq!(lane("1,2,3", 4), Ok(2));
        assert_eq!(lane("-1", 9), Ok(u32::MAX));
        assert_eq!(lane("1.5", 9), Ok(1.5f32.to_bits()));
        assert_eq!(lane("f32:2", 9), Ok(2f32.to_bits()));
        assert_eq!(lane("pk:1", 9), Ok(0x3c00_3c00));
        for wrong in ["lanes", "lane*x", "f32:x", "f99:1", "", "1,,2", "i32:1.5"] {
            assert!(Values::parse(wrong).is_err(), "{wrong}");
        }
    }
}
