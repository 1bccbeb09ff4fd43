//! What the exactness of an instruction's meaning rests on (`isa/basis.txt`).

/// What it rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// The manual's text.
    Manual,
    /// Measurements on silicon, which the source names.
    Measured,
    /// A shipped compiler or driver that depends on it.
    Compiler,
    /// A reading of the manual where it is silent or wrong.
    Reading,
}

impl Basis {
    /// Name for lists.
    pub const fn name(self) -> &'static str {
        match self {
            Basis::Manual => "manual",
            Basis::Measured => "measured",
            Basis::Compiler => "compiler",
            Basis::Reading => "reading",
        }
    }

    /// Name for people.
    pub const fn description(self) -> &'static str {
        match self {
            Basis::Manual => "the manual",
            Basis::Measured => "measured silicon",
            Basis::Compiler => "what compilers and drivers depend on",
            Basis::Reading => "a reading of the manual",
        }
    }
}
