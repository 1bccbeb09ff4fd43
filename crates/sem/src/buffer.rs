//! Buffer resources (V#): decoding, range checks, and the address of a byte (manual 9.1.5, 9.1.8).

use crate::format::{Format, Swizzle};
use wavemill_isa::Level;

/// A buffer resource descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Address of record 0.
    pub base: u64,
    /// Bytes of a record.
    pub stride: u32,
    /// Size, in bytes or records: see [`Buffer::in_range`].
    pub records: u32,
    /// Records are swizzled.
    pub swizzle: bool,
    /// The lane's number is added to the index.
    pub add_tid: bool,
    /// Bytes of a record that stay together when swizzled.
    pub element: u32,
    /// Records whose elements stand together when swizzled.
    pub index_stride: u32,
    /// Number of the data format.
    pub data_format: u32,
    /// Number of the number format.
    pub number_format: u32,
    /// Destination selects.
    pub select: Swizzle,
    /// No buffer at all: loads give zero, stores and atomics do nothing.
    pub unbound: bool,
    level: Level,
}

/// Where a lane's access goes, before the buffer has its say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Record, from the index VGPR.
    pub index: u32,
    /// Byte in it: the sum of the instruction's offset and the offset VGPR. The address has 32 bits of it, but a sum
    /// that needs more is out of range.
    pub offset: u64,
    /// The scalar offset.
    pub scalar: u32,
    /// Whether the instruction has an index VGPR.
    pub indexed: bool,
    /// Lane, for resources that add it to the index.
    pub lane: u32,
}

impl Buffer {
    /// Decodes four dwords. `converts` for instructions that use the data format: where it is not a format, the field
    /// of a resource that adds lane numbers holds upper bits of the stride (GFX8 on).
    pub fn new(words: [u32; 4], level: Level, converts: bool) -> Buffer {
        let add_tid = words[3] >> 23 & 1 != 0;
        let data_format = words[3] >> 15 & 15;
        let wide = add_tid && !converts && level.is_vi_plus();
        Buffer {
            base: words[0] as u64 | (words[1] as u64 & 0xffff) << 32,
            stride: words[1] >> 16 & 0x3fff | if wide { data_format << 14 } else { 0 },
            records: words[2],
            swizzle: words[1] >> 31 != 0,
            add_tid,
            // GFX9 has no element size field: it is four bytes. Before, two bits give 2, 4, 8 or 16.
            element: if level.is_gfx9() { 4 } else { 2 << (words[3] >> 19 & 3) },
            index_stride: 8 << (words[3] >> 21 & 3),
            data_format,
            number_format: words[3] >> 12 & 7,
            select: Swizzle::new(words[3]),
            // The data format INVALID is the mark of an unbound resource, whatever the instruction says (manual 9.1.4).
            unbound: words == [0; 4] || data_format == 0 && !wide,
            level,
        }
    }

    /// The format of its elements, if it has one.
    pub fn format(&self) -> Option<Format> {
        Format::of_buffer(self.data_format, self.number_format, self.level)
    }

    /// Whether `bytes` at a place are in the buffer.
    ///
    /// Private buffers (lane numbers, no index) are not checked, structured ones (an index and a stride) by their index,
    /// all others by their last byte (manual 9.1.5.1). The manual leaves the scalar offset out; silicon counts it, as
    /// the GFX6 manual says. Before GFX9 an index does not make a structured buffer: GFX8 checks the index of swizzled
    /// ones, GFX6 and GFX7 of all that have a stride, and there the offset must be inside the record.
    pub fn in_range(&self, place: Place, bytes: u32) -> bool {
        if self.unbound {
            return false;
        }
        if self.add_tid && !place.indexed {
            return true;
        }
        let structured = self.stride != 0
            && match self.level {
                Level::Gfx6 | Level::Gfx7 => true,
                Level::Gfx8 => self.swizzle,
                _ => place.indexed,
            };
        if structured {
            let inside = self.level.is_gfx9() || !place.indexed || place.offset < self.stride as u64;
            return place.index < self.records && inside;
        }
        let record = if self.level.is_gfx9() { 0 } else { place.index as u64 * self.stride as u64 };
        record + place.scalar as u64 + place.offset + bytes as u64 <= self.records as u64
    }

    /// The address of the byte at a place (manual 9.1.5.2).
    pub fn address(&self, place: Place) -> u64 {
        let index = place.index.wrapping_add(if self.add_tid { place.lane } else { 0 }) as u64;
        let (offset, stride) = (place.offset as u32 as u64, self.stride as u64);
        let linear = if self.swizzle {
            let (span, element) = (self.index_stride as u64, self.element as u64);
            (index / span * stride + offset / element * element) * span
                + index % span * element
                + offset % element
        } else {
            index * stride + offset
        };
        self.base.wrapping_add(place.scalar as u64).wrapping_add(linear)
    }
}
