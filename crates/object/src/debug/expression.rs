//! Location expressions: as llvm-dwarfdump writes them, and what they mean for the memory that something is in.

use super::Space;
use crate::dwarf::{Slice, text};
use gimli::{Expression, Operation, UnitOffset, UnitRef, constants as dw};
use std::fmt::Write as _;
use std::ops::Range;

/// Where a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// For which instructions that holds; `None` for all of its scope.
    pub range: Option<Range<u64>>,
    /// The memory that the expression takes it from, by `DW_OP_xderef`; `None` for global memory and registers.
    pub space: Option<Space>,
    /// The expression in llvm-dwarfdump's form.
    pub expression: String,
    /// The same for people: `frame+8`, `SGPR4`, `0x1200`.
    pub place: String,
}

/// Operations of an expression that are read: more than any compiler writes.
const MAX_OPERATIONS: usize = 1000;

/// Expressions in expressions.
const MAX_DEPTH: usize = 4;

pub(super) struct Reader<'u, 'd> {
    unit: UnitRef<'u, Slice<'d>>,
}

/// An operation with its text.
struct Op {
    code: dw::DwOp,
    text: String,
    /// A number that it pushes.
    constant: Option<u64>,
    /// The place that it is on its own.
    place: Option<String>,
}

impl<'u, 'd> Reader<'u, 'd> {
    pub fn new(unit: UnitRef<'u, Slice<'d>>) -> Reader<'u, 'd> {
        Reader { unit }
    }

    /// The operations of an expression, and of those inside of it.
    fn ops(&self, mut rest: Slice<'d>, depth: usize) -> Vec<Op> {
        let mut ops = Vec::new();
        while let Some(&code) = rest.slice().first().filter(|_| ops.len() < MAX_OPERATIONS) {
            let left = rest;
            match Operation::parse(&mut rest, self.unit.encoding()) {
                Ok(operation) => ops.push(self.op(dw::DwOp(code), &operation, depth)),
                Err(_) => {
                    let bytes: Vec<String> = left.slice().iter().map(|b| format!("{b:02x}")).collect();
                    let text = format!("<decoding error> {}", bytes.join(" "));
                    ops.push(Op { code: dw::DwOp(code), text, constant: None, place: None });
                    break;
                }
            }
        }
        ops
    }

    pub fn read(&self, expression: Expression<Slice<'d>>, range: Option<Range<u64>>) -> Location {
        let ops = self.ops(expression.0, 0);
        let expression = ops.iter().map(|o| o.text.as_str()).collect::<Vec<_>>().join(", ");
        // What is spread over several places has its pieces one after the other.
        let pieces: Vec<(Option<Space>, String)> =
            ops.split(|o| o.code == dw::DW_OP_piece).filter(|p| !p.is_empty()).map(piece).collect();
        let space = pieces.iter().find_map(|(space, _)| *space);
        let place = pieces.into_iter().map(|(_, place)| place).collect::<Vec<_>>().join(", ");
        Location { range, space, expression, place }
    }

    /// A type that an operation names: where it is and what it is called.
    fn base_type(&self, offset: UnitOffset) -> String {
        let ty = self.unit.entry(offset).ok().filter(|_| offset.0 != 0);
        let name = ty.and_then(|ty| self.unit.attr_string(ty.attr_value(dw::DW_AT_name)?).ok());
        match (name, offset.to_debug_info_offset(&self.unit.header)) {
            (Some(name), Some(at)) => format!(" (0x{:08x}) \"{}\"", at.0, text(name)),
            _ => format!(" {:#x}", offset.0),
        }
    }

    fn op(&self, code: dw::DwOp, operation: &Operation<Slice<'d>>, depth: usize) -> Op {
        let name = code.static_string().map_or_else(|| format!("DW_OP_<{:#x}>", code.0), Into::into);
        let mut op = Op { code, text: name, constant: None, place: None };
        let is_literal = (dw::DW_OP_lit0.0..=dw::DW_OP_lit31.0).contains(&code.0);
        let text = &mut op.text;
        let _ = match operation {
            Operation::UnsignedConstant { value } => {
                op.constant = Some(*value);
                if is_literal { Ok(()) } else { write!(text, " {value:#x}") }
            }
            Operation::SignedConstant { value } => {
                op.constant = Some(*value as u64);
                if is_literal { Ok(()) } else { write!(text, " {value:+}") }
            }
            Operation::FrameOffset { offset } => {
                op.place = Some(format!("frame{offset:+}"));
                write!(text, " {offset:+}")
            }
            Operation::Register { register } => {
                op.place = Some(register_name(register.0));
                write!(text, " {}", register_name(register.0))
            }
            Operation::RegisterOffset { register, base_type, .. } if base_type.0 != 0 => {
                write!(text, " {}{}", register_name(register.0), self.base_type(*base_type))
            }
            Operation::RegisterOffset { register, offset, .. } => {
                op.place = Some(format!("[{}{offset:+}]", register_name(register.0)));
                write!(text, " {}{offset:+}", register_name(register.0))
            }
            Operation::Address { address } => {
                op.place = Some(format!("{address:#x}"));
                write!(text, " {address:#x}")
            }
            Operation::AddressIndex { index } => {
                op.place = self.unit.address(*index).ok().map(|a| format!("{a:#x}"));
                write!(text, " {:#x}", index.0)
            }
            Operation::ConstantIndex { index } => write!(text, " {:#x}", index.0),
            Operation::PlusConstant { value } => write!(text, " {value:#x}"),
            Operation::Piece { size_in_bits, bit_offset: None } => write!(text, " {:#x}", size_in_bits / 8),
            Operation::Piece { size_in_bits, bit_offset: Some(at) } => {
                write!(text, " {size_in_bits:#x} {at:#x}")
            }
            Operation::Bra { target } | Operation::Skip { target } => write!(text, " {target:+}"),
            Operation::Pick { index } if code == dw::DW_OP_pick => write!(text, " {index:#x}"),
            Operation::Deref { size, .. } if code == dw::DW_OP_deref_size => write!(text, " {size:#x}"),
            Operation::Deref { size, .. } if code == dw::DW_OP_xderef_size => write!(text, " {size:#x}"),
            Operation::ImplicitValue { data } => {
                let _ = write!(text, " {:#x}", data.slice().len());
                data.slice().iter().try_for_each(|b| write!(text, " {b:#04x}"))
            }
            Operation::EntryValue { expression } if depth < MAX_DEPTH => {
                let inside = self.ops(*expression, depth + 1);
                let inside = inside.iter().map(|o| o.text.as_str()).collect::<Vec<_>>().join(", ");
                write!(text, "({inside})")
            }
            Operation::Convert { base_type } | Operation::Reinterpret { base_type } => {
                text.push_str(&self.base_type(*base_type));
                Ok(())
            }
            _ => Ok(()),
        };
        op
    }
}

/// The space that a piece is in, and its place for people.
fn piece(ops: &[Op]) -> (Option<Space>, String) {
    // An address is taken from a space by pushing the space's number below it.
    let at = ops.iter().position(|o| o.code == dw::DW_OP_xderef);
    let number = at.and_then(|at| match ops.get(at.checked_sub(2)?..at)? {
        [number, swap] if swap.code == dw::DW_OP_swap => number.constant,
        _ => None,
    });
    let space = number.and_then(Space::from_dwarf);
    let mut shown: Vec<&Op> = ops.iter().collect();
    if let (Some(at), Some(_)) = (at, space) {
        shown.drain(at - 2..=at);
    }
    let place = match shown.as_slice() {
        [Op { place: Some(place), .. }] => place.clone(),
        [Op { constant: Some(value), .. }, end] if end.code == dw::DW_OP_stack_value => {
            format!("the value {}", *value as i64)
        }
        several => several.iter().map(|o| o.text.as_str()).collect::<Vec<_>>().join(", "),
    };
    (space, place)
}

/// A register by its DWARF number, as LLVM's AMDGPU back end numbers them (AMDGPU guide of later versions, "Register
/// Identifier"): for waves of 64 lanes, and of 32.
pub(super) fn register_name(number: u16) -> String {
    match number {
        1 => "EXEC_LO".into(),
        16 => "PC_REG".into(),
        17 => "EXEC".into(),
        32..=95 => format!("SGPR{}", number - 32),
        1088..=1129 => format!("SGPR{}", number - 1024),
        1536..=1791 => format!("VGPR{}", number - 1536),
        2048..=2303 => format!("AGPR{}", number - 2048),
        2560..=2815 => format!("VGPR{}", number - 2560),
        3072..=3327 => format!("AGPR{}", number - 3072),
        other => format!("0x{other:x}"),
    }
}
