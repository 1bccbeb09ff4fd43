//! Buffer resources (V#): decoding, range checks, and the address of a byte (manual 9.1.5, 9.1.8). Written over [`Word`],
//! the resource as well as the lane's part, so that engines can record it.

use crate::format::{Format, Swizzle};
use crate::lanes::{Long, Mask, Word, w};
use crate::scalar::S32;
use wavemill_isa::Level;

/// A buffer resource descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<W: Word> {
    /// Address of record 0.
    pub base: W::Long,
    /// Bytes of a record.
    pub stride: W,
    /// Size, in bytes or records: see [`Buffer::in_range`].
    pub records: W,
    /// Records are swizzled.
    pub swizzle: W::Mask,
    /// The lane's number is added to the index.
    pub add_tid: W::Mask,
    /// Binary logarithm of the bytes of a record that stay together when swizzled.
    pub element: W,
    /// Binary logarithm of the records whose elements stand together when swizzled.
    pub index_stride: W,
    /// Number of the data format.
    pub data_format: W,
    /// The last dword, with the number format and the destination selects.
    pub last: W,
    /// No buffer at all: loads give zero, stores and atomics do nothing.
    pub unbound: W::Mask,
    level: Level,
}

/// Where a lane's access goes, before the buffer has its say.
#[derive(Clone, Copy, Debug)]
pub struct BufferOperands<W: Word> {
    /// Record, from the index VGPR.
    pub index: W,
    /// Byte in it: the sum of the instruction's offset and the offset VGPR. The address has 32 bits of it, but a sum
    /// that needs more is out of range.
    pub offset: W::Long,
    /// The scalar offset.
    pub scalar: W,
    /// Whether the instruction has an index VGPR.
    pub indexed: bool,
    /// Lane, for resources that add it to the index.
    pub lane: W,
}

impl<W: Word> BufferOperands<W> {
    /// So many bytes on.
    #[inline(always)]
    #[must_use]
    pub fn plus(self, bytes: u32) -> BufferOperands<W> {
        BufferOperands { offset: self.offset + W::Long::splat(bytes as u64), ..self }
    }
}

#[inline(always)]
fn nonzero<W: Word>(a: W) -> W::Mask {
    !a.eq(w(0))
}

impl<W: Word> Buffer<W> {
    /// Decodes four dwords. `converts` for instructions that use the data format: where it is not a format, the field
    /// of a resource that adds lane numbers holds upper bits of the stride (GFX8 on).
    #[inline(always)]
    pub fn new(words: [W; 4], level: Level, converts: bool) -> Buffer<W> {
        let field = |word: W, at: u32, mask: u32| word.shr(w(at)) & w(mask);
        let add_tid = nonzero(field(words[3], 23, 1));
        let data_format = field(words[3], 15, 15);
        let none = W::Mask::zeros();
        let wide = if converts || !level.is_vi_plus() { none } else { add_tid };
        let high = W::select(wide, data_format.shl(w(14)), w(0));
        let zero = !nonzero(words[0] | words[1] | words[2] | words[3]);
        Buffer {
            base: W::Long::join(words[0], words[1] & w(0xffff)),
            stride: field(words[1], 16, 0x3fff) | high,
            records: words[2],
            swizzle: nonzero(field(words[1], 31, 1)),
            add_tid,
            // GFX9 has no element size field: it is four bytes. Before, two bits give 2, 4, 8 or 16.
            element: if level.is_gfx9() { w(2) } else { field(words[3], 19, 3) + w(1) },
            index_stride: field(words[3], 21, 3) + w(3),
            data_format,
            last: words[3],
            // The data format INVALID is the mark of an unbound resource, whatever the instruction says (manual 9.1.4).
            unbound: zero | !nonzero(data_format) & !wide,
            level,
        }
    }

    /// Whether `bytes` at a place are in the buffer.
    ///
    /// Private buffers (lane numbers, no index) are not checked, structured ones (an index and a stride) by their index,
    /// all others by their last byte (manual 9.1.5.1). The manual leaves the scalar offset out; silicon counts it from GFX8
    /// on (measured on gfx950, rocm-systems #10928; LLVM takes GFX8 for healthy), and not on GFX6 and GFX7 (measured on
    /// Hawaii, Mesa f001515c875). Before GFX9 an index does not make a structured buffer: GFX8 checks the index of swizzled
    /// ones, GFX6 and GFX7 of all that have a stride, and there the offset must be inside the record.
    #[inline(always)]
    pub fn in_range(&self, place: BufferOperands<W>, bytes: u32) -> W::Mask {
        let (all, none) = (W::Mask::ones(), W::Mask::zeros());
        let gfx9 = self.level.is_gfx9();
        let private = if place.indexed { none } else { self.add_tid };
        let structured = nonzero(self.stride)
            & match self.level {
                Level::Gfx6 | Level::Gfx7 => all,
                Level::Gfx8 => self.swizzle,
                _ if place.indexed => all,
                _ => none,
            };
        let in_record = match gfx9 || !place.indexed {
            true => all,
            false => place.offset.lt_u(self.stride.zext()),
        };
        let by_index = place.index.lt_u(self.records) & in_record;
        let record = if gfx9 { W::Long::splat(0) } else { place.index.mul_wide_u(self.stride) };
        let scalar = if self.level.is_vi_plus() { place.scalar } else { w(0) };
        let end = record + scalar.zext() + place.offset + W::Long::splat(bytes as u64);
        let by_byte = !self.records.zext().lt_u(end);
        !self.unbound & (private | structured & by_index | !structured & by_byte)
    }

    /// The address of the byte at a place (manual 9.1.5.2).
    #[inline(always)]
    pub fn address(&self, place: BufferOperands<W>) -> W::Long {
        let index = place.index + W::select(self.add_tid, place.lane, w(0));
        let offset = place.offset.lo();
        let (span, element) = (self.index_stride, self.element);
        let (in_span, in_element) = (w::<W>(1).shl(span) - w(1), w::<W>(1).shl(element) - w(1));
        let group = index.shr(span).mul_wide_u(self.stride) + (offset & !in_element).zext();
        let swizzled = group.shl(span) + (index & in_span).zext().shl(element) + (offset & in_element).zext();
        let linear = index.mul_wide_u(self.stride) + offset.zext();
        self.base + place.scalar.zext() + W::Long::select(self.swizzle, swizzled, linear)
    }

    /// Bytes that scalar instructions may read: the size is in records if there is a stride (manual 8.4).
    #[inline]
    pub fn scalar_limit(&self) -> W::Long {
        let bytes = self.records.mul_wide_u(self.stride);
        W::Long::select(nonzero(self.stride), bytes, self.records.zext())
    }
}

impl Buffer<S32> {
    /// The format of its elements, if it has one.
    #[inline(always)]
    pub fn format(&self) -> Option<Format> {
        self.format_of(self.data_format.0, self.last.0 >> 12 & 7)
    }

    /// The format that an instruction gives its elements instead.
    #[inline(always)]
    pub fn format_of(&self, dfmt: u32, nfmt: u32) -> Option<Format> {
        Format::of_buffer(dfmt, nfmt, self.level)
    }

    /// Destination selects.
    #[inline]
    pub fn select(&self) -> Swizzle {
        Swizzle::new(self.last.0)
    }
}
