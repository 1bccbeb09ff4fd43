//! The symbol table of one assembly: labels, assigned symbols, and what is said about them (binding, type …).

use crate::expr::{BinOp, Expr, MAX_DEPTH, Op, UnOp, Work};
use crate::ids::{Position, SectionId, SymId};
use crate::source::Span;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::{Index, IndexMut};

/// ELF binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Binding {
    /// Not said: local when defined, global when not.
    #[default]
    Unset,
    /// `.local`
    Local,
    /// `.globl`
    Global,
    /// `.weak`
    Weak,
    /// `gnu_unique_object`
    Unique,
}

/// ELF visibility.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Visibility {
    /// Seen by everyone.
    #[default]
    Default,
    /// `.internal`
    Internal,
    /// `.hidden`
    Hidden,
    /// `.protected`
    Protected,
}

/// ELF symbol type, by its number in the symbol table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum SymType {
    /// Not said.
    #[default]
    NoType = 0,
    /// Data.
    Object = 1,
    /// Code.
    Func = 2,
    /// A section's own symbol.
    Section = 3,
    /// Common storage.
    Common = 5,
    /// Thread-local data.
    Tls = 6,
    /// Indirect function.
    IFunc = 10,
    /// A code-object v2 kernel.
    AmdgpuHsaKernel = 12,
}

/// A `.comm` symbol's storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Common {
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Made by `.lcomm`.
    pub local: bool,
}

/// A symbol.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: Box<str>,
    /// What it was set to, for `.set` and `=`.
    pub value: Option<Expr>,
    /// Where in the source it was set so.
    pub value_span: Option<Span>,
    /// Where it stands, for a label.
    pub place: Option<Position>,
    /// Storage the linker shall make.
    pub common: Option<Common>,
    /// Size in bytes, from `.size`.
    pub size: Option<Expr>,
    /// Binding.
    pub binding: Binding,
    /// Visibility.
    pub visibility: Visibility,
    /// Type.
    pub ty: SymType,
    /// `st_other` bits beyond the visibility.
    pub other: u8,
    /// Assembler-made or `.L…`: does not reach the symbol table.
    pub temporary: bool,
    /// An expression has used it, so `=` may no longer change it unless it is redefinable.
    pub used: bool,
    /// Set by `=` or `.set`: may be set again.
    pub redefinable: bool,
    /// Named by a directive or expression in the source, hence wanted in the symbol table even when undefined.
    pub referenced: bool,
    /// Where the value points, once that is known: without it chains of assignments would be walked again and again.
    home: Cell<Home>,
}

impl Symbol {
    /// Has a value.
    pub fn is_variable(&self) -> bool {
        self.value.is_some()
    }

    /// Neither a label, a variable nor common storage.
    pub fn is_undefined(&self) -> bool {
        self.place.is_none() && self.value.is_none() && self.common.is_none()
    }
}

/// Where an expression points, as far as its shape tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// Nothing is known.
    Nowhere,
    /// A number.
    Absolute,
    /// An address in a section.
    Section(SectionId),
}

/// FxHash: the names are short and not chosen by an adversary worth slowing every label for.
#[derive(Default)]
pub struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut add = |word: u64| self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            add(chunk.iter().rev().fold(0, |word, b| word << 8 | u64::from(*b)));
        }
        add(chunks.remainder().iter().rev().fold(bytes.len() as u64, |word, b| word << 8 | u64::from(*b)));
    }

    fn finish(&self) -> u64 {
        // The table takes its bits from the top and the bottom; multiplication leaves the bottom weak.
        self.0 ^ (self.0 >> 32)
    }
}

/// A map keyed by names.
pub type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;

/// All symbols.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    all: Vec<Symbol>,
    by_name: NameMap<Box<str>, SymId>,
    next_temporary: u32,
    /// Numeric labels: the symbol of each definition, counted from one.
    directional: HashMap<(u64, u64), SymId>,
    /// How often each was defined.
    directional_count: HashMap<u64, u64>,
    /// What evaluating the symbols' values has cost so far.
    pub(crate) work: Work,
}

impl Index<SymId> for Symbols {
    type Output = Symbol;
    fn index(&self, id: SymId) -> &Symbol {
        &self.all[id.0 as usize]
    }
}

impl IndexMut<SymId> for Symbols {
    fn index_mut(&mut self, id: SymId) -> &mut Symbol {
        &mut self.all[id.0 as usize]
    }
}

impl Symbols {
    /// The symbol with this name, if there is one.
    pub fn lookup(&self, name: &str) -> Option<SymId> {
        self.by_name.get(name).copied()
    }

    /// The symbol with this name, made if there is none.
    pub fn get_or_insert(&mut self, name: &str) -> SymId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let temporary = name.starts_with(".L");
        self.insert(name.into(), temporary)
    }

    fn insert(&mut self, name: Box<str>, temporary: bool) -> SymId {
        let id = SymId(self.all.len() as u32);
        self.all.push(Symbol {
            name: name.clone(),
            value: None,
            value_span: None,
            place: None,
            common: None,
            size: None,
            binding: Binding::default(),
            visibility: Visibility::default(),
            ty: SymType::default(),
            other: 0,
            temporary,
            used: false,
            redefinable: false,
            referenced: false,
            home: Cell::new(Home::Nowhere),
        });
        self.by_name.insert(name, id);
        id
    }

    /// A fresh `.Ltmp…` symbol.
    pub fn temporary(&mut self) -> SymId {
        self.temporary_named("tmp")
    }

    /// A fresh `.L<prefix>…` symbol. All prefixes count together, as in LLVM.
    pub fn temporary_named(&mut self, prefix: &str) -> SymId {
        loop {
            let name = format!(".L{prefix}{}", self.next_temporary);
            self.next_temporary += 1;
            if !self.by_name.contains_key(name.as_str()) {
                return self.insert(name.into(), true);
            }
        }
    }

    /// The symbol `1b` (`before`) or `1f` stands for here.
    pub fn directional(&mut self, label: u64, before: bool) -> SymId {
        // A `1b` without a definition gets a symbol too, one that is never defined.
        let count = self.directional_count.get(&label).copied().unwrap_or(0);
        self.instance(label, if before { count } else { count + 1 })
    }

    /// The symbol a definition `1:` here gets.
    pub fn define_directional(&mut self, label: u64) -> SymId {
        let count = self.directional_count.entry(label).or_insert(0);
        *count += 1;
        let wanted = *count;
        self.instance(label, wanted)
    }

    fn instance(&mut self, label: u64, number: u64) -> SymId {
        if let Some(id) = self.directional.get(&(label, number)) {
            return *id;
        }
        let id = self.temporary();
        self.directional.insert((label, number), id);
        id
    }

    /// Every symbol in order of first mention.
    pub fn iter(&self) -> impl Iterator<Item = (SymId, &Symbol)> {
        self.all.iter().enumerate().map(|(i, symbol)| (SymId(i as u32), symbol))
    }

    /// Number of symbols.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Writes a name, quoted when it has characters that names usually do not have.
    pub fn print_name(&self, id: SymId, out: &mut Vec<u8>) {
        print_name(&self[id].name, out);
    }

    /// Sets a symbol to an expression.
    pub fn set_value(&mut self, id: SymId, value: Expr) {
        let symbol = &mut self[id];
        symbol.value = Some(value);
        symbol.home.set(Home::Nowhere);
    }

    /// Is the symbol an address in a section, itself or through its value?
    pub fn in_section(&self, id: SymId) -> bool {
        matches!(self.home(id), Home::Section(_))
    }

    /// Where the symbol points.
    pub fn home(&self, id: SymId) -> Home {
        self.work.bounded(|fuel| self.symbol_home(id, 0, fuel))
    }

    /// Where an expression points.
    pub fn expr_home(&self, expr: &Expr) -> Home {
        self.work.bounded(|fuel| self.home_of(expr, 0, fuel))
    }

    /// As [`Symbols::home`], with a bound on the work that the caller shares.
    pub(crate) fn symbol_home(&self, id: SymId, depth: u32, fuel: &Cell<u32>) -> Home {
        let symbol = &self[id];
        match (&symbol.value, symbol.place) {
            (_, Some(place)) => Home::Section(place.section),
            (Some(value), None) => {
                if symbol.home.get() == Home::Nowhere {
                    symbol.home.set(self.home_of(value, depth + 1, fuel));
                    self.work.blame(id);
                }
                symbol.home.get()
            }
            (None, None) => Home::Nowhere,
        }
    }

    fn home_of(&self, expr: &Expr, depth: u32, fuel: &Cell<u32>) -> Home {
        if depth > 2 * MAX_DEPTH || fuel.get() == 0 {
            self.work.give_up();
            return Home::Nowhere;
        }
        fuel.set(fuel.get() - 1);
        match expr {
            Expr::Const(_) => Home::Absolute,
            Expr::Sym(id, _) => self.symbol_home(*id, depth, fuel),
            Expr::Tree(tree) => match (tree.op, &*tree.args) {
                (Op::Unary(UnOp::LNot | UnOp::Minus | UnOp::Not | UnOp::Plus), [arg]) => {
                    self.home_of(arg, depth + 1, fuel)
                }
                (Op::Binary(op), [left, right]) => {
                    let left = self.home_of(left, depth + 1, fuel);
                    let right = self.home_of(right, depth + 1, fuel);
                    match (left, right) {
                        (Home::Absolute, other) | (other, Home::Absolute) => other,
                        _ if op == BinOp::Sub => Home::Absolute,
                        (Home::Nowhere, other) => other,
                        (other, _) => other,
                    }
                }
                (_, args) => {
                    let homes = args.iter().map(|arg| self.home_of(arg, depth + 1, fuel));
                    homes.into_iter().find(|home| *home != Home::Nowhere).unwrap_or(Home::Nowhere)
                }
            },
        }
    }
}

/// True for the names of the symbols that are there before the first statement.
pub(crate) fn is_predefined(name: &str) -> bool {
    let prefixes = [".amdgcn.", ".kernel.", ".option.", "UC_VERSION_"];
    prefixes.iter().any(|p| name.starts_with(p))
}

/// Writes a symbol name, quoted when it has characters that names usually do not have.
pub fn print_name(name: &str, out: &mut Vec<u8>) {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
    if !name.is_empty() && name.bytes().all(plain) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in name.bytes() {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'"' => out.extend_from_slice(b"\\\""),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}
