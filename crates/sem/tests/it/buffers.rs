//! Swizzled buffers against a walk through memory: blocks of records, in them the elements of all records one after
//! another (manual 9.1.5.2, figure 5).

use wavemill_isa::Level;
use wavemill_sem::buffer::{Buffer, Place};

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
                    let buffer = Buffer::new(words, level, false);
                    let mut address = 0x1000u64;
                    let records = 8 << span;
                    for block in 0..3 {
                        for e in 0..elements {
                            for i in 0..records {
                                for byte in 0..element {
                                    let place = Place {
                                        index: block * records + i,
                                        offset: (e * element + byte) as u64,
                                        scalar: 64,
                                        indexed: true,
                                        lane: 0,
                                    };
                                    assert_eq!(buffer.address(place), address + 64, "{level:?} {place:?}");
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
    let place = Place { index: 2, offset: 5, lane: 7, indexed: true, ..Place::default() };
    for (level, converts, stride) in [
        (Level::Gfx90a, false, 24 + (3 << 14)),
        (Level::Gfx900, true, 24),
        (Level::Gfx8, false, 24 + (3 << 14)),
        (Level::Gfx7, false, 24),
    ] {
        let buffer = Buffer::new(words, level, converts);
        assert_eq!(buffer.address(place), 9 * stride + 5, "{level:?}");
        // Without an index there is no range check at all.
        assert!(buffer.in_range(Place { indexed: false, ..place }, 4));
        assert!(!buffer.in_range(place, 4), "no record is inside");
    }
}

/// Addresses wrap at 64 bits, offsets do not wrap in the range check.
#[test]
fn edges() {
    let words = [0xffff_fff0, 0xffff, 0xffff_ffff, 4 << 15];
    let buffer = Buffer::new(words, Level::Gfx90a, false);
    let at = |offset: u64, scalar: u32| Place { offset, scalar, ..Place::default() };
    assert_eq!(buffer.address(at(0x10, 0)), 1 << 48);
    assert!(buffer.in_range(at(0xffff_fffb, 0), 4));
    assert!(!buffer.in_range(at(0xffff_fffc, 0), 4));
    assert!(!buffer.in_range(at(0xffff_fff0, 0xffff_fff0), 4));
    // A sum of offsets beyond 32 bits is out of range; where nothing is checked, the address has the low ones.
    assert!(!buffer.in_range(at(0x1_0000_0004, 0), 4));
    assert_eq!(buffer.address(at(0x1_0000_0004, 0)), buffer.address(at(4, 0)));
    let empty = Buffer::new([0x1000, 0, 0, 4 << 15], Level::Gfx90a, false);
    assert!(!empty.in_range(at(0, 0), 1));
}
