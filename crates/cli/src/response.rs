//! `@FILE` among the words of a command line: the words in that file, as GNU's and LLVM's tools take them.

use std::ffi::OsString;

/// Files may name files, but not for ever.
const DEPTH: usize = 16;

/// The words with those of response files in their places. A file that cannot be read stays what it is, as a name.
pub fn expand(words: Vec<OsString>) -> Vec<OsString> {
    deeper(words, DEPTH)
}

fn deeper(words: Vec<OsString>, depth: usize) -> Vec<OsString> {
    let mut out = Vec::new();
    for word in words {
        let file = word.to_str().and_then(|w| w.strip_prefix('@')).filter(|_| depth > 0);
        match file.and_then(|f| std::fs::read_to_string(f).ok()) {
            Some(text) => out.extend(deeper(split(&text), depth - 1)),
            None => out.push(word),
        }
    }
    out
}

/// Words between blanks; quotes keep blanks, a backslash what comes behind it.
fn split(text: &str) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', q) if q != Some('\'') => word.get_or_insert_default().extend(chars.next()),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(q)) if c == q => quote = None,
            (c, None) if c.is_whitespace() => words.extend(word.take().map(OsString::from)),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(OsString::from));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_shells_do() {
        let text = "-o out\t'a b' \"c \\\"d\" e\\ f\n''";
        assert_eq!(split(text), ["-o", "out", "a b", "c \"d", "e f", ""]);
        assert!(split(" \n").is_empty());
    }
}
