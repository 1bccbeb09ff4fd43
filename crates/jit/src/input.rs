//! What recorded programs begin with: registers, by numbers.

use wavemill_sem::record::{MaskValue, WordValue};

/// What the inputs of a strip's program are, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// A vector register.
    Vgpr(u16),
    /// A scalar register, the same in all lanes.
    Sgpr(u8),
    /// A bit for each lane in two scalar registers.
    Lanes(u8),
    /// The lane's number.
    LaneNumber,
    /// The scalar condition code.
    Scc,
    /// A dword that an access of the strip has loaded: four times the access's number, plus the dword's.
    Loaded(u16),
    /// What lanes of other vectors have, by the place in the frame that it was brought to.
    Moved(u8),
}

impl Input {
    const SGPR: u16 = 1 << 10;
    const LANES: u16 = 2 << 10;
    const LANE_NUMBER: u16 = 3 << 10;
    const SCC: u16 = 4 << 10;
    const LOADED: u16 = 5 << 10;
    const MOVED: u16 = 6 << 10;

    /// From a [`wavemill_sem::record::Node::Input`]'s number.
    pub fn of(n: u16) -> Input {
        match n & !0x3ff {
            0 => Input::Vgpr(n),
            Self::SGPR => Input::Sgpr(n as u8),
            Self::LANES => Input::Lanes(n as u8),
            Self::LANE_NUMBER => Input::LaneNumber,
            Self::LOADED => Input::Loaded(n & 0x3ff),
            Self::MOVED => Input::Moved(n as u8),
            _ => Input::Scc,
        }
    }

    pub(crate) fn number(self) -> u16 {
        match self {
            Input::Vgpr(r) => r,
            Input::Sgpr(code) => Self::SGPR | code as u16,
            Input::Lanes(code) => Self::LANES | code as u16,
            Input::LaneNumber => Self::LANE_NUMBER,
            Input::Scc => Self::SCC,
            Input::Loaded(n) => Self::LOADED | n,
            Input::Moved(n) => Self::MOVED | n as u16,
        }
    }

    pub(crate) fn word(self) -> WordValue {
        WordValue::input(self.number())
    }

    pub(crate) fn mask(self) -> MaskValue {
        MaskValue::input(self.number())
    }
}
