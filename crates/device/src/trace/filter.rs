//! Which instructions are traced.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wavemill_object::demangle;

/// What is written: everything, unless it says less.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    waves: Vec<(u64, u64)>,
    groups: Vec<[u32; 3]>,
    dispatches: Vec<(u64, u64)>,
    lanes: Option<u64>,
    kernel: Option<String>,
    from: Option<CodePoint>,
    to: Option<CodePoint>,
    /// So many instructions and no more.
    pub(super) count: Option<u64>,
    /// Where to, if not to standard error.
    pub file: Option<PathBuf>,
}

/// A place in code.
#[derive(Clone, Debug)]
pub struct CodePoint {
    text: String,
    at: At,
    /// A wave has come to it.
    seen: Arc<AtomicBool>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum At {
    Line(String, u32),
    /// Bytes from the kernel's first instruction.
    Offset(u64),
    Function(String),
}

/// An instruction, as places are compared with it.
pub(super) struct Spot<'a> {
    pub source: Option<(&'a str, u32)>,
    pub offset: u64,
    pub function: Option<(&'a str, u64)>,
}

impl CodePoint {
    fn parse(text: &str) -> Result<CodePoint, String> {
        let at = match text.rsplit_once(':') {
            Some((file, line)) => {
                let line = line.parse().map_err(|_| format!("`{text}`: FILE:LINE is wanted"))?;
                At::Line(file.to_owned(), line)
            }
            None => match text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16)) {
                Some(offset) => At::Offset(offset.map_err(|_| format!("`{text}` is not a number"))?),
                None if text.is_empty() => {
                    return Err("FILE:LINE, a function or an offset such as 0x40 is wanted".into());
                }
                None => At::Function(text.to_owned()),
            },
        };
        Ok(CodePoint { text: text.to_owned(), at, seen: Arc::default() })
    }

    /// Whether an instruction is the one meant.
    pub(super) fn is(&self, spot: &Spot<'_>) -> bool {
        let is = match &self.at {
            At::Line(file, line) => spot.source.is_some_and(|(f, l)| {
                l == *line && f.strip_suffix(file.as_str()).is_some_and(|d| d.is_empty() || d.ends_with('/'))
            }),
            At::Offset(offset) => spot.offset == *offset,
            At::Function(name) => spot.function.is_some_and(|(f, at)| at == 0 && demangle::answers(f, name)),
        };
        if is {
            self.seen.store(true, Ordering::Relaxed);
        }
        is
    }
}

/// The things that can be said about a trace.
const KEYS: [&str; 9] = ["kernel", "dispatch", "group", "wave", "lanes", "from", "to", "count", "file"];

impl Filter {
    /// Reads `wave:0,lanes:0-3,8,from:k.s:10`: what has no name belongs to what was named before.
    pub fn parse(text: &str) -> Result<Filter, String> {
        let mut filter = Filter::default();
        let mut last = "";
        for item in text.split(',').map(str::trim).filter(|i| !i.is_empty()) {
            let (key, value) = match item.split_once(':') {
                Some((key, value)) if KEYS.contains(&key) => (key, value),
                None if matches!(last, "wave" | "lanes" | "dispatch" | "group") => (last, item),
                _ => {
                    let known = KEYS.join(":, ");
                    return Err(format!("`{item}` says nothing about a trace: {known}: are wanted"));
                }
            };
            let named = |e: String| format!("{key}:{value}: {e}");
            last = key;
            match key {
                "wave" => filter.waves.push(range(value).map_err(named)?),
                "dispatch" => filter.dispatches.push(range(value).map_err(named)?),
                "group" => filter.groups.push(group(value).map_err(named)?),
                "lanes" => {
                    let (first, last) = range(value).map_err(named)?;
                    if last > 63 {
                        return Err(named("a wave has lanes 0 to 63".into()));
                    }
                    *filter.lanes.get_or_insert(0) |= u64::MAX >> (63 - (last - first)) << first;
                }
                "kernel" => filter.kernel = Some(value.to_owned()),
                "from" => filter.from = Some(CodePoint::parse(value).map_err(named)?),
                "to" => filter.to = Some(CodePoint::parse(value).map_err(named)?),
                "count" => {
                    filter.count = Some(value.parse().map_err(|_| named("a number is wanted".into()))?);
                }
                _ if value.is_empty() => return Err(named("a name is wanted".into())),
                _ => filter.file = Some(value.into()),
            }
        }
        Ok(filter)
    }

    pub(super) fn takes_dispatch(&self, kernel: &str, number: u64) -> bool {
        let named = self.kernel.as_ref().is_none_or(|k| demangle::answers(kernel, k));
        named && within(&self.dispatches, number)
    }

    pub(super) fn takes_wave(&self, wave: u32, group: [u32; 3]) -> bool {
        within(&self.waves, wave.into()) && (self.groups.is_empty() || self.groups.contains(&group))
    }

    /// The lanes whose values are shown.
    pub(super) fn lanes(&self) -> u64 {
        self.lanes.unwrap_or(!0)
    }

    /// Whether a wave is traced from the start.
    pub(super) fn starts_on(&self) -> bool {
        self.from.is_none()
    }

    /// Whether a wave that comes to a place is traced from there on; `on` says whether it is so far.
    pub(super) fn at(&self, on: bool, spot: &Spot<'_>) -> bool {
        match (&self.from, &self.to) {
            (_, Some(to)) if on && to.is(spot) => false,
            (Some(from), _) if !on => from.is(spot),
            _ => on,
        }
    }

    /// See [`super::Trace::missed`].
    pub(super) fn missed(&self) -> Option<String> {
        let from = self.from.as_ref().filter(|p| !p.seen.load(Ordering::Relaxed))?;
        let lines = match from.at {
            At::Line(..) => "; code has lines when it is assembled by `run`, or compiled with -g",
            _ => "",
        };
        Some(format!("from:{}: no wave came there{lines}", from.text))
    }
}

/// No limits, or within one of them.
fn within(ranges: &[(u64, u64)], number: u64) -> bool {
    ranges.is_empty() || ranges.iter().any(|(first, last)| (*first..=*last).contains(&number))
}

/// `3` or `0-7`.
fn range(text: &str) -> Result<(u64, u64), String> {
    let number = |t: &str| t.parse::<u64>().map_err(|_| format!("`{t}` is not a number"));
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (number(first)?, number(last)?);
    if first > last { Err("it ends before it begins".into()) } else { Ok((first, last)) }
}

/// `X`, `X.Y` or `X.Y.Z`.
fn group(text: &str) -> Result<[u32; 3], String> {
    let mut id = [0; 3];
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() > 3 {
        return Err("a work-group has three numbers at most".into());
    }
    for (n, part) in id.iter_mut().zip(parts) {
        *n = part.parse().map_err(|_| format!("`{part}` is not a number"))?;
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read() {
        let f = Filter::parse("wave:0,2-3,lanes:0-3,8,from:dir/k.s:10,count:7,group:1.2").unwrap();
        assert!(f.takes_wave(2, [1, 2, 0]) && !f.takes_wave(1, [1, 2, 0]) && !f.takes_wave(2, [0; 3]));
        assert_eq!((f.lanes(), f.count), (0x10f, Some(7)));
        let spot = |line| Spot { source: Some(("/src/dir/k.s", line)), offset: 0, function: None };
        assert!(!f.starts_on() && !f.at(false, &spot(9)) && f.missed().is_some());
        assert!(f.at(false, &spot(10)) && f.at(true, &spot(11)) && f.missed().is_none());
        assert_eq!(Filter::parse("lanes:0-63").unwrap().lanes(), !0);
        assert!(Filter::parse("").unwrap().takes_wave(5, [7; 3]));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("waves:0", "`waves:0` says nothing about a trace: kernel:, dispatch:, group:, wave:"),
            ("lanes:60-64", "lanes:60-64: a wave has lanes 0 to 63"),
            ("lanes:3-1", "it ends before it begins"),
            ("wave:first", "wave:first: `first` is not a number"),
            ("from:k.s:ten", "from:k.s:ten: `k.s:ten`: FILE:LINE is wanted"),
            ("from:", "FILE:LINE, a function or an offset such as 0x40 is wanted"),
            ("count:all", "count:all: a number is wanted"),
            ("7", "`7` says nothing about a trace"),
        ] {
            let said = Filter::parse(text).unwrap_err();
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}
