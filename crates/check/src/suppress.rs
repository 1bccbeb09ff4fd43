//! Findings that are known: a file with a line for each, `CHECK[:KIND] [kernel=NAME] [place=FILE[:LINE]]`, where `*` stands
//! for anything.

use crate::report::Report;

/// One line of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rule {
    check: String,
    kind: String,
    kernel: String,
    place: String,
}

/// What is not to be reported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suppressions(Vec<Rule>);

impl Suppressions {
    /// Reads the text of a file. Errors have the line and what is wrong with it.
    pub fn parse(&mut self, text: &str) -> Result<(), (usize, String)> {
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let Some(first) = words.next() else { continue };
            let wrong = |message: String| Err((number + 1, message));
            let (check, kind) = first.split_once(':').unwrap_or((first, "*"));
            let known = crate::dynamic::Check::ALL.iter().map(|c| c.name()).chain(["model"]);
            if check != "*" && !known.clone().any(|name| name == check) {
                return wrong(format!("`{check}` is no check"));
            }
            let any = || "*".to_owned();
            let mut rule =
                Rule { check: check.to_owned(), kind: kind.to_owned(), kernel: any(), place: any() };
            for word in words {
                match word.split_once('=') {
                    Some(("kernel", name)) => rule.kernel = name.to_owned(),
                    Some(("place", place)) => rule.place = place.to_owned(),
                    _ => return wrong(format!("`{word}`: kernel=NAME or place=FILE:LINE is wanted")),
                }
            }
            self.0.push(rule);
        }
        Ok(())
    }

    /// Whether somebody knows of it.
    pub fn cover(&self, report: &Report) -> bool {
        self.0.iter().any(|rule| {
            let place = report.place.shown();
            let file = report.place.source.as_ref().map_or("", |(file, _)| file);
            matches(&rule.check, &report.check)
                && matches(&rule.kind, &report.kind)
                && matches(&rule.kernel, &report.kernel)
                && (matches(&rule.place, &place) || matches(&rule.place, file))
        })
    }
}

/// The line that suppresses a finding.
pub fn line(report: &Report) -> String {
    // Spaces part words, and `#` starts a comment.
    let word = |text: &str| text.replace([' ', '\t', '#'], "*");
    let (kernel, place) = (word(&report.kernel), word(&report.place.shown()));
    format!("{}:{} kernel={kernel} place={place}", report.check, report.kind)
}

/// Whether a text is what a pattern with `*` wants. Each piece between two of them is taken where it comes first, which leaves
/// the most to the others: files of strangers cannot make it try every way.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(text) = text.strip_prefix(start).and_then(|text| text.strip_suffix(end)) else { return false };
    let mut left = text;
    middle.split('*').all(|piece| {
        let found = left.split_once(piece);
        left = found.map_or("", |(_, rest)| rest);
        found.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::CodeLocation;

    fn report() -> Report {
        let source = Some(("my kernels/a.s".to_owned(), 7));
        let place = CodeLocation { source, ..CodeLocation::default() };
        Report {
            check: "mem".into(),
            kind: "read-outside".into(),
            kernel: "k".into(),
            place,
            ..Report::default()
        }
    }

    #[test]
    fn lines_cover_what_they_were_made_from() {
        for text in [
            line(&report()).as_str(),
            "mem",
            "*",
            "mem:read-* kernel=k",
            "mem place=*a.s",
            "# no\n\nmem # yes",
        ] {
            let mut all = Suppressions::default();
            all.parse(text).unwrap();
            assert!(all.cover(&report()), "{text}");
        }
        for text in ["sync", "mem:write-outside", "mem kernel=other", "mem place=*a.s:8", ""] {
            let mut all = Suppressions::default();
            all.parse(text).unwrap();
            assert!(!all.cover(&report()), "{text}");
        }
    }

    #[test]
    fn stars_stand_for_anything_and_take_no_time() {
        for (pattern, text, wanted) in [
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*bc*c", "abc", false),
            ("*é*", "né", true),
            ("**", "", true),
            ("x**y", "xy", true),
            ("*ab*ba*", "aba", false),
        ] {
            assert_eq!(matches(pattern, text), wanted, "{pattern} {text}");
        }
        // Trying every way would take longer than anybody waits.
        assert!(!matches(&"*a".repeat(40_000), &format!("{}b", "a".repeat(100_000))));
        assert!(matches(&"*".repeat(1_000_000), "k"));
    }

    #[test]
    fn wrong_lines_are_told_with_their_number() {
        let parse = |text: &str| Suppressions::default().parse(text).unwrap_err();
        assert_eq!(parse("mem\nmemory"), (2, "`memory` is no check".to_owned()));
        assert_eq!(parse("mem where=3").0, 1);
    }
}
