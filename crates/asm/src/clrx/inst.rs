//! Instructions: from CLRX's spelling to LLVM's with numbers for all names, and from there to an encoding.

use super::expr::{Expr, ExprError, Names, Regs, Value, float};
use super::spell;
use super::text::Cursor;
use super::{Assembler, Fixup, Patch, Res, What, wrong};
use crate::names;
use wavemill_isa::{Enc, Level, Role, Row, flag, lookup};

/// Stands for a literal that is put in later: no constant of an instruction's own.
const PLACEHOLDER: u32 = 0x5555_5555;

/// An operand in LLVM's spelling.
#[derive(Clone, Debug)]
struct Operand {
    /// What it is without signs.
    text: String,
    neg: bool,
    abs: bool,
    sext: bool,
    /// Its value is put in later, or is a literal dword in any case.
    later: Option<Expr>,
    /// A vector register.
    vgpr: Option<u32>,
    at: usize,
}

impl Operand {
    fn new(text: String, at: usize) -> Operand {
        Operand { text, neg: false, abs: false, sext: false, later: None, vgpr: None, at }
    }

    fn llvm(&self) -> String {
        let mut text = self.text.clone();
        if self.abs {
            text = format!("|{text}|");
        }
        if self.sext {
            text = format!("sext({text})");
        }
        match (self.neg, self.abs || self.sext) {
            (true, true) => format!("-{text}"),
            (true, false) => format!("neg({text})"),
            (false, _) => text,
        }
    }
}

/// What comes after the operands.
#[derive(Clone, Debug, Default)]
struct Modifiers {
    /// In LLVM's spelling.
    text: String,
    form: Option<&'static str>,
    /// Words that were given.
    seen: Vec<String>,
    /// Masks of `abs:`, `neg:` and `sext:`.
    masks: [u32; 3],
}

impl Modifiers {
    fn has(&self, name: &str) -> bool {
        self.seen.iter().any(|s| s == name)
    }
}

/// The row of a mnemonic on a level.
fn row(name: &str, level: Level) -> Option<&'static Row> {
    lookup::by_name(name).find(|r| r.opcode_at(level).is_some())
}

/// Where branches go: an operand that is a label.
fn branches(row: &Row) -> Option<usize> {
    row.operands.iter().position(|o| o.role == Role::Label)
}

impl Assembler<'_> {
    /// Reads registers: `v5`, `s[a:b]`, `vcc`, a register symbol with or without an index.
    pub(super) fn registers(&self, c: &mut Cursor<'_>) -> Res<Option<Value>> {
        let at = c.at;
        let word = c.word();
        let lower = word.to_ascii_lowercase();
        for file in ["v", "s", "ttmp"] {
            let Some(digits) = lower.strip_prefix(file) else { continue };
            if digits.is_empty() && c.peek_at(word.len()) == b'[' {
                c.skip(word.len());
                return self.range(c, Regs { file, first: 0, count: u32::MAX }).map(Some);
            }
            if let Ok(first) = digits.parse::<u32>()
                && digits.bytes().all(|b| b.is_ascii_digit())
                && first < 1024
            {
                c.skip(word.len());
                return Ok(Some(Value::Regs(Regs { file, first, count: 1 })));
            }
        }
        if let Some(name) = spell::register(&lower) {
            c.skip(word.len());
            return Ok(Some(Value::Special(name)));
        }
        if word.is_empty() {
            return Ok(None);
        }
        match self.scopes.value(word, self.scopes.current(), 0) {
            Some(Value::Regs(regs)) => {
                c.skip(word.len());
                match c.peek() {
                    b'[' => self.range(c, regs).map(Some),
                    _ => Ok(Some(Value::Regs(regs))),
                }
            }
            Some(special @ Value::Special(_)) => {
                c.skip(word.len());
                if c.peek() == b'[' {
                    return wrong(at, "this register has no parts that can be counted");
                }
                Ok(Some(special))
            }
            _ => Ok(None),
        }
    }

    /// `[first]` or `[first:last]`, counted from the first register of `base`.
    fn range(&self, c: &mut Cursor<'_>, base: Regs) -> Res<Value> {
        let at = c.at;
        c.skip(1);
        let first = self.number_in(c, 0, 1023)? as u32;
        let mut last = first;
        if c.eat(":") {
            last = self.number_in(c, 0, 1023)? as u32;
        }
        if !c.eat("]") {
            return wrong(c.at, "a closing bracket is wanted");
        }
        if last < first {
            return wrong(at, "the last register is before the first");
        }
        if base.count != u32::MAX && last >= base.count {
            return wrong(at, format!("there are {} registers, counted from 0", base.count));
        }
        Ok(Value::Regs(Regs { file: base.file, first: base.first + first, count: last - first + 1 }))
    }

    /// Notes which registers the code uses.
    fn note(&mut self, regs: Regs) {
        let kernels = match self.current.map(|s| &self.sections[s].what) {
            Some(What::Code(Some(kernel))) => vec![*kernel],
            Some(What::Code(None)) => self.program.coding(),
            _ => return,
        };
        for kernel in kernels {
            let used = &mut self.program.kernels[kernel].used;
            let end = regs.first + regs.count;
            match regs.file {
                "v" => used[1] = used[1].max(end),
                "s" => used[0] = used[0].max(end),
                _ => {}
            }
        }
    }

    /// One operand.
    fn operand(&mut self, c: &mut Cursor<'_>) -> Res<Operand> {
        let at = c.at;
        let mut operand = Operand::new(String::new(), at);
        let mut open = 0;
        let mut bar = false;
        // Signs belong to registers; those of numbers are part of the expression.
        loop {
            let lower = c.word().to_ascii_lowercase();
            let call = c.peek_at(lower.len()) == b'(';
            match lower.as_str() {
                "abs" if call => operand.abs = true,
                "neg" if call => operand.neg = true,
                "sext" if call => operand.sext = true,
                "" if c.peek() == b'-' => {
                    let mut ahead = *c;
                    ahead.skip(1);
                    let word = ahead.word().to_ascii_lowercase();
                    let signed = matches!(word.as_str(), "abs" | "sext") && ahead.peek_at(word.len()) == b'(';
                    if !(signed || ahead.peek() == b'|' || self.registers(&mut ahead)?.is_some()) {
                        break;
                    }
                    operand.neg = true;
                    c.skip(1);
                    continue;
                }
                "" if c.peek() == b'|' && !bar => {
                    operand.abs = true;
                    bar = true;
                    c.skip(1);
                    continue;
                }
                _ => break,
            }
            c.skip(lower.len() + 1);
            open += 1;
        }
        self.plain_operand(c, &mut operand)?;
        for _ in 0..open {
            if !c.eat(")") {
                return wrong(c.at, "a closing parenthesis is wanted");
            }
        }
        if bar && !c.eat("|") {
            return wrong(c.at, "a closing bar is wanted");
        }
        Ok(operand)
    }

    fn plain_operand(&mut self, c: &mut Cursor<'_>, operand: &mut Operand) -> Res {
        let at = c.at;
        let lower = c.word().to_ascii_lowercase();
        let call = c.peek_at(lower.len()) == b'(';
        if lower == "off" {
            c.skip(3);
            operand.text = "off".into();
            return Ok(());
        }
        if let Some(text) = self.special_operand(c, &lower, call)? {
            operand.text = text;
            return Ok(());
        }
        if !c.eat("@")
            && c.peek() != b'('
            && let Some(value) = self.registers(c)?
        {
            match value {
                Value::Regs(regs) => {
                    self.note(regs);
                    operand.vgpr = (regs.file == "v").then_some(regs.first);
                    operand.text = match regs.count {
                        1 => format!("{}{}", regs.file, regs.first),
                        n => format!("{}[{}:{}]", regs.file, regs.first, regs.first + n - 1),
                    };
                }
                Value::Special(name) => operand.text = name.into(),
                _ => return wrong(at, "a register is wanted"),
            }
            return Ok(());
        }
        if lower == "lit" && call {
            c.skip(4);
            let inner = self.context().parse(c)?;
            if !c.eat(")") {
                return wrong(c.at, "a closing parenthesis is wanted");
            }
            operand.text = format!("{PLACEHOLDER:#x}");
            operand.later = Some(inner);
            return Ok(());
        }
        if let Some((text, suffix, len)) = float(c) {
            operand.text = float_text(text, suffix, at)?;
            c.skip(len);
            return Ok(());
        }
        match self.context().parse(c)? {
            Expr::Known(Value::Number(n)) => operand.text = n.to_string(),
            Expr::Known(Value::Regs(_) | Value::Special(_)) => {
                return wrong(at, "registers cannot be computed");
            }
            later => {
                operand.text = format!("{PLACEHOLDER:#x}");
                operand.later = Some(later);
            }
        }
        Ok(())
    }

    /// Operands with a syntax of their own: counters, messages, hardware registers.
    fn special_operand(&mut self, c: &mut Cursor<'_>, lower: &str, call: bool) -> Res<Option<String>> {
        let at = c.at;
        match lower {
            "vmcnt" | "lgkmcnt" | "expcnt" if call => {
                let mut all = Vec::new();
                loop {
                    let name = c.take_word().to_ascii_lowercase();
                    if !c.eat("(") {
                        return wrong(c.at, "a counter in parentheses is wanted");
                    }
                    let n = self.number(c)?;
                    if !c.eat(")") {
                        return wrong(c.at, "a closing parenthesis is wanted");
                    }
                    all.push(format!("{name}({n})"));
                    let more = c.eat("&")
                        || matches!(c.word().to_ascii_lowercase().as_str(), "vmcnt" | "lgkmcnt" | "expcnt");
                    if !more {
                        return Ok(Some(all.join(" & ")));
                    }
                }
            }
            "hwreg" if call => {
                c.skip(lower.len() + 1);
                let name = c.take_word().to_ascii_lowercase();
                let name = name.strip_prefix("hwreg_").or(name.strip_prefix("hw_reg_")).unwrap_or(&name);
                let known = spell::HWREGS.iter().find(|r| r.0 == name).map(|r| i64::from(r.1));
                let id = match known {
                    Some(id) => id,
                    None if name.is_empty() => {
                        c.eat("@");
                        self.number_in(c, 0, 63)?
                    }
                    None => return wrong(at, format!("there is no hardware register {name}")),
                };
                let mut text = format!("hwreg({id}");
                while c.eat(",") {
                    c.eat("@");
                    text += &format!(", {}", self.number_in(c, 0, 32)?);
                }
                if !c.eat(")") {
                    return wrong(c.at, "a closing parenthesis is wanted");
                }
                Ok(Some(text + ")"))
            }
            "sendmsg" if call => {
                c.skip(lower.len() + 1);
                let mut parts = Vec::new();
                while c.peek() != b')' && !c.at_end() {
                    let word = c.take_word();
                    if word.is_empty() {
                        c.eat("@");
                        parts.push(self.number(c)?.to_string());
                    } else {
                        let upper = word.to_ascii_uppercase();
                        let table = if parts.is_empty() { names::MESSAGES } else { names::GS_OPS };
                        let full = [
                            upper.clone(),
                            format!("MSG_{upper}"),
                            format!("GS_OP_{upper}"),
                            format!("GS_OP_{}", upper.replace('-', "_")),
                        ];
                        let found = full.iter().find(|f| names::find(table, f).is_some());
                        parts.push(found.unwrap_or(&upper).clone());
                    }
                    c.eat(",");
                }
                if !c.eat(")") {
                    return wrong(c.at, "a closing parenthesis is wanted");
                }
                Ok(Some(format!("sendmsg({})", parts.join(", "))))
            }
            _ => Ok(None),
        }
    }

    /// A modifier's value: a number, or one in brackets as bits.
    fn mask(&mut self, c: &mut Cursor<'_>) -> Res<u32> {
        if !c.eat("[") {
            return self.number_in(c, 0, 0xff).map(|n| n as u32);
        }
        let mut mask = 0;
        for bit in 0..8 {
            mask |= (self.number_in(c, 0, 1)? as u32) << bit;
            if !c.eat(",") {
                break;
            }
        }
        if c.eat("]") { Ok(mask) } else { wrong(c.at, "a closing bracket is wanted") }
    }

    /// The modifiers, to the end of the statement.
    fn modifiers(&mut self, c: &mut Cursor<'_>, row: &Row) -> Res<Modifiers> {
        let mut all = Modifiers::default();
        let mut omod = None;
        while !c.at_end() {
            c.eat(",");
            let at = c.at;
            let name = c.take_word().to_ascii_lowercase();
            if name.is_empty() {
                return wrong(at, "a modifier is wanted");
            }
            let value = c.eat(":");
            let add = |text: String, all: &mut Modifiers| {
                // A modifier may be repeated; the last one counts.
                if !all.seen.contains(&name) {
                    all.seen.push(name.clone());
                    all.text += " ";
                    all.text += &text;
                }
            };
            match name.as_str() {
                "vop3" | "e64" => all.form = Some("_e64"),
                "e32" => all.form = Some("_e32"),
                "sdwa" => all.form = Some("_sdwa"),
                "dpp" => all.form = Some("_dpp"),
                "abs" | "neg" | "sext" if value => {
                    let which = ["abs", "neg", "sext"].iter().position(|n| *n == name).unwrap_or(0);
                    all.masks[which] = self.mask(c)?;
                }
                "mul" | "div" => {
                    let n = self.number(c)?;
                    omod = Some(match (name.as_str(), n) {
                        (_, 1) => "",
                        ("mul", 2) => "mul:2",
                        ("mul", 4) => "mul:4",
                        ("div", 2) => "div:2",
                        _ => return wrong(at, "mul:2, mul:4 and div:2 are all there is"),
                    });
                }
                "omod" => {
                    omod = Some(["", "mul:2", "mul:4", "div:2"][self.number_in(c, 0, 3)? as usize]);
                }
                "dst_sel" | "src0_sel" | "src1_sel" => {
                    let word = c.take_word();
                    let Some(select) = spell::sdwa_select(word) else {
                        return wrong(at, format!("there is no part {word} of a register"));
                    };
                    all.form = Some("_sdwa");
                    add(format!("{name}:{select}"), &mut all);
                }
                "dst_unused" | "dst_un" => {
                    let word = c.take_word();
                    let Some(unused) = spell::sdwa_unused(word) else {
                        return wrong(at, "unused bits are pad, sext or preserve");
                    };
                    all.form = Some("_sdwa");
                    all.seen.push("dst_unused".into());
                    all.text += &format!(" dst_unused:{unused}");
                }
                "quad_perm" => {
                    if !c.eat("[") {
                        return wrong(c.at, "four numbers in brackets are wanted");
                    }
                    let mut lanes = Vec::new();
                    while lanes.len() < 4 {
                        lanes.push(self.number_in(c, 0, 3)?.to_string());
                        c.eat(",");
                    }
                    if !c.eat("]") {
                        return wrong(c.at, "a closing bracket is wanted");
                    }
                    all.form = Some("_dpp");
                    add(format!("quad_perm:[{}]", lanes.join(",")), &mut all);
                }
                "row_shl" | "row_shr" | "row_ror" | "row_bcast" | "wave_shl" | "wave_shr" | "wave_rol"
                | "wave_ror" => {
                    let n = if value { self.number(c)? } else { 1 };
                    all.form = Some("_dpp");
                    add(format!("{name}:{n}"), &mut all);
                }
                "row_bcast15" | "row_bcast31" => {
                    all.form = Some("_dpp");
                    add(format!("row_bcast:{}", &name["row_bcast".len()..]), &mut all);
                }
                "row_mirror" | "row_half_mirror" => {
                    all.form = Some("_dpp");
                    add(name.clone(), &mut all);
                }
                "bank_mask" | "row_mask" => {
                    let n = self.number_in(c, 0, 15)?;
                    all.form = Some("_dpp");
                    add(format!("{name}:{n:#x}"), &mut all);
                }
                "bound_ctrl" => {
                    let on = !value || self.number_in(c, 0, 1)? == 1;
                    all.form = Some("_dpp");
                    if on {
                        // LLVM's 0 sets the bit.
                        add("bound_ctrl:0".into(), &mut all);
                    }
                }
                "format" if row.enc == Enc::Mtbuf => {
                    let n = self.buffer_format(c)?;
                    add(format!("format:{n}"), &mut all);
                }
                "inst_offset" => {
                    let n = self.number(c)?;
                    add(format!("offset:{n}"), &mut all);
                }
                "op_sel" | "op_sel_hi" | "neg_lo" | "neg_hi" => {
                    let count = row
                        .operands
                        .len()
                        .saturating_sub(usize::from(!name.ends_with("_hi") && name != "op_sel"));
                    let mask = self.mask(c)?;
                    let bits: Vec<String> =
                        (0..count.clamp(1, 4)).map(|i| (mask >> i & 1).to_string()).collect();
                    add(format!("{name}:[{}]", bits.join(",")), &mut all);
                }
                "offset" | "offset0" | "offset1" | "dmask" => {
                    if !value {
                        return wrong(c.at, "a colon and a number are wanted");
                    }
                    let n = self.number(c)?;
                    add(format!("{name}:{n}"), &mut all);
                }
                _ => {
                    let on = !value || self.number_in(c, 0, 1)? == 1;
                    if on {
                        add(name.clone(), &mut all);
                    }
                }
            }
        }
        if let Some(text) = omod.filter(|t| !t.is_empty()) {
            all.text += &format!(" {text}");
        }
        Ok(all)
    }

    /// `format:[data,number]`, either one alone, or `@number`.
    fn buffer_format(&mut self, c: &mut Cursor<'_>) -> Res<u32> {
        let level = self.target(c.at)?.level();
        if !c.eat("[") {
            c.eat("@");
            return self.number_in(c, 0, 127).map(|n| n as u32);
        }
        let (mut data, mut number) = (names::DEFAULT_FORMAT, 0);
        let mut first = true;
        while c.peek() != b']' {
            let at = c.at;
            if c.eat("@") {
                let n = self.number_in(c, 0, 15)? as u32;
                if first { data = n } else { number = n }
            } else {
                let rest = c.rest();
                let len = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let word = String::from_utf8_lossy(&rest[..len]).to_ascii_uppercase();
                c.skip(len);
                let word = word.strip_prefix("BUF_").unwrap_or(&word);
                let bare =
                    word.strip_prefix("DATA_FORMAT_").or(word.strip_prefix("NUM_FORMAT_")).unwrap_or(word);
                let is_data = names::DATA_FORMATS.iter().position(|f| *f == bare);
                let is_number = names::num_formats(level).iter().position(|f| *f == bare);
                match (is_data, is_number) {
                    (Some(n), _) => data = n as u32,
                    (_, Some(n)) => number = n as u32,
                    _ => return wrong(at, format!("there is no buffer format {bare}")),
                }
            }
            first = false;
            if !c.eat(",") && c.peek() != b']' {
                return wrong(c.at, "a comma or a closing bracket is wanted");
            }
        }
        c.skip(1);
        Ok(data | number << 4)
    }

    /// Assembles an instruction; the cursor is behind the mnemonic.
    pub(super) fn instruction(&mut self, name: &str, mut c: Cursor<'_>, at: usize) -> Res {
        let section = match self.current {
            Some(s) if matches!(self.sections[s].what, What::Code(_)) => s,
            _ => return wrong(at, "instructions must be in a kernel"),
        };
        let target = self.target(at)?;
        let level = target.level();
        if spell::UNKNOWN.contains(&name) {
            return wrong(at, format!("{name}: no manual and no other assembler has this instruction"));
        }
        let mut mnemonic = spell::to_llvm(name, level);
        let Some(row) = row(&mnemonic, level) else {
            let all = wavemill_isa::ROWS.iter().filter(|r| r.opcode_at(level).is_some()).map(|r| r.name);
            let hint = crate::suggest::closest(&mnemonic, all).map(|n| format!("; did you mean {n}?"));
            return wrong(
                at,
                format!("{} has no instruction {name}{}", target.cpu.name, hint.unwrap_or_default()),
            );
        };
        let mut operands: Vec<Operand> = Vec::new();
        let most = row.operands.len() + 2;
        while !c.at_end() && operands.len() < most && !row.operands.is_empty() {
            if operands.is_empty() && row.operands.iter().all(|o| o.role == Role::Endpgm) {
                break;
            }
            operands.push(self.operand(&mut c)?);
            if !c.eat(",") {
                break;
            }
        }
        let modifiers = self.modifiers(&mut c, row)?;
        let mut patches: Vec<(u32, u32, u32)> = Vec::new();
        self.adapt(row, &mut operands, &modifiers, &mut patches);
        for (i, operand) in operands
            .iter_mut()
            .skip(usize::from(row.operands.first().is_some_and(|o| o.access != wavemill_isa::Access::Read)))
            .enumerate()
        {
            operand.abs |= modifiers.masks[0] >> i & 1 != 0;
            operand.neg |= modifiers.masks[1] >> i & 1 != 0;
            operand.sext |= modifiers.masks[2] >> i & 1 != 0;
        }
        // What is known later: a branch's target, a constant of 16 bits, or a literal.
        let branch = branches(row);
        let mut fixup = None;
        for (i, operand) in operands.iter_mut().enumerate() {
            let small = matches!(row.enc, Enc::Sopk | Enc::Sopp) && operand.later.is_some();
            if branch == Some(i) {
                let target = match operand.later.take() {
                    Some(later) => later,
                    // A number is a byte of the section.
                    None => Expr::Known(Value::Place(section, operand.text.parse().unwrap_or(0))),
                };
                operand.text = "0".into();
                fixup = Some((Patch::Branch, 0, target, operand.at));
            } else if small {
                operand.text = "0".into();
                fixup = operand.later.take().map(|e| (Patch::Simm16, 0, e, operand.at));
            } else if let Some(later) = operand.later.take() {
                if fixup.is_some() {
                    return wrong(operand.at, "an instruction has room for one literal");
                }
                fixup = Some((Patch::Bytes(4), 4, later, operand.at));
            }
        }
        if let Some(form) = modifiers.form
            && spell::has_forms(row.enc)
        {
            mnemonic += form;
        }
        let list: Vec<String> = operands.iter().map(Operand::llvm).collect();
        let mut text = format!("{mnemonic} {}", list.join(", "));
        text += &modifiers.text;
        if modifiers.form == Some("_sdwa") {
            text += &sdwa_defaults(row, &modifiers);
        }
        let options = crate::Options::new(target);
        let encoded = crate::inst::alone(&options, &text);
        let encoded = encoded.map_err(|d| {
            // The message is about LLVM's text; its place is the operand it falls into.
            let column = d.span.map_or(0, |s| s.start as usize);
            let mut end = mnemonic.len() + 1;
            let hit = operands.iter().zip(&list).find(|(_, text)| {
                end += text.len() + 2;
                column < end
            });
            let place = if column <= mnemonic.len() { at } else { hit.map_or(at, |(o, _)| o.at) };
            ExprError { at: place, message: d.message.to_string() }
        })?;
        let (mut bits, len) = (encoded.inst.bits, usize::from(encoded.inst.len));
        for (shift, width, value) in patches {
            let mask = ((1u64 << width) - 1) << shift;
            bits = bits & !mask | u64::from(value) << shift & mask;
        }
        let offset = self.sections[section].bytes.len();
        if let Some((kind, byte, expr, at)) = fixup {
            let has_literal = len == 8 && (bits >> 32) as u32 == PLACEHOLDER;
            if kind == Patch::Bytes(4) && !has_literal {
                return wrong(at, "the value must be known here: the instruction has no room for a literal");
            }
            let span = self.span(at);
            self.fixups.push(Fixup { section, offset: offset + byte, kind, expr, span });
        }
        self.put(&bits.to_le_bytes()[..len], at)
    }

    /// Makes operands those that LLVM wants; `patches` are bits that CLRX sets on top (from, how many, value).
    fn adapt(
        &self,
        row: &Row,
        operands: &mut Vec<Operand>,
        modifiers: &Modifiers,
        patches: &mut Vec<(u32, u32, u32)>,
    ) {
        match row.enc {
            Enc::Mubuf | Enc::Mtbuf if row.operand(Role::Vaddr).is_some() => {
                let addressed = ["offen", "idxen", "addr64"].iter().any(|m| modifiers.has(m));
                let at = row.operands.iter().position(|o| o.role == Role::Vaddr).unwrap_or(1);
                // With LDS there is no data register.
                let at =
                    at - usize::from(modifiers.has("lds") && at > 0 && operands.len() < row.operands.len());
                if addressed {
                    return;
                }
                match operands.get_mut(at) {
                    Some(given) if given.vgpr.is_some() && given.text.starts_with('v') => {
                        patches.push((32, 8, given.vgpr.unwrap_or(0)));
                        given.text = "off".into();
                    }
                    Some(given) if given.text == "off" => {}
                    _ => operands.insert(at.min(operands.len()), Operand::new("off".into(), 0)),
                }
            }
            Enc::Flat | Enc::Global | Enc::Scratch if row.has(flag::NORET) => {
                // Without GLC the destination is written to nothing, and may be left out.
                let wanted = row.operands.len();
                let first_is_result = operands.len() == wanted + 1;
                if first_is_result && !modifiers.has("glc") {
                    let result = operands.remove(0);
                    patches.push((56, 8, result.vgpr.unwrap_or(0)));
                }
            }
            Enc::Vopc if row.name.ends_with("_class_f64") => {
                // The mask is written as a pair, of which the first register counts.
                if let Some(last) = operands.last_mut()
                    && let Some((file, rest)) = last.text.split_once('[')
                    && let Some((first, _)) = rest.split_once(':')
                {
                    last.text = format!("{file}{first}");
                }
            }
            _ => {}
        }
    }
}

/// What SDWA modifiers mean that were not given.
fn sdwa_defaults(row: &Row, modifiers: &Modifiers) -> String {
    let mut text = String::new();
    let compare = row.enc == Enc::Vopc;
    for (name, default) in
        [("dst_sel", "DWORD"), ("dst_unused", "UNUSED_PAD"), ("src0_sel", "DWORD"), ("src1_sel", "DWORD")]
    {
        let has = match name {
            "src1_sel" => compare || row.enc == Enc::Vop2,
            "src0_sel" => true,
            _ => !compare,
        };
        if has && !modifiers.has(name) {
            text += &format!(" {name}:{default}");
        }
    }
    text
}

/// A floating-point constant for LLVM: as it is where an encoding may have it as such, else as the bits that the suffix
/// asks for.
fn float_text(text: &str, suffix: Option<u8>, at: usize) -> Res<String> {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |t| (-1.0, t));
    let value = match digits.to_ascii_lowercase().strip_prefix("0x") {
        Some(hex) => hex_float(hex),
        None => digits.parse::<f64>().ok(),
    };
    let Some(value) = value.map(|v| v * sign) else { return wrong(at, "this is no floating-point number") };
    let inline = [0.0, 0.5, 1.0, 2.0, 4.0].contains(&value.abs());
    Ok(match suffix {
        Some(b'h') if !inline => format!("{:#x}", half_bits(value)),
        Some(b's') if !inline => format!("{:#x}", (value as f32).to_bits()),
        _ => format!("{value:?}"),
    })
}

/// `1.8p3` of a hexadecimal float.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let value = u64::from_str_radix(&digits, 16).ok()? as f64;
    let exponent = exponent.parse::<i32>().ok()?.clamp(-2000, 2000) - 4 * fraction.len() as i32;
    Some(value * 2f64.powi(exponent))
}

/// The nearest f16, ties to even.
pub(super) fn half_bits(value: f64) -> u16 {
    let single = value as f32;
    let bits = single.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = f64::from(single).abs();
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Multiples of the smallest denormal, or of the last place of the number's own exponent.
    let exponent = if magnitude < 2f64.powi(-14) { -14 } else { magnitude.log2().floor() as i32 };
    let ulp = 2f64.powi(exponent - 10);
    let steps = (value.abs() / ulp).round_ties_even() as u32;
    let biased = if exponent == -14 && steps < 1024 { 0 } else { (exponent + 15) as u32 };
    sign | (if biased == 0 { steps } else { (biased << 10) + steps - 1024 }) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_to_even() {
        for (value, bits) in [
            (1.5, 0x3e00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (5.960_464_477_539_063e-8, 0x0001),
            (6.103_515_625e-5, 0x0400),
            (0.1, 0x2e66),
        ] {
            assert_eq!(half_bits(value), bits, "{value}");
        }
        assert_eq!(hex_float("1.8p3"), Some(12.0));
    }
}
