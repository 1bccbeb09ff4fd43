//! Tests that cannot fail: every test must assert something, itself or through a function it calls.

use super::lex::{Token, after_closing, lex};
use std::collections::{BTreeMap, BTreeSet};

/// A function: what it calls, and whether it asserts.
#[derive(Default)]
struct Function {
    asserts: bool,
    calls: BTreeSet<String>,
}

/// Functions of many files by their names, and the tests among them. Two functions of one name count as one that does what
/// either does: a test is not accused for lack of knowing which it calls.
#[derive(Default)]
pub struct Functions {
    all: BTreeMap<String, Function>,
    tests: Vec<(String, String, usize)>,
}

impl Functions {
    /// Takes in a file's functions.
    pub fn read(&mut self, file: &str, text: &str) {
        let tokens = lex(text).tokens;
        let (mut test, mut panics) = (false, false);
        let mut i = 0;
        while i < tokens.len() {
            let (token, line) = &tokens[i];
            if token.mark('#') && tokens.get(i + 1).is_some_and(|(t, _)| t.mark('[')) {
                let end = after_closing(&tokens, i + 1);
                test |= end == i + 4 && tokens[i + 2].0.is("test");
                panics |= tokens[i + 2].0.is("should_panic");
                i = end;
                continue;
            }
            if token.is("fn")
                && let Some(name) = tokens.get(i + 1).and_then(|(t, _)| t.word())
            {
                // The body is behind parameters and types, whose brackets may have a `;` or a `{` of their own.
                let mut open = i;
                while let Some((token, _)) = tokens.get(open).filter(|(t, _)| !t.mark('{') && !t.mark(';')) {
                    open = if token.mark('(') || token.mark('[') {
                        after_closing(&tokens, open)
                    } else {
                        open + 1
                    };
                }
                if tokens.get(open).is_none_or(|(t, _)| !t.mark('{')) {
                    i += 1;
                    continue;
                }
                let end = after_closing(&tokens, open);
                let function = self.all.entry(name.to_owned()).or_default();
                function.asserts |= std::mem::take(&mut panics);
                take_in(function, &tokens[open..end]);
                if std::mem::take(&mut test) {
                    self.tests.push((file.to_owned(), name.to_owned(), *line));
                }
                // Functions inside are found, too.
                i = open;
            }
            i += 1;
        }
    }

    /// The tests that assert nothing.
    pub fn idle(&self) -> impl Iterator<Item = String> + '_ {
        self.tests.iter().filter(|(_, name, _)| !self.asserts(name)).map(|(file, name, line)| {
            format!("{file}:{line}: test `{name}` asserts nothing, nor does what it calls")
        })
    }

    fn asserts(&self, name: &str) -> bool {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut todo = vec![name];
        while let Some(name) = todo.pop() {
            let Some(function) = self.all.get(name).filter(|_| seen.insert(name)) else { continue };
            if function.asserts {
                return true;
            }
            todo.extend(function.calls.iter().map(String::as_str));
        }
        false
    }
}

/// Notes what a body calls and whether it asserts: macros by name, and the methods that fail unless an error is there.
fn take_in(function: &mut Function, body: &[(Token, usize)]) {
    for (i, (token, _)) in body.iter().enumerate() {
        let Some(word) = token.word() else { continue };
        let next = |c| body.get(i + 1).is_some_and(|(t, _)| t.mark(c));
        function.asserts |= next('!') && (word.starts_with("assert") || word == "panic");
        function.asserts |= matches!(word, "unwrap_err" | "expect_err");
        if next('(') || next(':') || next('!') {
            function.calls.insert(word.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_tests_are_found() {
        let mut functions = Functions::default();
        functions.read(
            "a.rs",
            "#[test] fn idle() { helper(1); }
             #[test] fn own() { assert_eq!(1, 1); }
             #[test] fn through() { check(2); }
             #[test] #[should_panic] fn stops() { helper(2); }
             fn helper(n: u8) { n.min(1); }
             fn check(n: u8) { compare(n) }
             fn compare(n: [u8; 3]) { if n > 3 { panic!(\"no\") } }",
        );
        let idle: Vec<String> = functions.idle().collect();
        assert_eq!(idle, ["a.rs:1: test `idle` asserts nothing, nor does what it calls"]);
    }
}
