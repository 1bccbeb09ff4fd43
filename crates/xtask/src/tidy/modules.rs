//! The modules of a crate and who uses whom: cycles between neighbours.
//!
//! Modules with one parent are neighbours; what is below a module counts as its own. An edge is a path that leads from one
//! to another, in a `use` or in code, through `crate::`, `super::`, `self::` or the name of a child; re-exports are
//! followed. Modules of tests do not count.

use super::lex::{Token, after_closing, lex};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Name = Vec<String>;

/// A crate's modules, by their paths.
#[derive(Default)]
pub struct Modules {
    paths: BTreeMap<Name, BTreeSet<Name>>,
    exports: BTreeMap<Name, BTreeMap<String, Name>>,
}

/// Where a module's files are: its children's, and its own, which `#[path]` starts from.
#[derive(Clone, Copy)]
struct Places<'a> {
    children: &'a Path,
    own: &'a Path,
}

impl Modules {
    /// Reads a crate from its root file.
    pub fn read(root: &Path) -> Result<Modules, String> {
        let mut modules = Modules::default();
        modules.file(root, Vec::new(), root.parent().unwrap_or(root))?;
        Ok(modules)
    }

    fn file(&mut self, file: &Path, name: Name, children: &Path) -> Result<(), String> {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let tokens = lex(&text).tokens;
        self.body(&tokens, name, Places { children, own: file.parent().unwrap_or(file) })
    }

    /// Notes the paths of a module's tokens and goes down into its children.
    fn body(&mut self, tokens: &[(Token, usize)], name: Name, places: Places<'_>) -> Result<(), String> {
        self.paths.entry(name.clone()).or_default();
        let (mut i, mut test, mut path) = (0, false, None);
        while i < tokens.len() {
            let word = |n: usize| tokens.get(i + n).and_then(|(t, _)| t.word());
            let mark = |n: usize, c| tokens.get(i + n).is_some_and(|(t, _)| t.mark(c));
            if mark(0, '#') && mark(1, '[') {
                let end = after_closing(tokens, i + 1);
                let words: Vec<&str> = tokens[i..end].iter().filter_map(|(t, _)| t.word()).collect();
                test |= words == ["cfg", "test"] || words == ["test"];
                if words == ["path"] {
                    path = tokens[i..end].iter().find_map(|(t, _)| match t {
                        Token::Literal(p) => Some(p.clone()),
                        _ => None,
                    });
                }
                i = end;
                continue;
            }
            match word(0) {
                Some("mod") if word(1).is_some() && (mark(2, ';') || mark(2, '{')) => {
                    let child = word(1).unwrap_or_default().to_owned();
                    let mut full = name.clone();
                    full.push(child.clone());
                    let end = if mark(2, '{') { after_closing(tokens, i + 2) } else { i + 3 };
                    if !test && mark(2, '{') {
                        let below = places.children.join(&child);
                        self.body(&tokens[i + 3..end - 1], full, Places { children: &below, own: &below })?;
                    } else if !test {
                        let beside = match &path {
                            Some(p) => places.own.join(p),
                            None => places.children.join(format!("{child}.rs")),
                        };
                        let below = places.children.join(&child);
                        let file = if beside.exists() { beside } else { below.join("mod.rs") };
                        self.file(&file, full, &below)?;
                    }
                    i = end;
                }
                // An item of tests only: to its end.
                Some(_) if test => {
                    let mut end = i;
                    while end < tokens.len() && !tokens[end].0.mark('{') && !tokens[end].0.mark(';') {
                        end += 1;
                    }
                    i = if tokens.get(end).is_some_and(|(t, _)| t.mark('{')) {
                        after_closing(tokens, end)
                    } else {
                        end + 1
                    };
                }
                Some("use") => {
                    let public = i > 0 && (tokens[i - 1].0.is("pub") || tokens[i - 1].0.mark(')'));
                    let end = (i..tokens.len()).find(|&n| tokens[n].0.mark(';')).unwrap_or(tokens.len());
                    let mut leaves = Vec::new();
                    tree(&tokens[i + 1..end], Vec::new(), &mut leaves);
                    for (leaf, alias) in leaves {
                        self.note(&name, leaf, public.then_some(alias));
                    }
                    i = end + 1;
                }
                Some(_) if !(i > 0 && tokens[i - 1].0.mark('.')) && mark(1, ':') && mark(2, ':') => {
                    let mut segments = Vec::new();
                    while let Some(w) = tokens.get(i).and_then(|(t, _)| t.word()) {
                        segments.push(w.to_owned());
                        let more = tokens.get(i + 1).is_some_and(|(t, _)| t.mark(':'))
                            && tokens.get(i + 2).is_some_and(|(t, _)| t.mark(':'));
                        i += if more { 3 } else { 1 };
                        if !more {
                            break;
                        }
                    }
                    self.note(&name, segments, None);
                }
                _ => i += 1,
            }
            (test, path) = (false, None);
        }
        Ok(())
    }

    fn note(&mut self, from: &Name, segments: Vec<String>, export: Option<String>) {
        let absolute = match segments.first().map(String::as_str) {
            Some("crate") => segments[1..].to_vec(),
            Some("self") => [from.as_slice(), &segments[1..]].concat(),
            Some("super") => {
                let up = segments.iter().take_while(|s| *s == "super").count();
                [&from[..from.len().saturating_sub(up)], &segments[up..]].concat()
            }
            // A child, or something of another crate: only children are found later.
            _ => [from.as_slice(), &segments].concat(),
        };
        if let (Some(alias), Some(last)) = (export, absolute.last())
            && last != "*"
        {
            self.exports.entry(from.clone()).or_default().insert(alias, absolute.clone());
        }
        self.paths.entry(from.clone()).or_default().insert(absolute);
    }

    /// The module that a path leads into, re-exports followed.
    fn resolve(&self, path: &[String], depth: usize) -> Option<Name> {
        let mut module: Name = Vec::new();
        for (i, segment) in path.iter().enumerate() {
            let mut child = module.clone();
            child.push(segment.clone());
            if self.paths.contains_key(&child) {
                module = child;
                continue;
            }
            let target = self.exports.get(&module).and_then(|e| e.get(segment));
            if let Some(target) = target.filter(|t| depth < 8 && t.as_slice() != path) {
                let whole = [target.as_slice(), &path[i + 1..]].concat();
                return self.resolve(&whole, depth + 1).or(Some(module));
            }
            break;
        }
        Some(module)
    }

    /// Groups of neighbours that use each other in a circle, each named from the crate's root.
    pub fn cycles(&self) -> Vec<Vec<String>> {
        let mut edges: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
        for (from, paths) in &self.paths {
            for path in paths {
                let Some(to) = self.resolve(path, 0) else { continue };
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                // A parent and its child are one room.
                if shared < from.len() && shared < to.len() {
                    edges.entry(from[..=shared].to_vec()).or_default().insert(to[..=shared].to_vec());
                }
            }
        }
        let reach = |start: &Name| {
            let mut seen = BTreeSet::new();
            let mut todo: Vec<&Name> = edges.get(start).into_iter().flatten().collect();
            while let Some(next) = todo.pop() {
                if seen.insert(next.clone()) {
                    todo.extend(edges.get(next).into_iter().flatten());
                }
            }
            seen
        };
        let reaches: BTreeMap<&Name, BTreeSet<Name>> = edges.keys().map(|n| (n, reach(n))).collect();
        let mut groups: BTreeSet<Vec<String>> = BTreeSet::new();
        for (name, seen) in &reaches {
            if seen.contains(*name) {
                let group = seen.iter().filter(|o| reaches.get(o).is_some_and(|r| r.contains(*name)));
                groups.insert(group.map(|n| n.join("::")).collect());
            }
        }
        groups.into_iter().collect()
    }
}

/// The leaves of a `use` tree with the names they get.
fn tree(tokens: &[(Token, usize)], prefix: Vec<String>, out: &mut Vec<(Vec<String>, String)>) {
    let mut path = prefix.clone();
    let mut i = 0;
    while i < tokens.len() {
        match &tokens[i].0 {
            Token::Word(w) if w == "as" => {
                let alias = tokens.get(i + 1).and_then(|(t, _)| t.word()).unwrap_or("_").to_owned();
                out.push((std::mem::replace(&mut path, prefix.clone()), alias));
                i += 2;
            }
            Token::Word(w) => {
                path.push(w.clone());
                i += 1;
            }
            Token::Mark('*') => {
                path.push("*".to_owned());
                i += 1;
            }
            Token::Mark('{') => {
                let end = after_closing(tokens, i);
                tree(&tokens[i + 1..end - 1], std::mem::replace(&mut path, prefix.clone()), out);
                i = end;
            }
            Token::Mark(',') => {
                leaf(&mut path, &prefix, out);
                i += 1;
            }
            _ => i += 1,
        }
    }
    leaf(&mut path, &prefix, out);
}

fn leaf(path: &mut Vec<String>, prefix: &[String], out: &mut Vec<(Vec<String>, String)>) {
    if path.len() > prefix.len() {
        let mut whole = std::mem::replace(path, prefix.to_vec());
        // `{self, …}` is the module itself.
        if whole.last().is_some_and(|l| l == "self") && whole.len() > 1 {
            whole.pop();
        }
        let name = whole.last().cloned().unwrap_or_default();
        out.push((whole, name));
    }
}

/// The root file of a crate's library or program.
pub fn root_file(directory: &Path) -> Option<PathBuf> {
    ["src/lib.rs", "src/main.rs"].iter().map(|f| directory.join(f)).find(|f| f.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(text: &str) -> Modules {
        let mut modules = Modules::default();
        let nowhere = Places { children: Path::new(""), own: Path::new("") };
        modules.body(&lex(text).tokens, Vec::new(), nowhere).unwrap();
        modules
    }

    #[test]
    fn circles_are_found() {
        let circle = crate_of(
            "mod a { use crate::b::X; } mod b { fn f() { super::c::g(); } } mod c { use crate::a; }",
        );
        assert_eq!(circle.cycles(), [["a", "b", "c"]]);
        let line = crate_of("mod a { use crate::b::X; } mod b { use crate::c; } mod c {}");
        assert!(line.cycles().is_empty());
    }

    #[test]
    fn exports_are_followed_and_tests_are_not() {
        let text = "mod a; pub use b::{Y as X}; mod b { use crate::{c::{self, d}}; } mod c { use crate::X; }";
        let circle = crate_of(&text.replace("mod a; ", ""));
        assert_eq!(circle.cycles(), [["b", "c"]]);
        let tests = crate_of("mod b { use crate::c; } mod c { #[cfg(test)] mod tests { use crate::b; } }");
        assert!(tests.cycles().is_empty());
    }

    #[test]
    fn parents_and_children_are_one_room() {
        let family = crate_of("mod a { mod b { use super::X; } use b::Y; struct X; }");
        assert!(family.cycles().is_empty());
        let siblings = crate_of("mod a { mod b { use super::c::X; } mod c { use crate::a::b; } }");
        assert_eq!(siblings.cycles(), [["a::b", "a::c"]]);
    }
}
