//! Operands with a syntax of their own: counters, messages, hardware registers, swizzles, formats.

use super::Printer;
use super::operand::{dec, hex};
use crate::names;
use wavemill_isa::info::WaitCounts;

fn call(name: &str, value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.push(b'(');
    dec(value, out);
    out.push(b')');
}

impl Printer {
    pub(super) fn waitcnt(&self, value: u32, out: &mut Vec<u8>) {
        let (waits, most) = (WaitCounts::decode(value, self.level), WaitCounts::none(self.level));
        let fields = [(waits.vm, most.vm), (waits.exp, most.exp), (waits.lgkm, most.lgkm)];
        let all = fields.iter().all(|(n, max)| n == max);
        let mut first = true;
        for ((n, max), name) in fields.into_iter().zip(["vmcnt", "expcnt", "lgkmcnt"]) {
            if n != max || all {
                if !first {
                    out.push(b' ');
                }
                first = false;
                call(name, n.into(), out);
            }
        }
    }

    pub(super) fn sendmsg(&self, value: u32, out: &mut Vec<u8>) {
        let (id, op, stream) = (value & 15, value >> 4 & 7, value >> 8 & 3);
        let gs = id == names::MSG_GS || id == names::MSG_GS_DONE;
        let op_name = match id {
            names::MSG_SYSMSG => names::name_of(names::SYSTEM_OPS, op, &self.target),
            _ if gs => names::name_of(names::GS_OPS, op, &self.target),
            _ => None,
        };
        let needs_op = gs || id == names::MSG_SYSMSG;
        let op_ok = if needs_op { op_name.is_some() && !(id == names::MSG_GS && op == 0) } else { op == 0 };
        let takes_stream = gs && op != 0;
        let known = names::name_of(names::MESSAGES, id, &self.target)
            .filter(|_| op_ok && (takes_stream || stream == 0));
        if known.is_none() && value & !0x37f != 0 {
            dec(value, out);
            return;
        }
        out.extend_from_slice(b"sendmsg(");
        match known {
            Some(name) => {
                out.extend_from_slice(name.as_bytes());
                if let Some(op) = op_name {
                    out.extend_from_slice(b", ");
                    out.extend_from_slice(op.as_bytes());
                    if takes_stream {
                        out.extend_from_slice(b", ");
                        dec(stream, out);
                    }
                }
            }
            None => {
                for (i, n) in [id, op, stream].into_iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(b", ");
                    }
                    dec(n, out);
                }
            }
        }
        out.push(b')');
    }

    pub(super) fn hwreg(&self, value: u32, out: &mut Vec<u8>) {
        let (id, offset, size) = (value & 63, value >> 6 & 31, (value >> 11) + 1);
        out.extend_from_slice(b"hwreg(");
        match names::name_of(names::HWREGS, id, &self.target) {
            Some(name) => out.extend_from_slice(name.as_bytes()),
            None => dec(id, out),
        }
        if offset != 0 || size != 32 {
            out.extend_from_slice(b", ");
            dec(offset, out);
            out.extend_from_slice(b", ");
            dec(size, out);
        }
        out.push(b')');
    }

    pub(super) fn gpr_idx(&self, value: u32, out: &mut Vec<u8>) {
        if value & !15 != 0 {
            hex(value as u64, out);
            return;
        }
        out.extend_from_slice(b"gpr_idx(");
        let mut first = true;
        for (bit, name) in ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate() {
            if value >> bit & 1 != 0 {
                if !first {
                    out.push(b',');
                }
                first = false;
                out.extend_from_slice(name.as_bytes());
            }
        }
        out.push(b')');
    }

    /// DS_SWIZZLE's offset (manual 12.12.1).
    pub(super) fn swizzle(&self, value: u32, out: &mut Vec<u8>) {
        if value == 0 {
            return;
        }
        out.extend_from_slice(b" offset:");
        if value & 0xff00 == 0x8000 {
            out.extend_from_slice(b"swizzle(QUAD_PERM");
            for lane in 0..4 {
                out.push(b',');
                dec(value >> (2 * lane) & 3, out);
            }
        } else if value & 0x8000 == 0 {
            let (and, or, xor) = (value & 31, value >> 5 & 31, value >> 10 & 31);
            let group = 32 - and;
            out.extend_from_slice(b"swizzle(");
            if and == 31 && or == 0 && xor.is_power_of_two() {
                out.extend_from_slice(b"SWAP,");
                dec(xor, out);
            } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
                out.extend_from_slice(b"REVERSE,");
                dec(xor + 1, out);
            } else if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
                out.extend_from_slice(b"BROADCAST,");
                dec(group, out);
                out.push(b',');
                dec(or, out);
            } else {
                out.extend_from_slice(b"BITMASK_PERM,\"");
                let (zeros, ones) = (or ^ xor, (and | or) ^ xor);
                for bit in (0..5).rev() {
                    out.push(match (zeros >> bit & 1, ones >> bit & 1) {
                        (0, 0) => b'0',
                        (1, 1) => b'1',
                        (0, _) => b'p',
                        _ => b'i',
                    });
                }
                out.push(b'"');
            }
        } else {
            dec(value, out);
            return;
        }
        out.push(b')');
    }

    /// MTBUF's format, unless it is the default.
    pub(super) fn buffer_format(&self, dfmt: u32, nfmt: u32, out: &mut Vec<u8>) {
        if dfmt == 1 && nfmt == 0 {
            return;
        }
        out.extend_from_slice(b" format:[");
        if dfmt != 1 {
            out.extend_from_slice(names::DATA_FORMAT.as_bytes());
            out.extend_from_slice(names::DATA_FORMATS[dfmt as usize].as_bytes());
            if nfmt != 0 {
                out.push(b',');
            }
        }
        if nfmt != 0 {
            out.extend_from_slice(names::NUM_FORMAT.as_bytes());
            out.extend_from_slice(names::num_formats(self.level)[nfmt as usize].as_bytes());
        }
        out.push(b']');
    }

    /// An export target.
    pub(super) fn export_target(&self, id: u32, out: &mut Vec<u8>) {
        let mut indexed = |name: &str, n: u32| {
            out.extend_from_slice(name.as_bytes());
            dec(n, out);
        };
        match id {
            0..=7 => indexed("mrt", id),
            8 => out.extend_from_slice(b"mrtz"),
            9 => out.extend_from_slice(b"null"),
            12..=15 => indexed("pos", id - 12),
            32..=63 => indexed("param", id - 32),
            _ => indexed("invalid_target_", id),
        }
    }
}
