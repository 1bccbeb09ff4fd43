//! Opcodes of vector instructions, predicates and constant vectors. Opcodes are those of EVEX; VEX has the same ones, but for
//! what only one of them has.

use crate::x86::{Ins, REGISTERS_ONLY, ins, whole};
use wavemill_sem::lanemove::dpp_source;

/// An instruction whose last operand is a register, or of another size than the vector.
pub(crate) const fn registers(map: u8, pp: u8, w: u8, op: u8) -> Ins {
    Ins { map, pp, w, op, elem: REGISTERS_ONLY }
}

pub(crate) const PADDD: Ins = ins(1, 1, 0, 0xfe);
pub(crate) const PADDQ: Ins = ins(1, 1, 1, 0xd4);
pub(crate) const PSUBD: Ins = ins(1, 1, 0, 0xfa);
pub(crate) const PSUBQ: Ins = ins(1, 1, 1, 0xfb);
pub(crate) const PMULLD: Ins = ins(2, 1, 0, 0x40);
pub(crate) const PANDD: Ins = ins(1, 1, 0, 0xdb);
pub(crate) const PANDQ: Ins = ins(1, 1, 1, 0xdb);
pub(crate) const PORD: Ins = ins(1, 1, 0, 0xeb);
pub(crate) const PORQ: Ins = ins(1, 1, 1, 0xeb);
pub(crate) const PXORD: Ins = ins(1, 1, 0, 0xef);
pub(crate) const PXORQ: Ins = ins(1, 1, 1, 0xef);
pub(crate) const PCMPD: Ins = ins(3, 1, 0, 0x1f);
pub(crate) const PCMPUD: Ins = ins(3, 1, 0, 0x1e);
pub(crate) const PCMPQ: Ins = ins(3, 1, 1, 0x1f);
pub(crate) const PCMPUQ: Ins = ins(3, 1, 1, 0x1e);
pub(crate) const PSLLVD: Ins = ins(2, 1, 0, 0x47);
pub(crate) const PSRLVD: Ins = ins(2, 1, 0, 0x45);
pub(crate) const PSRAVD: Ins = ins(2, 1, 0, 0x46);
pub(crate) const PSLLVQ: Ins = ins(2, 1, 1, 0x47);
pub(crate) const PSRLVQ: Ins = ins(2, 1, 1, 0x45);
pub(crate) const PSRAVQ: Ins = ins(2, 1, 1, 0x46);
/// Shifts by an immediate: the extension says which.
pub(crate) const SHIFTD: Ins = registers(1, 1, 0, 0x72);
pub(crate) const SHIFTQ: Ins = registers(1, 1, 1, 0x73);
pub(crate) const SHIFTQ_ARITHMETIC: Ins = registers(1, 1, 1, 0x72);
pub(crate) const SHIFTW: Ins = registers(1, 1, 0, 0x71);
pub(crate) const RIGHT: u8 = 2;
pub(crate) const ARITHMETIC: u8 = 4;
pub(crate) const LEFT: u8 = 6;
pub(crate) const PMULUDQ: Ins = ins(1, 1, 1, 0xf4);
pub(crate) const PMULDQ: Ins = ins(2, 1, 1, 0x28);
pub(crate) const PMOVZXDQ: Ins = registers(2, 1, 0, 0x35);
pub(crate) const PMOVSXDQ: Ins = registers(2, 1, 0, 0x25);
pub(crate) const EXTRACT: Ins = registers(3, 1, 1, 0x3b);
pub(crate) const INSERT: Ins = registers(3, 1, 1, 0x3a);
pub(crate) const PERMW: Ins = whole(2, 1, 1, 0x8d);
pub(crate) const PMINUD: Ins = ins(2, 1, 0, 0x3b);
pub(crate) const PMAXUD: Ins = ins(2, 1, 0, 0x3f);
pub(crate) const PERMD: Ins = ins(2, 1, 0, 0x36);
pub(crate) const PERMT2D: Ins = ins(2, 1, 0, 0x7e);
pub(crate) const PSHUFB: Ins = whole(2, 1, 0, 0x00);
pub(crate) const BLENDD: Ins = ins(2, 1, 0, 0x64);
pub(crate) const BLENDQ: Ins = ins(2, 1, 1, 0x64);
pub(crate) const BLENDB: Ins = whole(2, 1, 0, 0x66);
pub(crate) const TESTB: Ins = whole(2, 1, 0, 0x26);
/// Lanes with any of some bits, and with none of them.
pub(crate) const TESTD: Ins = ins(2, 1, 0, 0x27);
pub(crate) const TESTQ: Ins = ins(2, 1, 1, 0x27);
pub(crate) const TESTND: Ins = ins(2, 2, 0, 0x27);
pub(crate) const TESTNQ: Ins = ins(2, 2, 1, 0x27);
/// f32 of f16, and back.
pub(crate) const CVTPH2PS: Ins = registers(2, 1, 0, 0x13);
pub(crate) const CVTPS2PH: Ins = registers(3, 1, 0, 0x1d);
/// The lesser or greater of two floats, zeros by their signs.
pub(crate) const RANGEPS: Ins = ins(3, 1, 0, 0x50);
pub(crate) const RANGEPD: Ins = ins(3, 1, 1, 0x50);
pub(crate) const LESSER: u8 = 4;
pub(crate) const GREATER: u8 = 5;
pub(crate) const ADDPS: Ins = ins(1, 0, 0, 0x58);
pub(crate) const ADDPD: Ins = ins(1, 1, 1, 0x58);
pub(crate) const MULPS: Ins = ins(1, 0, 0, 0x59);
pub(crate) const MULPD: Ins = ins(1, 1, 1, 0x59);
pub(crate) const CMPPS: Ins = ins(1, 0, 0, 0xc2);
pub(crate) const CMPPD: Ins = ins(1, 1, 1, 0xc2);
pub(crate) const FMAPS: Ins = ins(2, 1, 0, 0xb8);
pub(crate) const FMAPD: Ins = ins(2, 1, 1, 0xb8);
/// Predicates of float compares: none signals.
pub(crate) const EQ: u8 = 0;
pub(crate) const UNORDERED: u8 = 3;
pub(crate) const ORDERED: u8 = 7;
/// And no NaN.
pub(crate) const NOT_EQUAL: u8 = 12;
pub(crate) const LESS: u8 = 17;
pub(crate) const NOT_BELOW: u8 = 29;
/// Predicates of integer compares.
pub(crate) const INT_EQ: u8 = 0;
pub(crate) const INT_LESS: u8 = 1;

type Mask = ((u8, u8, u8, u8), u8);
pub(crate) const KNOT: Mask = ((1, 0, 0, 0), 0x44);
pub(crate) const KSHIFTR: Mask = ((3, 1, 1, 0), 0x30);

pub(crate) static LANES: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// Low words of both, one by one; the lower eight lanes.
pub(crate) static JOIN_LOW: [u32; 16] = [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23];
pub(crate) static JOIN_HIGH: [u32; 16] = [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31];
pub(crate) static EVEN: [u32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
pub(crate) static ODD: [u32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];
/// Sixteen bytes, four times.
const fn four_times(four: [u32; 4]) -> [u32; 16] {
    let mut all = [0; 16];
    let mut i = 0;
    while i < 16 {
        all[i] = four[i % 4];
        i += 1;
    }
    all
}
/// Words of the lower and the upper half by turns.
pub(crate) static BY_TURNS: [u32; 16] = {
    let mut all = [0; 16];
    let mut i = 0;
    while i < 16 {
        all[i] = (i | (16 + i) << 16) as u32;
        i += 1;
    }
    all
};
/// The lower words of dwords, then the upper ones.
pub(crate) static APART: [u32; 16] = {
    let mut all = [0; 16];
    let mut i = 0;
    while i < 8 {
        all[i] = ((4 * i) | ((4 * i + 2) << 16)) as u32;
        all[8 + i] = ((4 * i + 1) | ((4 * i + 3) << 16)) as u32;
        i += 1;
    }
    all
};
/// How many bits half a byte has, for each sixteen bytes.
pub(crate) static BIT_COUNTS: [u32; 16] = four_times([0x0201_0100, 0x0302_0201, 0x0302_0201, 0x0403_0302]);
/// The first byte of each dword among sixteen bytes, four times.
pub(crate) static OWN_BYTES: [u32; 16] = four_times([0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c]);

/// The lane of its row that a lane reads, by DPP's control; its own where there is none.
pub(crate) static ROW_SOURCES: [[u32; 16]; 0x160] = {
    let mut all = [[0; 16]; 0x160];
    let mut control = 0;
    while control < all.len() {
        let mut lane = 0;
        while lane < 16 {
            all[control][lane] = match dpp_source(lane as u32, control as u16) {
                Some(from) => from % 16,
                None => lane as u32,
            };
            lane += 1;
        }
        control += 1;
    }
    all
};

/// DPP's controls whose lanes read other rows, each row no more than one.
pub(crate) const CROSSING: [u16; 6] = [0x130, 0x134, 0x138, 0x13c, 0x142, 0x143];

/// What is done with two masks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MaskOperation {
    And,
    Or,
    Xor,
    /// Eight lanes of each.
    Unpack,
}

impl MaskOperation {
    /// In mask registers.
    pub(crate) const fn masks(self) -> Mask {
        match self {
            MaskOperation::And => ((1, 0, 0, 1), 0x41),
            MaskOperation::Or => ((1, 0, 0, 1), 0x45),
            MaskOperation::Xor => ((1, 0, 0, 1), 0x47),
            MaskOperation::Unpack => ((1, 1, 0, 1), 0x4b),
        }
    }

    /// In vectors, which have other ways to unpack.
    pub(crate) const fn vectors(self) -> Ins {
        match self {
            MaskOperation::And => PANDD,
            MaskOperation::Or => PORD,
            _ => PXORD,
        }
    }
}

// AVX2's own.
/// Takes the mask's register in the immediate.
pub(crate) const BLENDVPS: Ins = whole(3, 1, 0, 0x4a);
pub(crate) const BLENDVPD: Ins = whole(3, 1, 0, 0x4b);
pub(crate) const PBLENDVB: Ins = whole(3, 1, 0, 0x4c);
pub(crate) const PCMPEQD: Ins = whole(1, 1, 0, 0x76);
pub(crate) const PCMPEQQ: Ins = whole(2, 1, 0, 0x29);
pub(crate) const PCMPGTD: Ins = whole(1, 1, 0, 0x66);
pub(crate) const PCMPGTQ: Ins = whole(2, 1, 0, 0x37);
/// Dwords of two vectors by turns, of the lower or the upper half of each sixteen bytes.
pub(crate) const PUNPCKLDQ: Ins = whole(1, 1, 0, 0x62);
pub(crate) const PUNPCKHDQ: Ins = whole(1, 1, 0, 0x6a);
/// The same of quadwords.
pub(crate) const PUNPCKLQDQ: Ins = whole(1, 1, 0, 0x6c);
pub(crate) const PUNPCKHQDQ: Ins = whole(1, 1, 0, 0x6d);
pub(crate) const SHUFPS: Ins = whole(1, 0, 0, 0xc6);
pub(crate) const PERMQ: Ins = whole(3, 1, 1, 0x00);
/// Two of the four halves of two vectors.
pub(crate) const PERM128: Ins = whole(3, 1, 0, 0x46);
pub(crate) const EXTRACT128: Ins = registers(3, 1, 0, 0x39);
pub(crate) const INSERT128: Ins = registers(3, 1, 0, 0x38);
pub(crate) const MAXPS: Ins = whole(1, 0, 0, 0x5f);
pub(crate) const MAXPD: Ins = whole(1, 1, 0, 0x5f);
pub(crate) const MINPS: Ins = whole(1, 0, 0, 0x5d);
pub(crate) const MINPD: Ins = whole(1, 1, 0, 0x5d);
pub(crate) const PANDN: Ins = whole(1, 1, 0, 0xdf);
pub(crate) const SUBPS: Ins = ins(1, 0, 0, 0x5c);
pub(crate) const SUBPD: Ins = ins(1, 1, 1, 0x5c);
pub(crate) const CVTDQ2PS: Ins = ins(1, 0, 0, 0x5b);
pub(crate) const CVTTPS2DQ: Ins = ins(1, 2, 0, 0x5b);

/// The lower halves of dwords, in the first eight of each sixteen bytes.
pub(crate) static LOWER_HALVES: [u32; 16] = four_times([0x0504_0100, 0x0d0c_0908, !0, !0]);
/// The first bytes of dwords, in the first four of each sixteen bytes.
pub(crate) static FIRST_BYTES: [u32; 16] = four_times([0x0c08_0400, !0, !0, !0]);
/// Quadwords 0, 2, 1, 3.
pub(crate) const SWAP_MIDDLE: u8 = 0xd8;
