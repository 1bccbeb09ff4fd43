//! `.amdhsa_kernel … .end_amdhsa_kernel`: a kernel descriptor, field by field as `wavemill_object::descriptor` lists
//! them.

use super::{bits, emit, version};
use crate::expr::{AmdFn, BinOp, Expr, Variant};
use crate::lex::Tok;
use crate::parser::Parser;
use crate::source::{Diag, Span};
use crate::symbol::{SymType, Visibility};
use wavemill_isa::Level;
use wavemill_object::descriptor::{self, Field, Has, Meaning, Word};
use wavemill_object::limits::{Limits, MAX_USER_SGPRS, SGPRS_FOR_INIT_BUG};

/// What a block has said so far.
struct Block {
    /// The descriptor's words, in the order of [`Word::ALL`].
    words: [bits::Word; Word::ALL.len()],
    seen: Vec<&'static str>,
    next_free_vgpr: Option<(Expr, Span)>,
    next_free_sgpr: Option<(Expr, Span)>,
    accum_offset: Option<Expr>,
    reserve_vcc: Expr,
    reserve_flat_scratch: Expr,
    implied_user_sgprs: u64,
    user_sgprs: Option<u64>,
    preload_length: u64,
    preload_offset: u64,
}

/// Reads a block; the cursor is after `.amdhsa_kernel`, which stands at `at`.
pub(super) fn block(p: &mut Parser<'_>, at: Span) -> Result<(), Diag> {
    let Some(name) = p.identifier() else {
        p.amd.abandoned = Some("without a name".into());
        return Err(Diag::error(at, "expected the kernel's name after .amdhsa_kernel"));
    };
    // The descriptor's symbol comes before those that its fields name.
    p.symbols.get_or_insert(name);
    p.symbols.get_or_insert(&format!("{name}.kd"));
    let result = read(p).and_then(|mut block| {
        finish(p, &mut block)?;
        if p.out.is_text() {
            print(p, name, &block);
            Ok(())
        } else {
            write(p, name, &block, at)
        }
    });
    // LLVM gives up the block at its first error and takes what follows for statements.
    p.amd.abandoned = result.is_err().then(|| name.into());
    result
}

fn new_block(p: &Parser<'_>) -> Block {
    let mut words = std::array::from_fn(|_| bits::Word::zero());
    for f in descriptor::FIELDS.iter().filter(|f| f.width > 0 && f.default != 0) {
        set(&mut words, f, Expr::Const(f.default.into()), Some(f.default.into()));
    }
    if p.target.tgsplit
        && let Some(field) = descriptor::by_directive(".amdhsa_tg_split")
    {
        set(&mut words, field, Expr::Const(1), Some(1));
    }
    Block {
        words,
        seen: Vec::new(),
        next_free_vgpr: None,
        next_free_sgpr: None,
        accum_offset: None,
        reserve_vcc: Expr::Const(1),
        reserve_flat_scratch: Expr::Const(1),
        implied_user_sgprs: 0,
        user_sgprs: None,
        preload_length: 0,
        preload_offset: 0,
    }
}

/// Sets a field; `number` is the value's number, if it has one by now.
fn set(words: &mut [bits::Word; Word::ALL.len()], field: &Field, value: Expr, number: Option<u64>) {
    let word = &mut words[field.word as usize];
    if is_whole(field) {
        word.replace(value, number);
    } else {
        word.set(value, number, field.shift, field.mask());
    }
}

/// Has the field a word of its own?
fn is_whole(field: &Field) -> bool {
    usize::from(field.width) == 8 * field.word.size()
}

/// Reads directives up to `.end_amdhsa_kernel`.
fn read(p: &mut Parser<'_>) -> Result<Block, Diag> {
    let mut block = new_block(p);
    loop {
        while p.lex.eat(Tok::Eol) {}
        if p.lex.kind() != Tok::Ident {
            return Err(p.token_error("expected .amdhsa_ directive or .end_amdhsa_kernel"));
        }
        let token = p.lex.bump();
        let at = p.lex.span(token);
        let name = p.lex.text(token);
        if name == ".end_amdhsa_kernel" {
            return Ok(block);
        }
        let Some(field) = descriptor::by_directive(name) else { return Err(unknown(name, at)) };
        if block.seen.contains(&field.directive) {
            return Err(Diag::error(at, format!(".amdhsa_ directives cannot be repeated: {name}")));
        }
        block.seen.push(field.directive);
        let value_at = p.lex.here();
        let value = p.expr()?;
        let number = p.eval(&value);
        if number.is_some_and(|n| n < 0) {
            return Err(Diag::error(value_at, "value out of range"));
        }
        take(p, &mut block, field, value, number.map(|n| n as u64), at, value_at)?;
    }
}

#[cold]
fn unknown(name: &str, at: Span) -> Diag {
    let known = descriptor::FIELDS.iter().map(|f| f.directive).filter(|d| !d.is_empty());
    let near = crate::suggest::closest(name, known);
    let hint = near.map_or(String::new(), |d| format!(", did you mean {d}?"));
    Diag::error(at, format!("unknown .amdhsa_kernel directive{hint}"))
}

/// Takes one directive's value.
fn take(
    p: &Parser<'_>,
    block: &mut Block,
    field: &'static Field,
    value: Expr,
    number: Option<u64>,
    at: Span,
    value_at: Span,
) -> Result<(), Diag> {
    let out_of_range = || Err(Diag::error(value_at, "value out of range"));
    if number.is_none() && !field.symbolic {
        return Err(Diag::error(at, "directive should have resolvable expression"));
    }
    if !field.has.on(p.target.level()) {
        let message = match field.has {
            Has::Elsewhere(who) if !who.starts_with("gfx") => {
                "directive is not supported without architected flat scratch".into()
            }
            has => format!("directive requires {}", has.who()),
        };
        return Err(Diag::error(at, message));
    }
    let known = number.unwrap_or(0);
    let width = match field.meaning {
        Meaning::ReserveVcc | Meaning::ReserveFlatScratch | Meaning::ReserveXnackMask => 1,
        Meaning::Bits | Meaning::UserSgprs(_) | Meaning::PreloadLength | Meaning::PreloadOffset => {
            field.width
        }
        _ => 64,
    };
    if width < 64 && known >> width != 0 {
        return out_of_range();
    }
    match field.meaning {
        Meaning::Bits => set(&mut block.words, field, value, number),
        Meaning::UserSgprs(count) => {
            set(&mut block.words, field, value, number);
            block.implied_user_sgprs += if known != 0 { u64::from(count) } else { 0 };
        }
        Meaning::PreloadLength => {
            if known > u64::from(MAX_USER_SGPRS) {
                return out_of_range();
            }
            set(&mut block.words, field, value, number);
            block.implied_user_sgprs += known;
            block.preload_length = known;
        }
        Meaning::PreloadOffset => {
            set(&mut block.words, field, value, number);
            block.preload_offset = known;
        }
        Meaning::UserSgprCount => block.user_sgprs = Some(known),
        Meaning::NextFreeVgpr => block.next_free_vgpr = Some((value, value_at)),
        Meaning::NextFreeSgpr => block.next_free_sgpr = Some((value, value_at)),
        Meaning::AccumOffset => block.accum_offset = Some(value),
        Meaning::ReserveVcc => block.reserve_vcc = value,
        Meaning::ReserveFlatScratch => block.reserve_flat_scratch = value,
        Meaning::ReserveXnackMask => {
            if (known != 0) != xnack(p) {
                return Err(Diag::error(at, ".amdhsa_reserve_xnack_mask does not match target id"));
            }
        }
        Meaning::None => {}
    }
    Ok(())
}

/// Whether the code must leave room for XNACK_MASK.
fn xnack(p: &Parser<'_>) -> bool {
    super::target_id(p).xnack.is_on_or_any()
}

/// Granules less one for a number of registers: `alignto(max(n, 1), granule) / granule - 1`.
fn blocks(registers: Expr, granule: u32) -> Expr {
    let granule = Expr::Const(granule.into());
    let some = Expr::amd(AmdFn::Max, vec![registers, Expr::Const(1)]);
    let rounded = Expr::amd(AmdFn::AlignTo, vec![some, granule.clone()]);
    Expr::binary(BinOp::Sub, Expr::binary(BinOp::Div, rounded, granule), Expr::Const(1))
}

/// The number of SGPRs to allocate, reserved ones included.
fn all_sgprs(p: &Parser<'_>, block: &Block, next_free: &Expr, at: Span) -> Result<Expr, Diag> {
    let limits = Limits::of(p.target.cpu);
    let init_bug = p.target.cpu.sgpr_init_bug;
    let old = p.target.level().generation() <= 7;
    let too_many =
        |count: &Expr| p.eval(count).is_some_and(|n| n as u64 > u64::from(limits.addressable_sgprs));
    // Later generations address VCC and its like beyond the ones that can be named.
    if !old && !init_bug && too_many(next_free) {
        return Err(Diag::error(at, "value out of range"));
    }
    let reserved =
        vec![block.reserve_vcc.clone(), block.reserve_flat_scratch.clone(), Expr::Const(i64::from(xnack(p)))];
    let extra = Expr::amd(AmdFn::ExtraSgprs, reserved);
    let all = Expr::binary(BinOp::Add, next_free.clone(), extra);
    if (old || init_bug) && too_many(&all) {
        return Err(Diag::error(at, "value out of range"));
    }
    Ok(if init_bug { Expr::Const(SGPRS_FOR_INIT_BUG.into()) } else { all })
}

/// Checks what belongs together and fills the fields that are computed.
fn finish(p: &Parser<'_>, block: &mut Block) -> Result<(), Diag> {
    let required = |what: &str| p.token_error(format!("{what} directive is required"));
    let (vgprs, vgprs_at) = block.next_free_vgpr.clone().ok_or_else(|| required(".amdhsa_next_free_vgpr"))?;
    let (sgprs, sgprs_at) = block.next_free_sgpr.clone().ok_or_else(|| required(".amdhsa_next_free_sgpr"))?;
    let limits = Limits::of(p.target.cpu);
    let all_sgprs = all_sgprs(p, block, &sgprs, sgprs_at)?;
    let counts = [
        (".amdhsa_next_free_vgpr", blocks(vgprs.clone(), limits.vgpr_encoding_granule), vgprs_at),
        (".amdhsa_next_free_sgpr", blocks(all_sgprs, limits.sgpr_encoding_granule), sgprs_at),
    ];
    for (directive, count, at) in counts {
        let Some(field) = descriptor::by_directive(directive) else { continue };
        let number = p.eval(&count).map(|n| n as u64);
        if number.is_some_and(|n| n >> field.width != 0) {
            return Err(Diag::error(at, "value out of range"));
        }
        set(&mut block.words, field, count, number);
    }

    let implied = block.implied_user_sgprs;
    let user_sgprs = block.user_sgprs.unwrap_or(implied);
    if implied > user_sgprs {
        return Err(p.token_error(format!(
            "amdgpu_user_sgpr_count smaller than than implied by enabled user SGPRs, which are {implied}"
        )));
    }
    if let Some(field) = descriptor::by_directive(".amdhsa_user_sgpr_count") {
        if user_sgprs >> field.width != 0 {
            return Err(p.token_error("too many user SGPRs enabled"));
        }
        set(&mut block.words, field, Expr::Const(user_sgprs as i64), Some(user_sgprs));
    }

    let Some(kernarg_size) = p.eval(&block.words[Word::KernargSize as usize].value()) else {
        return Err(p.token_error("Kernarg size should be resolvable"));
    };
    let preloaded = (block.preload_length + block.preload_offset) * 4;
    if block.preload_length != 0 && kernarg_size != 0 && preloaded > kernarg_size as u64 {
        return Err(p.token_error("Kernarg preload length + offset is larger than the kernarg segment size"));
    }
    if p.target.level() == Level::Gfx90a {
        accum_offset(p, block, &vgprs)?;
    }
    Ok(())
}

fn accum_offset(p: &Parser<'_>, block: &mut Block, vgprs: &Expr) -> Result<(), Diag> {
    let Some(offset) = block.accum_offset.clone() else {
        return Err(p.token_error(".amdhsa_accum_offset directive is required"));
    };
    let number = p.eval(&offset);
    if let Some(offset) = number {
        if !(4..=256).contains(&offset) || offset % 4 != 0 {
            return Err(p.token_error("accum_offset should be in range [4..256] in increments of 4"));
        }
        if p.eval(vgprs).is_some_and(|n| offset as u64 > (n.max(1) as u64).next_multiple_of(4)) {
            return Err(p.token_error("accum_offset exceeds total VGPR allocation"));
        }
    }
    if let Some(field) = descriptor::by_directive(".amdhsa_accum_offset") {
        let fours = Expr::binary(BinOp::Div, offset, Expr::Const(4));
        let stored = number.map(|n| n as u64 / 4 - 1);
        set(&mut block.words, field, Expr::binary(BinOp::Sub, fours, Expr::Const(1)), stored);
    }
    Ok(())
}

/// Writes the block to a listing: every field, said or not.
fn print(p: &mut Parser<'_>, name: &str, block: &Block) {
    p.out.line(format_args!("\t.amdhsa_kernel {name}"));
    let zero = Expr::Const(0);
    for field in descriptor::listing(p.target.level()) {
        let word = &block.words[field.word as usize];
        let value = match field.meaning {
            Meaning::NextFreeVgpr => block.next_free_vgpr.as_ref().map_or(&zero, |v| &v.0).clone(),
            Meaning::NextFreeSgpr => block.next_free_sgpr.as_ref().map_or(&zero, |v| &v.0).clone(),
            Meaning::ReserveVcc => block.reserve_vcc.clone(),
            Meaning::ReserveFlatScratch => block.reserve_flat_scratch.clone(),
            Meaning::ReserveXnackMask => {
                if p.target.cpu.xnack.is_none() || !matches!(version(p), 3..=5) {
                    continue;
                }
                Expr::Const(i64::from(xnack(p)))
            }
            Meaning::AccumOffset => {
                let fours = Expr::binary(BinOp::Add, word.get(field.shift, field.mask()), Expr::Const(1));
                Expr::binary(BinOp::Mul, fours, Expr::Const(4))
            }
            Meaning::Bits if field.name == "uses_dynamic_stack" && version(p) < 5 => continue,
            _ if is_whole(field) => word.value(),
            _ => word.get(field.shift, field.mask()),
        };
        p.out.raw(b"\t\t");
        p.out.raw(field.directive.as_bytes());
        p.out.raw(b" ");
        bits::print(p, &value, true);
        p.out.eol();
    }
    p.out.line(format_args!("\t.end_amdhsa_kernel"));
}

/// Writes the descriptor to the current section, under the symbol `name.kd`.
fn write(p: &mut Parser<'_>, name: &str, block: &Block, at: Span) -> Result<(), Diag> {
    let code = p.symbols.get_or_insert(name);
    let descriptor = p.symbols.get_or_insert(&format!("{name}.kd"));
    let (binding, other, visibility) = {
        let code = &mut p.symbols[code];
        let said = (code.binding, code.other, code.visibility);
        // A symbol that another object may replace cannot be reached at a fixed distance.
        if code.visibility == Visibility::Default {
            code.visibility = Visibility::Protected;
        }
        code.referenced = true;
        said
    };
    let symbol = &mut p.symbols[descriptor];
    symbol.binding = binding;
    symbol.other = other;
    symbol.visibility = visibility;
    symbol.ty = SymType::Object;
    symbol.size = Some(Expr::Const(descriptor::SIZE as i64));
    p.emit_label(descriptor, at)?;
    let mut end = 0;
    for word in Word::ALL {
        emit::zeros(p, word.offset() - end);
        end = word.offset() + word.size();
        let value = match word {
            Word::EntryOffset => {
                Expr::binary(BinOp::Sub, Expr::Sym(code, Variant::REL64), Expr::sym(descriptor))
            }
            _ => block.words[word as usize].value(),
        };
        emit::value(p, &value, word.size() as u8, at)?;
    }
    emit::zeros(p, descriptor::SIZE - end);
    Ok(())
}
