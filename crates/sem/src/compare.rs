//! Vector compares: one meaning per type, the predicate from the opcode's low bits.

use crate::apply::{Apply, Context};
use crate::fp::{Predicate, double, single};
use crate::lanes::{Long, Mask, Word};
use crate::{half, int};
use wavemill_isa::row::{ABSENT, state};
use wavemill_isa::{Enc, Kind, Role, Row};

/// What a VOPC instruction compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Type {
    F16,
    F32,
    F64,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// The class of a float against a set of classes.
    Class16,
    Class32,
    Class64,
}

/// A VOPC instruction, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compare {
    /// Of what.
    pub ty: Type,
    /// Which outcomes count.
    pub predicate: Predicate,
    /// EXEC gets the result too (V_CMPX).
    pub exec: bool,
}

impl Compare {
    /// From the table's row. V_CMPS of GFX6 and GFX7 differ from V_CMP only in exceptions.
    pub fn of(row: &Row) -> Option<Compare> {
        if row.enc != Enc::Vopc {
            return None;
        }
        let (a, b) = (row.operand(Role::Src0)?, row.operand(Role::Src1)?);
        let opcode = row.opcode.iter().find(|&&op| op != ABSENT)?;
        let (ty, bits) = match (a.ty.kind, a.ty.bits, b.ty.kind) {
            (Kind::F, 16, Kind::B) => (Type::Class16, 0),
            (Kind::F, 32, Kind::B) => (Type::Class32, 0),
            (Kind::F, 64, Kind::B) => (Type::Class64, 0),
            (Kind::F, 16, _) => (Type::F16, 15),
            (Kind::F, 32, _) => (Type::F32, 15),
            (Kind::F, 64, _) => (Type::F64, 15),
            (Kind::I, 16, _) => (Type::I16, 7),
            (Kind::I, 32, _) => (Type::I32, 7),
            (Kind::I, 64, _) => (Type::I64, 7),
            (Kind::U, 16, _) => (Type::U16, 7),
            (Kind::U, 32, _) => (Type::U32, 7),
            (Kind::U, 64, _) => (Type::U64, 7),
            _ => return None,
        };
        Some(Compare { ty, predicate: Predicate((opcode & bits) as u8), exec: row.writes & state::EXEC != 0 })
    }
}

/// An integer comparison by predicate, each of them one comparison of lanes.
macro_rules! integer {
    ($k:ident.$shape:ident, $predicate:expr, $lt:ident) => {
        match $predicate.0 & 7 {
            0 => $k.$shape(|_, _| Mask::zeros()),
            1 => $k.$shape(|a, b| a.$lt(b)),
            2 => $k.$shape(|a, b| a.eq(b)),
            3 => $k.$shape(|a, b| !b.$lt(a)),
            4 => $k.$shape(|a, b| b.$lt(a)),
            5 => $k.$shape(|a, b| !a.eq(b)),
            6 => $k.$shape(|a, b| !a.$lt(b)),
            _ => $k.$shape(|_, _| Mask::ones()),
        }
    };
}

/// The comparisons compilers use most: 32-bit numbers and 64-bit integers.
#[inline(always)]
pub fn common<K: Apply>(c: Compare, k: K, x: &Context) -> Option<K::Out> {
    let m = x.mode.f32;
    Some(match c.ty {
        Type::I32 => integer!(k.ww_m, c.predicate, lt_i),
        Type::U32 => integer!(k.ww_m, c.predicate, lt_u),
        Type::I64 => integer!(k.ll_m, c.predicate, lt_i),
        Type::U64 => integer!(k.ll_m, c.predicate, lt_u),
        Type::F32 => {
            // The second eight are the opposites of the first, the other way round.
            let (p, opposite) =
                if c.predicate.0 < 8 { (c.predicate.0, false) } else { (15 - c.predicate.0, true) };
            let flip = if opposite { <K::W as Word>::Mask::ones() } else { <K::W as Word>::Mask::zeros() };
            match p {
                1 => k.ww_m(|a, b| single::input(a, m).flt(single::input(b, m)) ^ flip),
                2 => k.ww_m(|a, b| single::input(a, m).feq(single::input(b, m)) ^ flip),
                4 => k.ww_m(|a, b| single::input(b, m).flt(single::input(a, m)) ^ flip),
                _ => k.ww_m(|a, b| single::compare(a, b, Predicate(p), m) ^ flip),
            }
        }
        _ => return None,
    })
}

impl Type {
    /// Whether [`common`] has it.
    pub fn is_common(self) -> bool {
        matches!(self, Type::I32 | Type::U32 | Type::I64 | Type::U64 | Type::F32)
    }
}

/// Applies the comparisons that [`common`] does not have.
#[allow(clippy::redundant_closure)] // as in `valu`
#[inline(always)]
pub fn compare<K: Apply>(c: Compare, k: K, x: &Context) -> Option<K::Out> {
    let m = x.mode;
    let p = c.predicate;
    let none = <K::W as Word>::Mask::zeros;
    Some(match c.ty {
        Type::F64 => k.ll_m(|a, b| double::compare(a, b, p, m.f64)),
        Type::F16 => k.ww_m(|a, b| half::compare(a, b, p, m.half())),
        Type::I16 => k.ww_m(|a, b| {
            let (a, b) = (int::i16(a), int::i16(b));
            p.of(a.lt_i(b), a.eq(b), none())
        }),
        Type::U16 => k.ww_m(|a, b| {
            let (a, b) = (int::u16(a), int::u16(b));
            p.of(a.lt_u(b), a.eq(b), none())
        }),
        Type::Class16 => k.ww_m(|a, b| half::class(a, b)),
        Type::Class32 => k.ww_m(|a, b| single::class(a, b)),
        Type::Class64 => k.lw_m(|a, b| double::class(a, b)),
        _ => return None,
    })
}
