//! Swizzled buffers against a walk through memory: blocks of records, in them the elements of all records one after
//! another (manual 9.1.5.2, figure 5).

use wavemill_isa::Level;
use wavemill_sem::buffer::{self, Buffer};
use wavemill_sem::scalar::{S32, S64};

type Operands = buffer::BufferOperands<S32>;

fn decode(words: [u32; 4], level: Level, converts: bool) -> Buffer<S32> {
    Buffer::new(words.map(S32), level, converts)
}

/// A place without index, of lane 0.
fn offset(offset: u64, scalar: u32) -> Operands {
    Operands { index: S32(0), offset: S64(offset), scalar: S32(scalar), indexed: false, lane: S32(0) }
}

#[test]
fn swizzled_records_lie_as_a_walk_finds_them() {
    for (level, sizes) in [
        (Level::Gfx6, &[0u32, 1, 2, 3][..]),
        (Level::Gfx7, &[0, 1, 2, 3]),
        (Level::Gfx8, &[0, 1, 2, 3]),
        (Level::Gfx900, &[0]),
        (Level::Gfx90a, &[0]),
    ] {
        for &size in sizes {
            // GFX9's elements have four bytes; the field means something else there.
            let element = if level.is_gfx9() { 4 } else { 2 << size };
            for span in 0..4 {
                for elements in [1, 3, 5] {
                    let stride = element * elements;
                    let words =
                        [0x1000, stride << 16 | 1 << 31, 1000, 1 << 15 | 4 << 12 | size << 19 | span << 21];
                    let buffer = decode(words, level, false);
                    let mut address = 0x1000u64;
                    let records = 8 << span;
                    for block in 0..3 {
                        for e in 0..elements {
                            for i in 0..records {
                                for byte in 0..element {
                                    let index = S32(block * records + i);
                                    let within = offset((e * element + byte) as u64, 64);
                                    let place = Operands { index, indexed: true, ..within };
                                    assert_eq!(buffer.address(place).0, address + 64, "{level:?} {place:?}");
                                    address += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Lane numbers count as indices; the resource's format field then widens the stride, unless the instruction converts.
#[test]
fn lane_numbers() {
    let words = [0, 24 << 16, 0, 3 << 15 | 1 << 23];
    let place = Operands { index: S32(2), lane: S32(7), indexed: true, ..offset(5, 0) };
    for (level, converts, stride) in [
        (Level::Gfx90a, false, 24 + (3 << 14)),
        (Level::Gfx900, true, 24),
        (Level::Gfx8, false, 24 + (3 << 14)),
        (Level::Gfx7, false, 24),
    ] {
        let buffer = decode(words, level, converts);
        assert_eq!(buffer.address(place).0, 9 * stride + 5, "{level:?}");
        // Without an index there is no range check at all.
        assert!(buffer.in_range(Operands { indexed: false, ..place }, 4).0);
        assert!(!buffer.in_range(place, 4).0, "no record is inside");
    }
}

/// Addresses wrap at 64 bits, offsets do not wrap in the range check.
#[test]
fn edges() {
    let words = [0xffff_fff0, 0xffff, 0xffff_ffff, 4 << 15];
    let buffer = decode(words, Level::Gfx90a, false);
    let at = offset;
    assert_eq!(buffer.address(at(0x10, 0)).0, 1 << 48);
    assert!(buffer.in_range(at(0xffff_fffb, 0), 4).0);
    assert!(!buffer.in_range(at(0xffff_fffc, 0), 4).0);
    assert!(!buffer.in_range(at(0xffff_fff0, 0xffff_fff0), 4).0);
    // A sum of offsets beyond 32 bits is out of range; where nothing is checked, the address has the low ones.
    assert!(!buffer.in_range(at(0x1_0000_0004, 0), 4).0);
    assert_eq!(buffer.address(at(0x1_0000_0004, 0)), buffer.address(at(4, 0)));
    let empty = decode([0x1000, 0, 0, 4 << 15], Level::Gfx90a, false);
    assert!(!empty.in_range(at(0, 0), 1).0);
}
