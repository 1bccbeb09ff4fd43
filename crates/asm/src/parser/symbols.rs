//! Directives that say something about symbols.

use super::{Parser, Res};
use crate::ids::SymId;
use crate::lex::Tok;
use crate::number::write_int;
use crate::section::{Section, flags, types};
use crate::source::{Diag, Span};
use crate::symbol::{Binding, Common, Home, SymType, Visibility};

/// Something a symbol can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // named after the directives
pub enum Attribute {
    Global,
    Local,
    Weak,
    Hidden,
    Internal,
    Protected,
    LazyReference,
    NoDeadStrip,
    SymbolResolver,
    PrivateExtern,
    Reference,
    WeakDefinition,
    WeakReference,
    WeakDefCanBeHidden,
    Memtag,
    /// `.type symbol,@…`
    Type(SymType),
    /// `.type symbol,@gnu_unique_object`
    UniqueObject,
}

impl Attribute {
    fn directive(self) -> &'static str {
        match self {
            Attribute::Global => "\t.globl\t",
            Attribute::Local => "\t.local\t",
            Attribute::Weak | Attribute::WeakReference => "\t.weak\t",
            Attribute::Hidden => "\t.hidden\t",
            Attribute::Internal => "\t.internal\t",
            Attribute::Protected => "\t.protected\t",
            Attribute::LazyReference => "\t.lazy_reference\t",
            Attribute::NoDeadStrip => "\t.no_dead_strip\t",
            Attribute::SymbolResolver => "\t.symbol_resolver\t",
            Attribute::PrivateExtern => "\t.private_extern\t",
            Attribute::Reference => "\t.reference\t",
            Attribute::WeakDefinition => "\t.weak_definition\t",
            Attribute::WeakDefCanBeHidden => "\t.weak_def_can_be_hidden\t",
            Attribute::Memtag => "\t.memtag\t",
            Attribute::Type(_) | Attribute::UniqueObject => "\t.type\t",
        }
    }

    /// The type's name after `@`.
    fn type_name(self) -> Option<&'static str> {
        Some(match self {
            Attribute::UniqueObject => "gnu_unique_object",
            Attribute::Type(ty) => match ty {
                SymType::NoType | SymType::Section | SymType::AmdgpuHsaKernel => "notype",
                SymType::Object => "object",
                SymType::Func => "function",
                SymType::Common => "common",
                SymType::Tls => "tls_object",
                SymType::IFunc => "gnu_indirect_function",
            },
            _ => return None,
        })
    }
}

impl Parser<'_> {
    /// Gives a symbol an attribute, in text or in the object; `span` is to blame when it cannot have it.
    pub fn emit_attribute(&mut self, id: SymId, attribute: Attribute, span: Span) -> Res {
        if self.out.is_text() {
            self.out.buf.extend_from_slice(attribute.directive().as_bytes());
            self.symbols.print_name(id, &mut self.out.buf);
            if let Some(name) = attribute.type_name() {
                self.out.buf.extend_from_slice(b",@");
                self.out.buf.extend_from_slice(name.as_bytes());
            }
            self.out.eol();
            // The binding must still be known for `.symver` and the like; errors are the object writer's.
            return Ok(());
        }
        let symbol = &mut self.symbols[id];
        symbol.referenced = true;
        match attribute {
            Attribute::Global | Attribute::Weak | Attribute::WeakReference | Attribute::Local => {
                let binding = match attribute {
                    Attribute::Global => Binding::Global,
                    Attribute::Local => Binding::Local,
                    _ => Binding::Weak,
                };
                let changed = symbol.binding != Binding::Unset && symbol.binding != binding;
                let name = symbol.name.clone();
                let old = symbol.binding;
                symbol.binding = binding;
                if changed {
                    let word = |b| match b {
                        Binding::Local => "STB_LOCAL",
                        Binding::Weak => "STB_WEAK",
                        _ => "STB_GLOBAL",
                    };
                    let message = format!("{name} changed binding to {}", word(binding));
                    match (old, binding) {
                        (Binding::Global, Binding::Weak) => self.warning(span, message),
                        (Binding::Weak, Binding::Global) => self.symbols[id].binding = old,
                        _ => return Err(Diag::error(span, message)),
                    }
                }
            }
            Attribute::Hidden => symbol.visibility = Visibility::Hidden,
            Attribute::Internal => symbol.visibility = Visibility::Internal,
            Attribute::Protected => symbol.visibility = Visibility::Protected,
            Attribute::Type(ty) => symbol.ty = combine_types(symbol.ty, ty),
            Attribute::UniqueObject => {
                symbol.ty = combine_types(symbol.ty, SymType::Object);
                symbol.binding = Binding::Unique;
            }
            Attribute::NoDeadStrip | Attribute::Memtag => {}
            _ => return Err(Diag::error(span, "unable to emit symbol attribute")),
        }
        Ok(())
    }

    /// `.globl a, b`; `None` stands for `.cold`, which cannot be emitted.
    pub(super) fn attributes(&mut self, attribute: Option<Attribute>) -> Res {
        self.many(|p| {
            let at = p.lex.here();
            let name = p.expect_identifier("expected identifier")?;
            if p.discarded.contains(&name) {
                return Ok(());
            }
            let id = p.symbols.get_or_insert(name);
            if p.symbols[id].temporary && attribute != Some(Attribute::Memtag) {
                return Err(Diag::error(at, "non-local symbol required"));
            }
            match attribute {
                Some(attribute) => p.emit_attribute(id, attribute, p.statement),
                None => Err(Diag::error(at, "unable to emit symbol attribute")),
            }
        })
    }

    /// `.weak a, b` and ELF's others
    pub(super) fn elf_attributes(&mut self, attribute: Attribute) -> Res {
        if !self.lex.at_eol() {
            loop {
                let name = self.expect_identifier("expected identifier")?;
                if !self.discarded.contains(&name) {
                    let id = self.symbols.get_or_insert(name);
                    self.emit_attribute(id, attribute, self.statement)?;
                }
                if self.lex.kind() == Tok::Eol {
                    break;
                }
                self.expect(Tok::Comma, "expected comma")?;
            }
        }
        self.lex.bump();
        Ok(())
    }

    /// `.type symbol, @function`
    pub(super) fn symbol_type(&mut self) -> Res {
        let name = self.expect_identifier("expected identifier")?;
        let id = self.symbols.get_or_insert(name);
        self.lex.eat(Tok::Comma);
        match self.lex.kind() {
            Tok::Ident | Tok::Str => {}
            Tok::Hash | Tok::Percent | Tok::At => _ = self.lex.bump(),
            _ => {
                return Err(self.token_error(
                    "expected STT_<TYPE_IN_UPPER_CASE>, '#<type>', '@<type>', '%<type>' or \"<type>\"",
                ));
            }
        }
        let type_at = self.lex.here();
        let attribute = match self.expect_identifier("expected symbol type")? {
            "STT_FUNC" | "function" => Attribute::Type(SymType::Func),
            "STT_OBJECT" | "object" => Attribute::Type(SymType::Object),
            "STT_TLS" | "tls_object" => Attribute::Type(SymType::Tls),
            "STT_COMMON" | "common" => Attribute::Type(SymType::Common),
            "STT_NOTYPE" | "notype" => Attribute::Type(SymType::NoType),
            "STT_GNU_IFUNC" | "gnu_indirect_function" => Attribute::Type(SymType::IFunc),
            "gnu_unique_object" => Attribute::UniqueObject,
            _ => return Err(Diag::error(type_at, "unsupported attribute")),
        };
        self.expect(Tok::Eol, "expected end of directive")?;
        self.emit_attribute(id, attribute, self.statement)
    }

    /// `.size symbol, expression`
    pub(super) fn symbol_size(&mut self) -> Res {
        let name = self.expect_identifier("expected identifier")?;
        let id = self.symbols.get_or_insert(name);
        self.comma()?;
        self.unreferenced = true;
        let size = self.expr();
        self.unreferenced = false;
        let size = size?;
        self.expect(Tok::Eol, "unexpected token")?;
        if self.out.is_text() {
            self.out.buf.extend_from_slice(b"\t.size\t");
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.buf.extend_from_slice(b", ");
            size.print(&self.symbols, &mut self.out.buf);
            self.out.eol();
        }
        self.symbols[id].size = Some(size);
        Ok(())
    }

    /// `.comm symbol, size, alignment` and `.lcomm symbol, size`
    pub(super) fn common(&mut self, local: bool) -> Res {
        let at = self.lex.here();
        let name = self.expect_identifier("expected identifier in directive")?;
        let id = self.symbols.get_or_insert(name);
        self.comma()?;
        let size_at = self.lex.here();
        let size = self.absolute()?;
        let mut power = 0;
        if self.lex.eat(Tok::Comma) {
            let power_at = self.lex.here();
            power = self.absolute()?;
            if local {
                return Err(Diag::error(power_at, "alignment not supported on this target"));
            }
            if !(0..64).contains(&power) {
                return Err(Diag::error(power_at, "invalid alignment value"));
            }
        }
        self.eol()?;
        if size < 0 {
            return Err(Diag::error(size_at, "size must be non-negative"));
        }
        self.redefine_if_possible(id);
        if self.symbols.home(id) != Home::Nowhere {
            return Err(Diag::error(at, "invalid symbol redefinition"));
        }
        if self.out.is_text() {
            self.out.raw(if local { b"\t.lcomm\t" } else { b"\t.comm\t" });
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.buf.push(b',');
            write_int(size, &mut self.out.buf);
            if !local {
                self.out.buf.push(b',');
                write_int(power, &mut self.out.buf);
            }
            self.out.eol();
            return Ok(());
        }
        let common = Common { size: size as u64, align: 1 << power, local };
        let symbol = &mut self.symbols[id];
        symbol.referenced = true;
        symbol.common = Some(common);
        symbol.ty = SymType::Object;
        if local {
            symbol.binding = Binding::Local;
        } else if symbol.binding == Binding::Unset {
            symbol.binding = Binding::Global;
        }
        // A symbol that is not global gets its storage here rather than from the linker.
        if self.symbols[id].binding == Binding::Local {
            self.symbols[id].common = None;
            let bss = self.section(Section::new(".bss", types::NOBITS, flags::ALLOC | flags::WRITE));
            self.push_section();
            self.switch_section(bss, 0);
            self.emit_align(common.align, Some(0), 1, 0);
            self.emit_label(id, at)?;
            self.emit_space(crate::expr::Expr::Const(size), 0, at)?;
            self.pop_section();
            self.symbols[id].size = Some(crate::expr::Expr::Const(size));
        }
        Ok(())
    }

    /// `=` and `.set` leave symbols that a label or `.comm` may define after all.
    pub(super) fn redefine_if_possible(&mut self, id: SymId) {
        let symbol = &mut self.symbols[id];
        if symbol.redefinable {
            symbol.value = None;
            symbol.redefinable = false;
        }
    }

    /// `.symver name, name2@version`
    pub(super) fn symver(&mut self) -> Res {
        let original = self.expect_identifier("expected identifier")?;
        self.expect(Tok::Comma, "expected a comma")?;
        let name = self.expect_identifier("expected identifier")?;
        if !name.contains('@') {
            return Err(self.token_error("expected a '@' in the name"));
        }
        let mut keep = !name.contains("@@@");
        if self.lex.eat(Tok::Comma) {
            if self.identifier() != Some("remove") {
                return Err(self.token_error("expected 'remove'"));
            }
            keep = false;
        }
        self.lex.eat(Tok::Eol);
        let id = self.symbols.get_or_insert(original);
        if self.out.is_text() {
            self.out.buf.extend_from_slice(b".symver ");
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.buf.extend_from_slice(b", ");
            self.out.buf.extend_from_slice(name.as_bytes());
            if !keep && !name.contains("@@@") {
                self.out.buf.extend_from_slice(b", remove");
            }
            self.out.eol();
        } else if let Some(object) = &mut self.out.object {
            object.symvers.push((id, name.to_owned(), keep));
        }
        Ok(())
    }

    /// `.weakref alias, symbol`
    pub(super) fn weakref(&mut self) -> Res {
        let alias = self.expect_identifier("expected identifier")?;
        self.expect(Tok::Comma, "expected a comma")?;
        let name = self.expect_identifier("expected identifier")?;
        let alias = self.symbols.get_or_insert(alias);
        let target = self.symbols.get_or_insert(name);
        if self.out.is_text() {
            self.out.buf.extend_from_slice(b".weakref ");
            self.symbols.print_name(alias, &mut self.out.buf);
            self.out.buf.extend_from_slice(b", ");
            self.symbols.print_name(target, &mut self.out.buf);
            self.out.eol();
        } else {
            self.symbols.set_value(alias, crate::expr::Expr::sym(target));
            self.symbols[target].binding = Binding::Weak;
        }
        Ok(())
    }

    /// `.addrsig`
    pub(super) fn addrsig(&mut self) -> Res {
        self.eol()?;
        self.out.line(format_args!("\t.addrsig"));
        if let Some(object) = &mut self.out.object {
            object.addrsig.get_or_insert_default();
        }
        Ok(())
    }

    /// `.addrsig_sym symbol`
    pub(super) fn addrsig_symbol(&mut self) -> Res {
        let name = self.expect_identifier("expected identifier")?;
        self.eol()?;
        let id = self.symbols.get_or_insert(name);
        if self.out.is_text() {
            self.out.buf.extend_from_slice(b"\t.addrsig_sym ");
            self.symbols.print_name(id, &mut self.out.buf);
            self.out.eol();
        } else if let Some(object) = &mut self.out.object {
            object.addrsig.get_or_insert_default().push(id);
        }
        Ok(())
    }

    /// `.lto_discard a, b`: these symbols, and no longer those of an earlier list, are not to be defined here.
    pub(super) fn lto_discard(&mut self) -> Res {
        self.discarded.clear();
        self.many(|p| {
            let name = p.expect_identifier("expected identifier")?;
            p.discarded.push(name);
            Ok(())
        })
    }

    /// `.cg_profile from, to, count`
    pub(super) fn cg_profile(&mut self) -> Res {
        let at = self.lex.here();
        let from = self.identifier().ok_or_else(|| Diag::error(at, "expected identifier in directive"))?;
        self.expect(Tok::Comma, "expected a comma")?;
        let to = self.expect_identifier("expected identifier in directive")?;
        self.expect(Tok::Comma, "expected a comma")?;
        let count_at = self.lex.here();
        if self.lex.kind() != Tok::Int {
            return Err(Diag::error(count_at, "expected integer count in '.cg_profile' directive"));
        }
        let token = self.lex.bump();
        let count = self.lex.int_value(token) as i64;
        if self.lex.kind() != Tok::Eol {
            return Err(self.token_error("unexpected token in directive"));
        }
        let from = self.symbols.get_or_insert(from);
        let to = self.symbols.get_or_insert(to);
        if self.out.is_text() {
            self.out.buf.extend_from_slice(b"\t.cg_profile ");
            self.symbols.print_name(from, &mut self.out.buf);
            self.out.buf.extend_from_slice(b", ");
            self.symbols.print_name(to, &mut self.out.buf);
            self.out.buf.extend_from_slice(b", ");
            write_int(count, &mut self.out.buf);
            self.out.eol();
        }
        Ok(())
    }
}

/// `.type` may only make a type more special.
fn combine_types(old: SymType, new: SymType) -> SymType {
    let rank = |ty| match ty {
        SymType::NoType => 0,
        SymType::Object => 1,
        SymType::Func => 2,
        SymType::IFunc => 3,
        _ => 4,
    };
    if rank(new) > rank(old) { new } else { old }
}
