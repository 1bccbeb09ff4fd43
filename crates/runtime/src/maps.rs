//! What memory the program has: asked before GPUs are let at it.

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

/// Elsewhere nobody can say.
#[cfg(not(target_os = "linux"))]
pub fn access(_: u64, _: u64) -> Option<bool> {
    Some(true)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::access;

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
