//! Meanings applied to one lane: the plainest [`Apply`].

use crate::apply::{Apply, L, M};
use crate::scalar::{S32, S64, SMask};

/// One lane's operands, to apply a meaning to: results are a number and a truth, each if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    /// Sources.
    pub src: [u64; 3],
    /// The upper half of a third source of 128 bits.
    pub upper: u64,
    /// The lane's bit of VCC or of a carry.
    pub mask: bool,
    /// The lane's number.
    pub number: u32,
}

macro_rules! apply {
    ($($name:ident($($arg:ident $n:tt),*) $res:ident;)*) => {
        impl Apply for Lane {
            type W = S32;
            type Out = (Option<u128>, Option<bool>);
            $(
                #[inline(always)]
                fn $name(self, f: impl Fn($(apply!(@ty $arg)),*) -> apply!(@ty $res)) -> Self::Out {
                    let r = f($(apply!(@get self $arg $n)),*);
                    apply!(@out $res r)
                }
            )*
        }
    };
    (@ty w) => { S32 };
    (@ty i) => { S32 };
    (@ty l) => { L<Self> };
    (@ty q) => { [S32; 4] };
    (@ty m) => { M<Self> };
    (@ty wm) => { (S32, M<Self>) };
    (@ty lm) => { (L<Self>, M<Self>) };
    (@get $k:ident w $n:tt) => { S32($k.src[$n] as u32) };
    (@get $k:ident l $n:tt) => { S64($k.src[$n]) };
    (@get $k:ident q $n:tt) => { [$k.src[$n], $k.src[$n] >> 32, $k.upper, $k.upper >> 32].map(|n| S32(n as u32)) };
    (@get $k:ident m $n:tt) => { SMask($k.mask) };
    (@get $k:ident i $n:tt) => { S32($k.number) };
    (@out w $r:ident) => { (Some($r.0 as u128), None) };
    (@out l $r:ident) => { (Some($r.0 as u128), None) };
    (@out q $r:ident) => { (Some($r.iter().rev().fold(0, |sum, w| sum << 32 | w.0 as u128)), None) };
    (@out m $r:ident) => { (None, Some($r.0)) };
    (@out wm $r:ident) => { (Some($r.0.0 as u128), Some($r.1.0)) };
    (@out lm $r:ident) => { (Some($r.0.0 as u128), Some($r.1.0)) };
}
crate::for_each_shape!(apply);
