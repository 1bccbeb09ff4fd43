//! What memory the program has: asked before GPUs are let at it, and for GPUs that reach all of it (XNACK).

use std::sync::Arc;
use wavemill_wave::{Memory, Pager};

/// Whether every page of `start..end` is mapped for reading, and if so, whether all may be written.
#[cfg(target_os = "linux")]
pub fn access(start: u64, end: u64) -> Option<bool> {
    // Without /proc nobody can say; what is not there will be a fault when it is accessed.
    let Ok(text) = std::fs::read_to_string("/proc/self/maps") else { return Some(true) };
    let mut at = start;
    let mut writable = true;
    // `7f12…-7f13… rw-p …`, in order of addresses.
    for line in text.lines() {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
        if to <= at {
            continue;
        }
        if from > at || !rest.starts_with('r') {
            return None;
        }
        writable &= rest.as_bytes().get(1) == Some(&b'w');
        at = to;
        if at >= end {
            return Some(writable);
        }
    }
    None
}

/// The readable memory around an address: first address, one past the last, whether it may be written. Mappings that follow
/// one another and allow the same are one.
#[cfg(target_os = "linux")]
pub fn around(address: u64) -> Option<(u64, u64, bool)> {
    let text = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut found: Option<(u64, u64, bool)> = None;
    for line in text.lines() {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
        let writable = rest.as_bytes().get(1) == Some(&b'w');
        match &mut found {
            Some(so_far) if rest.starts_with('r') && so_far.1 == from && so_far.2 == writable => {
                so_far.1 = to
            }
            Some(so_far) if address < so_far.1 => break,
            _ if from > address => break,
            _ => found = rest.starts_with('r').then_some((from, to, writable)),
        }
    }
    found.filter(|(from, to, _)| (*from..*to).contains(&address))
}

/// Elsewhere nobody can say.
#[cfg(not(target_os = "linux"))]
pub fn around(_: u64) -> Option<(u64, u64, bool)> {
    None
}

struct Pages;

impl Pager for Pages {
    fn pages(&self, address: u64) -> Option<(u64, u64, bool)> {
        around(address)
    }
}

/// Lets a GPU reach all memory of the program, as one does that replays accesses to pages which come later.
pub fn show_all(memory: &Memory) {
    // SAFETY: memory that the program has, which waves may change as its own threads may; what goes is a fault.
    unsafe { memory.set_pager(Arc::new(Pages)) };
}

/// Elsewhere nobody can say.
#[cfg(not(target_os = "linux"))]
pub fn access(_: u64, _: u64) -> Option<bool> {
    Some(true)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{access, around};

    #[test]
    fn memory_around_an_address() {
        let mut mine = vec![0u8; 3 << 20];
        let start = mine.as_mut_ptr() as u64;
        let end = start + mine.len() as u64;
        let (from, to, writable) = around(start + 5).unwrap();
        assert!(from <= start && to >= end && writable);
        static CONSTANT: [u8; 8] = [1; 8];
        assert_eq!(around(&raw const CONSTANT as u64).map(|r| r.2), Some(false));
        assert_eq!(around(8), None);
    }

    #[test]
    fn memory_of_all_kinds() {
        let mut mine = vec![0u8; 3 << 20];
        let start = mine.as_mut_ptr() as u64;
        assert_eq!(access(start, start + mine.len() as u64), Some(true));
        static CONSTANT: [u8; 8] = [1; 8];
        let constant = &raw const CONSTANT as u64;
        assert_eq!(access(constant, constant + 8), Some(false));
        assert_eq!(access(8, 16), None);
        assert_eq!(access(start, start + (1 << 46)), None);
    }
}
