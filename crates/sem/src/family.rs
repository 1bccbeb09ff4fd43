//! Which of [`crate::valu`]'s functions knows an instruction that works lane by lane.

use crate::apply::{Apply, Context, L, M};
use crate::mode::Mode;
use crate::scalar::S32;
use crate::valu;
use wavemill_isa::{Level, Op};

/// Which of [`valu`]'s functions knows an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Family {
    Common,
    Vop1,
    Vop2Int,
    Vop2Float,
    Vop3Int,
    Vop3Float,
    Vop3p,
}

/// Finds the family of a vector instruction that works lane by lane.
pub fn family(op: Op) -> Option<Family> {
    let x = Context::new(Mode::new(0, Level::Gfx90a), false, 0, Level::Gfx90a);
    let known = |found: Option<()>, family: Family| found.map(|()| family);
    known(valu::common(op, Probe, &x), Family::Common)
        .or_else(|| known(valu::vop1(op, Probe, &x), Family::Vop1))
        .or_else(|| known(valu::vop2_int(op, Probe, &x), Family::Vop2Int))
        .or_else(|| known(valu::vop2_float(op, Probe, &x), Family::Vop2Float))
        .or_else(|| known(valu::vop3_int(op, Probe, &x), Family::Vop3Int))
        .or_else(|| known(valu::vop3_float(op, Probe, &x), Family::Vop3Float))
        .or_else(|| known(valu::vop3p(op, Probe, &x), Family::Vop3p))
}

impl Family {
    /// Hands the meaning of one of the family's instructions to an engine.
    #[inline(always)]
    pub fn apply<K: Apply>(self, op: Op, k: K, x: &Context) -> Option<K::Out> {
        match self {
            Family::Common => valu::common(op, k, x),
            Family::Vop1 => valu::vop1(op, k, x),
            Family::Vop2Int => valu::vop2_int(op, k, x),
            Family::Vop2Float => valu::vop2_float(op, k, x),
            Family::Vop3Int => valu::vop3_int(op, k, x),
            Family::Vop3Float => valu::vop3_float(op, k, x),
            Family::Vop3p => valu::vop3p(op, k, x),
        }
    }
}

/// Takes any meaning and does nothing.
struct Probe;

macro_rules! probe {
    ($($name:ident($($arg:ident $n:tt),*) $res:ident;)*) => {
        impl Apply for Probe {
            type W = S32;
            type Out = ();
            $(fn $name(self, _: impl Fn($(probe!(@ty $arg)),*) -> probe!(@ty $res)) {})*
        }
    };
    (@ty w) => { S32 };
    (@ty i) => { S32 };
    (@ty l) => { L<Self> };
    (@ty q) => { [S32; 4] };
    (@ty m) => { M<Self> };
    (@ty wm) => { (S32, M<Self>) };
    (@ty lm) => { (L<Self>, M<Self>) };
}
crate::for_each_shape!(probe);
