//! Symbols of CLRX's assembly and the scopes they live in.

use super::expr::{Expr, Names, ScopeId, Value};
use std::collections::HashMap;

/// What a symbol is.
#[derive(Clone, Debug)]
struct Symbol {
    value: Expr,
    /// It may be given another value.
    variable: bool,
}

#[derive(Clone, Debug, Default)]
struct Scope {
    parent: ScopeId,
    symbols: HashMap<String, Symbol>,
    children: HashMap<String, ScopeId>,
    /// Other scopes whose symbols are seen here.
    using: Vec<ScopeId>,
}

/// All scopes of a source.
#[derive(Clone, Debug)]
pub(super) struct Scopes {
    all: Vec<Scope>,
    stack: Vec<ScopeId>,
    /// How often each numbered label has been defined.
    labels: HashMap<u64, u64>,
}

impl Default for Scopes {
    fn default() -> Scopes {
        Scopes { all: vec![Scope::default()], stack: vec![0], labels: HashMap::new() }
    }
}

/// Symbols that mean symbols that mean symbols, no deeper than this.
const MAX_DEPTH: u32 = 200;

impl Scopes {
    /// Enters a scope, new or known; without a name always a new one.
    pub fn enter(&mut self, name: &str) {
        let parent = self.current();
        let id = match self.all[parent].children.get(name) {
            Some(id) if !name.is_empty() => *id,
            _ => {
                self.all.push(Scope { parent, ..Scope::default() });
                self.all.len() - 1
            }
        };
        if !name.is_empty() {
            self.all[parent].children.insert(name.to_owned(), id);
        }
        self.stack.push(id);
    }

    /// Leaves a scope; false when there is none to leave.
    pub fn leave(&mut self) -> bool {
        let inside = self.stack.len() > 1;
        if inside {
            self.stack.pop();
        }
        inside
    }

    /// The scope of a path, seen from another.
    fn find_scope(&self, path: &str, from: ScopeId) -> Option<ScopeId> {
        let mut parts = path.split("::");
        let first = parts.next()?;
        let mut at = from;
        let mut found = loop {
            if let Some(id) = self.all[at].children.get(first) {
                break *id;
            }
            if at == 0 {
                return None;
            }
            at = self.all[at].parent;
        };
        for part in parts {
            found = *self.all[found].children.get(part)?;
        }
        Some(found)
    }

    /// Makes another scope's symbols seen in the current one; false when there is no such scope.
    pub fn using(&mut self, path: &str) -> bool {
        let current = self.current();
        let (path, from) = path.strip_prefix("::").map_or((path, current), |p| (p, 0));
        let found = self.find_scope(path, from);
        if let Some(id) = found {
            self.all[current].using.push(id);
        }
        found.is_some()
    }

    /// Takes that back: of one scope, or of all.
    pub fn unusing(&mut self, path: &str) -> bool {
        let current = self.current();
        if path.is_empty() {
            self.all[current].using.clear();
            return true;
        }
        let found = self.find_scope(path.trim_start_matches("::"), current);
        self.all[current].using.retain(|id| Some(*id) != found);
        found.is_some()
    }

    fn find(&self, name: &str, from: ScopeId) -> Option<&Symbol> {
        if let Some((path, last)) = name.rsplit_once("::") {
            return self.all[self.find_scope(path, from)?].symbols.get(last);
        }
        let mut at = from;
        loop {
            let scope = &self.all[at];
            let seen = scope.using.iter().rev().find_map(|id| self.all[*id].symbols.get(name));
            if let Some(symbol) = scope.symbols.get(name).or(seen) {
                return Some(symbol);
            }
            if at == 0 {
                return None;
            }
            at = scope.parent;
        }
    }

    /// Whether a name means something.
    pub fn is_defined(&self, name: &str) -> bool {
        self.find(name, self.current()).is_some()
    }

    /// Gives a name a value. Variables may get another; labels and `.equiv` may not.
    pub fn define(&mut self, name: &str, value: Expr, variable: bool) -> Result<(), String> {
        let (scope, last) = match name.rsplit_once("::") {
            Some((path, last)) => (
                self.find_scope(path, self.current()).ok_or_else(|| format!("there is no scope {path}"))?,
                last,
            ),
            None => (self.current(), name),
        };
        let symbols = &mut self.all[scope].symbols;
        if symbols.get(last).is_some_and(|s| !s.variable || !variable) {
            return Err(format!("{last} is defined a second time"));
        }
        symbols.insert(last.to_owned(), Symbol { value, variable });
        Ok(())
    }

    /// Forgets a name; false when it meant nothing.
    pub fn undefine(&mut self, name: &str) -> bool {
        let current = self.current();
        self.all[current].symbols.remove(name).is_some()
    }

    /// The name for the next `3:`.
    pub fn next_local(&mut self, number: u64) -> String {
        *self.labels.entry(number).or_default() += 1;
        self.local_label(number, false)
    }

    /// Gives a name a value in the outermost scope.
    pub fn define_root(&mut self, name: &str, value: Expr) {
        self.all[0].symbols.insert(name.to_owned(), Symbol { value, variable: false });
    }
}

impl Names for Scopes {
    fn root(&self) -> ScopeId {
        0
    }

    fn current(&self) -> ScopeId {
        self.stack.last().copied().unwrap_or(0)
    }

    fn value(&self, name: &str, from: ScopeId, depth: u32) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.find(name, from)?.value.value(self, depth + 1).ok()
    }

    fn local_label(&self, number: u64, forward: bool) -> String {
        let count = self.labels.get(&number).copied().unwrap_or(0);
        // Such names cannot be written.
        format!("{number}\u{1}{}", if forward { count + 1 } else { count })
    }
}
