//! Conditions: what is read and what is not.

use super::text::Cursor;
use super::{Assembler, Res, wrong};

/// One `.if` that has not ended.
#[derive(Clone, Copy, Debug)]
struct Condition {
    /// Its current part is read.
    active: bool,
    /// A part of it has been read, or none may be.
    done: bool,
    /// There was an `.else`.
    last: bool,
}

/// The conditions around the current statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions(Vec<Condition>);

impl Conditions {
    /// Whether statements are left out.
    pub fn skipping(&self) -> bool {
        self.0.last().is_some_and(|c| !c.active)
    }

    pub fn balanced(&self) -> bool {
        self.0.is_empty()
    }
}

/// Names of architectures, in lower case, with the levels they stand for.
pub(super) fn has_architecture(name: &str, level: wavemill_isa::Level) -> Option<bool> {
    use wavemill_isa::Level;
    Some(match name.to_ascii_lowercase().as_str() {
        "gcn1.0" | "gfx6" | "si" => level == Level::Gfx6,
        "gcn1.1" | "gfx7" | "ci" => level == Level::Gfx7,
        "gcn1.2" | "gfx8" | "vi" => level == Level::Gfx8,
        "gcn1.4" | "gfx9" | "vega" => level.is_gfx9(),
        "gcn1.4.1" | "gfx906" | "vega20" => level >= Level::Gfx906,
        _ => return None,
    })
}

impl Assembler<'_> {
    /// Does what a conditional directive says; false for other directives.
    pub(super) fn condition(&mut self, name: &str, c: &mut Cursor<'_>) -> Res<bool> {
        let (kind, follows) = match name {
            ".else" => {
                c.take_word();
                let skipping_around = self.conditions.0.iter().rev().skip(1).any(|o| !o.active);
                let Some(top) = self.conditions.0.last_mut().filter(|t| !t.last) else {
                    return wrong(0, "there is no .if for this .else");
                };
                top.active = !top.done && !skipping_around;
                top.last = true;
                return self.end(c).map(|()| true);
            }
            ".endif" => {
                c.take_word();
                return match self.conditions.0.pop() {
                    Some(_) => self.end(c).map(|()| true),
                    None => wrong(0, "there is no .if for this .endif"),
                };
            }
            _ => match (name.strip_prefix(".elseif"), name.strip_prefix(".if")) {
                (Some(kind), _) => (kind, true),
                (None, Some(kind)) => (kind, false),
                _ => return Ok(false),
            },
        };
        let known = [
            "", "eq", "ne", "lt", "le", "gt", "ge", "def", "ndef", "notdef", "b", "nb", "c", "nc", "eqs",
            "nes", "arch", "narch", "gpu", "ngpu", "fmt", "nfmt", "32", "64",
        ];
        if !known.contains(&kind) {
            return Ok(false);
        }
        c.take_word();
        if follows {
            let skipping_around = self.conditions.0.iter().rev().skip(1).any(|o| !o.active);
            let Some(top) = self.conditions.0.last_mut().filter(|t| !t.last) else {
                return wrong(0, "there is no .if for this");
            };
            top.active = false;
            if top.done || skipping_around {
                return Ok(true);
            }
            let is = self.holds(kind, c)?;
            if let Some(top) = self.conditions.0.last_mut() {
                (top.active, top.done) = (is, is);
            }
            return Ok(true);
        }
        if self.conditions.skipping() {
            self.conditions.0.push(Condition { active: false, done: true, last: false });
            return Ok(true);
        }
        // A condition that cannot be understood leaves its part out.
        self.conditions.0.push(Condition { active: false, done: true, last: false });
        let is = self.holds(kind, c)?;
        if let Some(top) = self.conditions.0.last_mut() {
            (top.active, top.done) = (is, is);
        }
        Ok(true)
    }

    fn holds(&mut self, kind: &str, c: &mut Cursor<'_>) -> Res<bool> {
        let is = match kind {
            "" | "eq" | "ne" | "lt" | "le" | "gt" | "ge" => {
                let n = self.number(c)?;
                match kind {
                    "" | "ne" => n != 0,
                    "eq" => n == 0,
                    "lt" => n < 0,
                    "le" => n <= 0,
                    "gt" => n > 0,
                    _ => n >= 0,
                }
            }
            "def" | "ndef" | "notdef" => {
                let name = self.name(c)?;
                self.scopes.is_defined(name) == (kind == "def")
            }
            "b" | "nb" => {
                let blank = c.rest().trim_ascii().is_empty();
                c.skip(c.rest().len());
                blank == (kind == "b")
            }
            "c" | "nc" => {
                let first = c.take_field();
                self.comma(c)?;
                let second = c.take_field();
                (first == second) == (kind == "c")
            }
            "eqs" | "nes" => {
                let first = self.string(c)?;
                self.comma(c)?;
                let second = self.string(c)?;
                (first == second) == (kind == "eqs")
            }
            "arch" | "narch" => {
                let at = c.at;
                let name = c.take_field();
                let name = std::str::from_utf8(name).unwrap_or("");
                let level = self.target(at)?.level();
                let Some(is) = has_architecture(name, level) else {
                    return wrong(at, format!("there is no architecture {name}"));
                };
                is == (kind == "arch")
            }
            "gpu" | "ngpu" => {
                let at = c.at;
                let name = self.name(c)?;
                let device = self.device(at)?;
                let named = wavemill_object::catalyst::device::Device::named(name);
                let Some(named) = named else { return wrong(at, format!("there is no GPU {name}")) };
                (named == device) == (kind == "gpu")
            }
            "fmt" | "nfmt" => {
                let name = self.name(c)?.to_ascii_lowercase();
                (name == "amdcl2") == (kind == "fmt")
            }
            _ => (self.program.width.bytes() == 8) == (kind == "64"),
        };
        self.end(c)?;
        Ok(is)
    }
}
