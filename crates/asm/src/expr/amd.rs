//! AMD's functions in expressions: register counts and occupancy that the compiler leaves to the assembler.
//! What they come to is in `crate::eval`.

/// A function of expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AmdFn {
    /// `max(a, …)`
    Max,
    /// `or(a, …)`: bitwise.
    Or,
    /// `extrasgprs(vcc, flat_scratch, xnack)`: SGPRs the hardware needs beyond those counted.
    ExtraSgprs,
    /// `totalnumvgprs(agprs, vgprs)`
    TotalNumVgprs,
    /// `alignto(value, alignment)`
    AlignTo,
    /// `occupancy(max waves, granule, total vgprs, generation, initial, sgprs, vgprs)`
    Occupancy,
}

impl AmdFn {
    /// The function with this name.
    pub fn from_name(name: &str) -> Option<AmdFn> {
        Some(match name {
            "max" => AmdFn::Max,
            "or" => AmdFn::Or,
            "extrasgprs" => AmdFn::ExtraSgprs,
            "totalnumvgprs" => AmdFn::TotalNumVgprs,
            "alignto" => AmdFn::AlignTo,
            "occupancy" => AmdFn::Occupancy,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            AmdFn::Max => "max",
            AmdFn::Or => "or",
            AmdFn::ExtraSgprs => "extrasgprs",
            AmdFn::TotalNumVgprs => "totalnumvgprs",
            AmdFn::AlignTo => "alignto",
            AmdFn::Occupancy => "occupancy",
        }
    }

    /// How many arguments it takes; `None` for any number.
    pub fn arity(self) -> Option<usize> {
        match self {
            AmdFn::Max | AmdFn::Or => None,
            AmdFn::ExtraSgprs => Some(3),
            AmdFn::TotalNumVgprs | AmdFn::AlignTo => Some(2),
            AmdFn::Occupancy => Some(7),
        }
    }
}
