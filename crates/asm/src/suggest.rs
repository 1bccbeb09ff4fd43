//! "Did you mean": the nearest name to a misspelt one. Only errors come here, so it may be slow.

/// Edits (insertions, deletions, replacements, swaps of neighbours) between two words, up to `limit`.
fn distance(a: &[u8], b: &[u8], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The name nearest to `word`, if one is near enough to have been meant.
pub fn closest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Nothing longer than the longest mnemonic can be near one.
    if word.len() > 64 {
        return None;
    }
    let limit = (word.len() / 4).clamp(1, 3);
    names
        .map(|name| (distance(word.as_bytes(), name.as_bytes(), limit), name))
        .filter(|(d, _)| *d > 0 && *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["v_add_f32", "v_sub_f32", "s_waitcnt"];
        assert_eq!(closest("v_ad_f32", names.into_iter()), Some("v_add_f32"));
        assert_eq!(closest("s_wiatcnt", names.into_iter()), Some("s_waitcnt"));
        assert_eq!(closest("banana", names.into_iter()), None);
        assert_eq!(closest("", names.into_iter()), None);
    }
}
