//! Call frames: what `.cfi_…` says about them, and how `.debug_frame` and `.eh_frame` put it.

use super::{Content, DataFixup, Object};
use crate::expr::{BinOp, Expr};
use crate::fixup::FixupKind;
use crate::ids::SectionId;
use crate::ids::{Position, SymId};
use crate::number::write_int;
use crate::number::write_leb128;
use crate::section::Section;
use crate::source::Span;
use crate::symbol::Symbols;

/// One thing said about a frame. Registers are DWARF numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the directives
pub enum Cfi {
    DefCfa(i64, i64),
    DefCfaOffset(i64),
    AdjustCfaOffset(i64),
    DefCfaRegister(i64),
    DefAspaceCfa(i64, i64, i64),
    Offset(i64, i64),
    RelOffset(i64, i64),
    Register(i64, i64),
    SameValue(i64),
    Restore(i64),
    Undefined(i64),
    ReturnColumn(i64),
    RememberState,
    RestoreState,
    WindowSave,
    SignalFrame,
    Escape(Vec<u8>),
    Personality(u8, SymId),
    Lsda(u8, SymId),
    Label(String),
}

impl Cfi {
    /// Writes what follows the directive's name.
    pub(crate) fn print_operands(&self, symbols: &Symbols, out: &mut Vec<u8>) {
        let numbers = |values: &[i64], out: &mut Vec<u8>| {
            for (i, value) in values.iter().enumerate() {
                out.extend_from_slice(if i == 0 { b" " } else { b", " });
                write_int(*value, out);
            }
        };
        match self {
            Cfi::RememberState | Cfi::RestoreState | Cfi::WindowSave | Cfi::SignalFrame => {}
            Cfi::DefCfa(a, b) | Cfi::Offset(a, b) | Cfi::RelOffset(a, b) | Cfi::Register(a, b) => {
                numbers(&[*a, *b], out);
            }
            Cfi::DefAspaceCfa(a, b, c) => numbers(&[*a, *b, *c], out),
            Cfi::DefCfaOffset(a)
            | Cfi::AdjustCfaOffset(a)
            | Cfi::DefCfaRegister(a)
            | Cfi::SameValue(a)
            | Cfi::Restore(a)
            | Cfi::Undefined(a)
            | Cfi::ReturnColumn(a) => numbers(&[*a], out),
            Cfi::Escape(bytes) => {
                for (i, byte) in bytes.iter().enumerate() {
                    let comma = if i == 0 { "" } else { "," };
                    out.extend_from_slice(format!("{comma} 0x{byte:02x}").as_bytes());
                }
            }
            Cfi::Personality(encoding, symbol) | Cfi::Lsda(encoding, symbol) => {
                numbers(&[(*encoding).into()], out);
                out.extend_from_slice(b", ");
                symbols.print_name(*symbol, out);
            }
            Cfi::Label(name) => {
                out.push(b' ');
                out.extend_from_slice(name.as_bytes());
            }
        }
    }
}

/// A function's frame.
#[derive(Clone, Debug)]
pub struct Frame {
    begin: Position,
    end: Position,
    simple: bool,
    signal: bool,
    return_column: Option<i64>,
    personality: Option<(u8, SymId)>,
    lsda: Option<(u8, SymId)>,
    steps: Vec<(Position, Cfi)>,
}

impl Frame {
    pub(crate) fn new(begin: Position, simple: bool) -> Frame {
        Frame {
            begin,
            end: begin,
            simple,
            signal: false,
            return_column: None,
            personality: None,
            lsda: None,
            steps: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, place: Position, cfi: Cfi) {
        match cfi {
            Cfi::SignalFrame => self.signal = true,
            Cfi::ReturnColumn(register) => self.return_column = Some(register),
            Cfi::Personality(encoding, symbol) => self.personality = Some((encoding, symbol)),
            Cfi::Lsda(encoding, symbol) => self.lsda = Some((encoding, symbol)),
            step => self.steps.push((place, step)),
        }
    }

    pub(crate) fn close(&mut self, end: Position) {
        self.end = end;
    }
}

/// AMD GPUs' numbers: instructions are multiples of four bytes, the stack grows up in units of four, the return
/// address is in DWARF register 16 (the program counter), addresses have eight bytes.
const CODE_UNIT: i64 = 4;
const DATA_UNIT: i64 = 4;
const RETURN_ADDRESS: i64 = 16;
const POINTER: usize = 8;
/// Relative to the place, signed, four bytes: how `.eh_frame` puts addresses.
const PCREL_SDATA4: u8 = 0x1b;

/// A section's bytes in the making.
struct Writer {
    bytes: Vec<u8>,
    fixups: Vec<DataFixup>,
}

impl Writer {
    fn int(&mut self, value: u64, size: usize) {
        self.bytes.extend_from_slice(&value.to_le_bytes()[..size]);
    }

    fn uleb(&mut self, value: i64) {
        write_leb128(value, false, &mut self.bytes);
    }

    fn sleb(&mut self, value: i64) {
        write_leb128(value, true, &mut self.bytes);
    }

    fn fixup(&mut self, kind: FixupKind, symbol: SymId, offset: u64) {
        let expr = match offset {
            0 => Expr::sym(symbol),
            _ => Expr::binary(BinOp::Add, Expr::sym(symbol), Expr::Const(offset as i64)),
        };
        let offset = self.bytes.len() as u32;
        self.fixups.push(DataFixup { offset, kind, expr, span: Span::default() });
        self.int(0, kind.size() as usize);
    }

    /// An address in the given encoding; formats that have no relocation are left zero.
    fn encoded(&mut self, encoding: u8, symbol: SymId, offset: u64) {
        let kind = match (encoding & 0x70, encoding & 0xf) {
            (0x10, 3 | 11) => FixupKind::PcRel4,
            (_, 3 | 11) => FixupKind::Data4,
            (_, 2 | 10) => FixupKind::Data2,
            _ => FixupKind::Data8,
        };
        self.fixup(kind, symbol, offset);
    }

    /// Opens an entry whose length is filled in by [`Writer::close`].
    fn open(&mut self) -> usize {
        let start = self.bytes.len();
        self.int(0, 4);
        start
    }

    fn close(&mut self, start: usize, align: usize) {
        let padded = self.bytes.len().next_multiple_of(align);
        self.bytes.resize(padded, 0);
        let length = (padded - start - 4) as u32;
        self.bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }
}

fn encoded_size(encoding: u8) -> i64 {
    match encoding & 0xf {
        2 | 10 => 2,
        3 | 11 => 4,
        _ => 8,
    }
}

impl Object {
    /// Fills the sections that describe frames; the code must have its addresses.
    pub(super) fn write_frames(&mut self, symbols: &Symbols, sections: &[Section]) {
        let mut frames = self.frames.clone();
        let personality =
            |f: &Frame| f.personality.map(|(encoding, id)| (symbols[id].name.clone(), encoding));
        frames.sort_by_cached_key(|f| {
            let lsda = f.lsda.map_or(u32::MAX, |(encoding, _)| encoding.into());
            let column = f.return_column.unwrap_or(i64::MAX);
            (personality(f), lsda, f.signal, f.simple, column)
        });
        for (id, symbol, eh) in self.frame_sections.clone() {
            let writer = self.describe_frames(&frames, symbol, eh, sections);
            let section = &mut self.sections[id.0 as usize];
            section.used = true;
            section.align = section.align.max(POINTER as u64);
            let fragment = section.data_fragment();
            if let Content::Data { bytes, fixups } = &mut section.fragments[fragment as usize].content {
                let base = bytes.len() as u32;
                bytes.extend_from_slice(&writer.bytes);
                fixups.extend(writer.fixups.into_iter().map(|f| DataFixup { offset: f.offset + base, ..f }));
            }
        }
    }

    fn describe_frames(&self, frames: &[Frame], section: SymId, eh: bool, sections: &[Section]) -> Writer {
        let mut w = Writer { bytes: Vec::new(), fixups: Vec::new() };
        let mut common: Option<(usize, &Frame)> = None;
        for (i, frame) in frames.iter().enumerate() {
            let shares = |other: &Frame| {
                frame.personality == other.personality
                    && frame.lsda.map(|l| l.0) == other.lsda.map(|l| l.0)
                    && (frame.signal, frame.simple, frame.return_column)
                        == (other.signal, other.simple, other.return_column)
            };
            let start = match common {
                Some((start, other)) if !eh || shares(other) => start,
                _ => {
                    let start = w.bytes.len();
                    self.common_entry(&mut w, frame, eh);
                    common = Some((start, frame));
                    start
                }
            };
            let entry = w.open();
            if eh {
                let back = w.bytes.len() - start;
                w.int(back as u64, 4);
            } else {
                w.fixup(FixupKind::Data4, section, start as u64);
            }
            self.frame_entry(&mut w, frame, eh, sections);
            let last = i + 1 == frames.len();
            w.close(entry, if eh && !last { 4 } else { POINTER });
        }
        w
    }

    /// What frames have in common: the CIE.
    fn common_entry(&self, w: &mut Writer, frame: &Frame, eh: bool) {
        let entry = w.open();
        w.int(if eh { 0 } else { u64::MAX }, 4);
        let version = if eh { 1 } else { self.frame_version };
        w.int(version.into(), 1);
        if eh {
            w.bytes.push(b'z');
            w.bytes.extend(frame.personality.map(|_| b'P'));
            w.bytes.extend(frame.lsda.map(|_| b'L'));
            w.bytes.push(b'R');
            w.bytes.extend(frame.signal.then_some(b'S'));
        }
        w.int(0, 1);
        if version >= 4 {
            w.int(POINTER as u64, 1);
            w.int(0, 1);
        }
        w.uleb(CODE_UNIT);
        w.sleb(DATA_UNIT);
        let return_column = frame.return_column.unwrap_or(RETURN_ADDRESS);
        if version == 1 {
            w.int(return_column as u64, 1);
        } else {
            w.uleb(return_column);
        }
        if eh {
            let personality = frame.personality.map_or(0, |(encoding, _)| 1 + encoded_size(encoding));
            w.uleb(1 + personality + i64::from(frame.lsda.is_some()));
            if let Some((encoding, symbol)) = frame.personality {
                w.int(encoding.into(), 1);
                w.encoded(encoding, symbol, 0);
            }
            w.bytes.extend(frame.lsda.map(|(encoding, _)| encoding));
            w.int(PCREL_SDATA4.into(), 1);
        }
        w.close(entry, if eh { 4 } else { POINTER });
    }

    fn frame_entry(&self, w: &mut Writer, frame: &Frame, eh: bool, sections: &[Section]) {
        let begin = self.offset_of(frame.begin);
        let length = self.offset_of(frame.end).wrapping_sub(begin);
        let SectionId(index) = frame.begin.section;
        if let Some(symbol) = sections[index as usize].begin {
            let kind = if eh { FixupKind::PcRel4 } else { FixupKind::Data8 };
            w.fixup(kind, symbol, begin);
        }
        w.int(length, if eh { 4 } else { POINTER });
        if eh {
            w.uleb(frame.lsda.map_or(0, |(encoding, _)| encoded_size(encoding)));
            if let Some((encoding, symbol)) = frame.lsda {
                w.encoded(encoding, symbol, 0);
            }
        }
        let (mut at, mut cfa) = (begin, 0);
        for (place, step) in &frame.steps {
            let here = self.offset_of(*place);
            advance(w, here.wrapping_sub(at));
            at = here;
            write_step(w, step, &mut cfa);
        }
    }
}

/// Moves on in the code.
fn advance(w: &mut Writer, bytes: u64) {
    let units = bytes / CODE_UNIT as u64;
    match units {
        0 => {}
        1..64 => w.int(0x40 | units, 1),
        64..0x100 => {
            w.int(0x02, 1);
            w.int(units, 1);
        }
        0x100..0x1_0000 => {
            w.int(0x03, 1);
            w.int(units, 2);
        }
        _ => {
            w.int(0x04, 1);
            w.int(units, 4);
        }
    }
}

/// Writes one DWARF call frame instruction (DWARF 5, section 6.4.2); `cfa` is the offset in force.
fn write_step(w: &mut Writer, step: &Cfi, cfa: &mut i64) {
    let op = |w: &mut Writer, code: u64, operands: &[i64]| {
        w.int(code, 1);
        operands.iter().for_each(|operand| w.uleb(*operand));
    };
    match step {
        Cfi::DefCfa(register, offset) => {
            *cfa = *offset;
            op(w, 0x0c, &[*register, *offset]);
        }
        Cfi::DefCfaOffset(offset) => {
            *cfa = *offset;
            op(w, 0x0e, &[*cfa]);
        }
        Cfi::AdjustCfaOffset(by) => {
            *cfa = cfa.wrapping_add(*by);
            op(w, 0x0e, &[*cfa]);
        }
        Cfi::DefCfaRegister(register) => op(w, 0x0d, &[*register]),
        Cfi::DefAspaceCfa(register, offset, space) => {
            *cfa = *offset;
            op(w, 0x30, &[*register, *offset, *space]);
        }
        Cfi::Offset(register, offset) | Cfi::RelOffset(register, offset) => {
            let relative = matches!(step, Cfi::RelOffset(..));
            let offset = offset.wrapping_sub(if relative { *cfa } else { 0 }) / DATA_UNIT;
            match (offset, *register) {
                (..0, register) => {
                    op(w, 0x11, &[register]);
                    w.sleb(offset);
                }
                (_, register @ 0..64) => op(w, 0x80 | register as u64, &[offset]),
                (_, register) => op(w, 0x05, &[register, offset]),
            }
        }
        Cfi::Register(from, to) => op(w, 0x09, &[*from, *to]),
        Cfi::SameValue(register) => op(w, 0x08, &[*register]),
        Cfi::Restore(register @ 0..64) => op(w, 0xc0 | *register as u64, &[]),
        Cfi::Restore(register) => op(w, 0x06, &[*register]),
        Cfi::Undefined(register) => op(w, 0x07, &[*register]),
        Cfi::RememberState => op(w, 0x0a, &[]),
        Cfi::RestoreState => op(w, 0x0b, &[]),
        Cfi::WindowSave => op(w, 0x2d, &[]),
        Cfi::Escape(bytes) => w.bytes.extend_from_slice(bytes),
        // These say something about the frame as a whole, or name a place nobody refers to.
        Cfi::ReturnColumn(_) | Cfi::SignalFrame | Cfi::Personality(..) | Cfi::Lsda(..) | Cfi::Label(_) => {}
    }
}
