//! Copies of an instruction for a loop, and the registers that they work on.
//!
//! Operands are made from the row: registers with numbers of the type it asks for, addresses of consecutive elements. No two
//! copies of a vector instruction have the same first operand or result, and no two loads the same result, so that a compiler
//! leaves none out. What a copy needs to be run again and again (all lanes after V_CMPX, say) stands beside it, and is there when
//! the loop without copies is measured, too.

use super::COPIES;
use wavemill_device::image::format::{Channels, ORDERS, TYPES};
use wavemill_device::image::sampler::{self, Addressing, Sampler};
use wavemill_device::image::{self, Description, Geometry, Image};
use wavemill_isa::row::{Class, Enc, Kind, Operand, Role, Row, Ty, flag};
use wavemill_isa::{Level, Target, regs};
use wavemill_sem::soft::{F16, F32, Round, convert};
use wavemill_wave::Wave;

/// Copies of an instruction.
pub(super) struct Sample {
    copies: Vec<String>,
    /// What stands before and behind each copy.
    beside: [&'static str; 2],
}

impl Sample {
    /// That of a row, or why there is none.
    pub(super) fn new(row: &Row, target: Target) -> Result<Sample, &'static str> {
        let copies = (0..COPIES).map(|copy| example(row, target, copy as u32)).collect::<Result<_, _>>()?;
        let is = |words: &[&str]| words.iter().any(|w| row.name.starts_with(w));
        let beside = if is(&["v_cmpx"]) {
            ["", "s_mov_b64 exec, -1"]
        } else if is(&["s_set_gpr_idx_on"]) {
            ["", "s_set_gpr_idx_off"]
        } else if is(&["s_movrel", "v_movrel"]) {
            ["s_mov_b32 m0, 0", ""]
        } else if is(&["s_setpc", "s_swappc"]) {
            // The instruction behind it: three of four bytes on from the one after the first.
            ["s_getpc_b64 s[20:21]\n s_add_u32 s20, s20, 12\n s_addc_u32 s21, s21, 0", ""]
        } else {
            ["", ""]
        };
        Ok(Sample { copies, beside })
    }

    /// That of an instruction with DPP or SDWA: what follows the first operand, v21 where it is a second one.
    /// On GFX8 sums write their carry.
    pub(super) fn with(name: &str, row: &Row, rest: &str) -> Option<Sample> {
        let first = match row.operand(Role::Src0)?.ty {
            Ty { kind: Kind::F, bits: 16, .. } => FIRST[2],
            Ty { kind: Kind::F, .. } => FIRST[0],
            _ => FIRST[3],
        };
        let carry = if row.operand(Role::Vcc).is_some() { "vcc, " } else { "" };
        let copy = |n: u32| format!("{name} v{}, {carry}v{}{rest}", 40 + 2 * n, first + n);
        Some(Sample { copies: (0..COPIES as u32).map(copy).collect(), beside: ["", ""] })
    }

    /// The first copy, without the label that it may have.
    pub(super) fn text(&self) -> &str {
        self.copies.first().and_then(|text| text.lines().next()).unwrap_or_default()
    }

    /// Whether copies need something beside them.
    pub(super) fn is_alone(&self) -> bool {
        self.beside == ["", ""]
    }

    /// The lines of a loop with the copies.
    pub(super) fn body(&self) -> String {
        self.lines(|text| text)
    }

    /// The same without them.
    pub(super) fn rest(&self) -> String {
        self.lines(|_| "")
    }

    fn lines(&self, copy: impl Fn(&str) -> &str) -> String {
        let [ahead, behind] = self.beside;
        self.copies.iter().map(|text| format!("\n {ahead}\n {}\n {behind}", copy(text))).collect()
    }
}

/// Bytes from a lane to the next, for which there are registers with offsets and with addresses.
const STRIDES: [u32; 6] = [1, 2, 4, 8, 12, 16];
/// The first register with offsets, in the order of [`STRIDES`].
const OFFSETS: u32 = 80;
/// The register with V_PERM_B32's selectors.
const SELECTORS: u32 = 119;
/// The first pair of registers with addresses.
const ADDRESSES: u32 = 86;
/// The first of the registers with coordinates of an image's texels, and zeros behind: integers, and numbers from 0 to 1.
const COORDINATES: [u32; 2] = [100, 104];
/// A register with zeros.
const ZERO: u32 = 98;
/// Bytes of private memory that each lane has: the buffer is all lanes'.
const PRIVATE: u32 = 128;

/// The first of the registers with first operands, one or a pair for each copy: f32 (two each for those that take two), f64, two
/// f16, integers of 32 and of 64 bits.
const FIRST: [u32; 5] = [128, 160, 192, 208, 224];

/// Descriptors of a buffer with elements of one to four components of 32 bits: the first register, and DATA_FORMAT.
const FORMATS: [(u32, u32); 4] = [(8, 4), (12, 11), (16, 13), (28, 14)];

/// The same image of 16 columns and 4 rows with four components of f32, and with an integer: the first registers of their
/// descriptors, types and orders of their channels.
const IMAGES: [(u32, &str, &str); 2] = [(60, "float", "rgba"), (68, "uint32", "r")];
/// The first register of a sampler, for which coordinates are 0 to 1.
const SAMPLER: u32 = 76;

/// MODE as waves have it, as far as rounding and denormals go, and the register that has it.
const MODE: &str = "hwreg(HW_REG_MODE, 0, 8)";
const MODE_NOW: (u32, u32) = (36, 0xf0);

/// Components of an instruction that converts.
fn components(row: &Row) -> Option<u32> {
    row.name.contains("_format_").then(|| row.name.rsplit('_').next().map_or(1, str::len) as u32)
}

/// Registers with numbers of all types: f32 in v2 to v7, f64 in v8 to v13, two f16 each in v14 to v19, integers in v20 to
/// v35, offsets and addresses from [`OFFSETS`] on, and more of the kinds from [`FIRST`] on; a buffer's address in s[2:3],
/// its descriptors in those of [`FORMATS`] and [`IMAGES`], integers in s20 to s27.
pub(super) fn registers(wave: &mut Wave, buffer: u64) {
    for r in 0..256u32 {
        for (lane, v) in wave.vgpr_mut(r as u16).into_iter().flatten().enumerate() {
            let which = if r < FIRST[0] { r % 8 } else { r / 2 % 64 };
            let single = 1.0 + lane as f32 * 0.001 * which as f32;
            let double = (1.0 + lane as f64 * 0.001 * which as f64).to_bits();
            let half = convert(F32, F16, single.to_bits() as u64, Round::Nearest) as u32;
            let lane = lane as u32;
            let address = |n: u32| buffer + (lane * STRIDES[n as usize / 2 % 6]) as u64;
            *v = match r {
                2..8 | 128..160 => single.to_bits(),
                8..14 | 160..192 if r % 2 == 0 => double as u32,
                8..14 | 160..192 => (double >> 32) as u32,
                14..20 | 192..208 => half | half << 16,
                80..=85 => lane * STRIDES[(r - OFFSETS) as usize],
                86..=97 if r % 2 == 0 => address(r - ADDRESSES) as u32,
                86..=97 => (address(r - ADDRESSES) >> 32) as u32,
                100 => lane % 16,
                101 => lane / 16,
                104 | 105 => (lane as f32 / 64.0).to_bits(),
                98 | 102 | 103 | 106..119 => 0,
                // Bytes as compilers choose them.
                SELECTORS => [0x0c07_0501, 0x0302_0100, 0x0504_0706, 0x0c0c_0602][lane as usize % 4],
                _ => lane * 77 + r,
            };
        }
    }
    wave.set_sgpr64(2, buffer);
    for (first, format) in FORMATS {
        wave.set_sgpr64(first, buffer & 0xffff_ffff_ffff);
        wave.set_sgpr(first + 2, 8192);
        // NUM_FORMAT 4: integers. The components in order.
        wave.set_sgpr(first + 3, format << 15 | 4 << 12 | 0xfac);
    }
    for r in 20..28 {
        wave.set_sgpr(r, 0x1234_5678u32.rotate_left(r));
    }
    // Images begin at multiples of 256 bytes.
    let texels = buffer.next_multiple_of(256);
    for (first, ty, order) in IMAGES {
        let number = |all: &[&str], name| all.iter().position(|n| *n == name).unwrap_or(0) as u32;
        let channels = Channels { ty: number(&TYPES, ty), order: number(&ORDERS, order) };
        let description = Description { geometry: Geometry::D2, channels, size: [16, 4, 1], slices: 1 };
        // MI200's instructions read the descriptors of others.
        let level = if image::has_images(wave.level()) { wave.level() } else { Level::Gfx908 };
        let words = Image::new(&description, 256, 0, level).and_then(|image| image.words(texels));
        (first..).zip(words.unwrap_or_default()).take(8).for_each(|(r, word)| wave.set_sgpr(r, word));
    }
    let nearest = Sampler { normalized: true, linear: false, addressing: Addressing::Repeat };
    (SAMPLER..).zip(sampler::words(&nearest, wave.level())).for_each(|(r, word)| wave.set_sgpr(r, word));
    let (register, now) = MODE_NOW;
    wave.set_sgpr(register, now);
    // Up to GFX8 it bounds what of LDS is there.
    wave.set_sgpr(regs::M0, if wave.level().is_gfx9() { 0 } else { !0 });
    wave.scratch_bytes = PRIVATE;
    wave.set_flat_scratch(buffer);
    wave.set_exec(!0);
}

/// Which of [`STRIDES`] makes a memory instruction's lanes consecutive.
fn stride(row: &Row) -> u32 {
    let is = |words: &[&str]| words.iter().any(|w| row.name.contains(w));
    if is(&["byte", "_b8", "_u8", "_i8"]) {
        return 0;
    }
    if is(&["short", "_b16", "_u16", "_i16"]) {
        return 1;
    }
    if is(&["_src2_"]) && is(&["64"]) {
        return 3;
    }
    if let Some(components) = components(row) {
        return 1 + components;
    }
    let data = [Role::Vdata, Role::Vdst, Role::Data0].into_iter().find_map(|r| row.operand(r));
    let dwords = data.map_or(1, |o| o.ty.dwords() as u32);
    // Two addresses, or two values, for each lane.
    let halved = row.has(flag::OFFSET2) && row.operand(Role::Vdst).is_some() || row.name.contains("cmpswap");
    1 + if halved { dwords.div_ceil(2) } else { dwords }
}

/// One of the copies of a row's instruction on the registers of [`Loop`], or why there is none.
fn example(row: &Row, target: Target, copy: u32) -> Result<String, &'static str> {
    let is = |words: &[&str]| words.iter().any(|w| row.name.contains(w));
    if is(&["s_endpgm", "s_trap", "s_sendmsg", "s_rfe", "fork", "s_cbranch_join"]) {
        return Err("ends the wave, or wants a host or a handler");
    }
    match row.enc {
        Enc::Ds if row.has(flag::GDS_ONLY) || is(&["ds_gws", "ds_ordered"]) => return Err("GDS"),
        Enc::Mimg => return image_example(row, copy),
        _ => {}
    }
    let mut text = row.name.to_string();
    if row.enc == Enc::Vopc {
        // Only this form writes another mask than VCC.
        text.push_str("_e64");
    }
    let vector = matches!(row.enc, Enc::Vop1 | Enc::Vop2 | Enc::Vop3 | Enc::Vop3p | Enc::Vopc);
    let memory = [Enc::Ds, Enc::Flat, Enc::Global, Enc::Scratch, Enc::Mubuf, Enc::Mtbuf];
    let loads = memory.contains(&row.enc) && !row.has(flag::ATOMIC);
    let mut used =
        Used { number: copy, copy: vector.then_some(copy), loaded: loads.then_some(copy), ..Used::default() };
    for (i, op) in row.operands.iter().enumerate() {
        let operand = operand(row, op, target, &mut used)?;
        text.push_str(if i == 0 { " " } else { ", " });
        text.push_str(&operand);
    }
    match row.enc {
        Enc::Mubuf if row.has(flag::LDS_ONLY) => text.push_str(" lds"),
        Enc::Mubuf if row.operand(Role::Vaddr).is_some() => text.push_str(" offen"),
        Enc::Mtbuf => {
            let (_, format) = FORMATS[(components(row).unwrap_or(1) as usize - 1) & 3];
            text.push_str(&format!(" offen format:{}", format | 4 << 4));
        }
        // Where the old value is returned, that is what is measured.
        Enc::Global | Enc::Flat if row.has(flag::ATOMIC) && row.operand(Role::Vdst).is_some() => {
            text.push_str(" glc");
        }
        _ if row.has(flag::SWIZZLE) => text.push_str(" offset:0x801f"),
        _ => {}
    }
    if row.operand(Role::Label).is_some() {
        text.push_str(&format!("\n{}:", label(copy)));
    }
    Ok(text)
}

/// What is behind a copy that jumps.
fn label(copy: u32) -> String {
    format!("behind{copy}")
}

/// An image instruction on all texels of [`IMAGES`].
fn image_example(row: &Row, copy: u32) -> Result<String, &'static str> {
    let samples = row.operand(Role::Ssamp).is_some();
    let is = |word: &str| row.name.contains(word);
    let atomic = row.has(flag::ATOMIC);
    // Of the coordinates' registers, those behind them have zeros.
    let parts = row.name.split('_').skip(2);
    let more: u32 = parts.map(|p| if p == "d" || p == "cd" { 4 } else { 1 }).sum();
    let count = match samples {
        true => 2 + more,
        false if is("resinfo") => 1,
        false => 2 + u32::from(is("_mip")),
    };
    let fits = (count..=16).find(|n| row.addr >> (n - 1) & 1 != 0).ok_or("an address of more registers")?;
    let data = match (atomic, is("cmpswap")) {
        (true, false) => range('v', 40 + 2 * (copy % 4), 1),
        (true, true) => range('v', 40 + 2 * (copy % 4), 2),
        _ => range('v', FIRST[0] + 4 * copy, 4),
    };
    let mask = match atomic || is("gather4") {
        true if is("cmpswap") => 3,
        true => 1,
        false => 15,
    };
    let (first, ..) = IMAGES[usize::from(atomic)];
    let address = range('v', COORDINATES[usize::from(samples)], fits);
    let mut text = format!("{} {data}, {address}, {}", row.name, range('s', first, 8));
    match samples {
        true => text.push_str(&format!(", {} dmask:{mask:#x}", range('s', SAMPLER, 4))),
        false => text.push_str(&format!(" dmask:{mask:#x} unorm")),
    }
    if atomic {
        text.push_str(" glc");
    }
    Ok(text)
}

/// How many operands of each kind a text already has.
#[derive(Default)]
struct Used {
    /// The copy.
    number: u32,
    /// The copy whose first operand and result are its own.
    copy: Option<u32>,
    /// The copy of a load, which has registers of its own for what it loads.
    loaded: Option<u32>,
    f64: u32,
    float: u32,
    wide: u32,
    word: u32,
}

fn range(file: char, first: u32, dwords: u32) -> String {
    if dwords == 1 { format!("{file}{first}") } else { format!("{file}[{first}:{}]", first + dwords - 1) }
}

/// A register with a number of a type.
fn vector(ty: Ty, used: &mut Used) -> String {
    let dwords = ty.dwords() as u32;
    if let (Some(copy), 0) = (used.copy, used.f64 + used.float + used.wide + used.word) {
        let (kind, count) = match (ty.kind, ty.bits, dwords) {
            (Kind::F, 64, 2) => (1, &mut used.f64),
            (Kind::F | Kind::Bf, 16, 1) => (2, &mut used.float),
            (Kind::F, 32, 1 | 2) => (0, &mut used.float),
            (_, _, 1) => (3, &mut used.word),
            (_, _, 2) => (4, &mut used.wide),
            _ => return vector_of(ty, used),
        };
        *count += 1;
        return range('v', FIRST[kind] + dwords * copy, dwords);
    }
    vector_of(ty, used)
}

/// One of those that all copies share.
fn vector_of(ty: Ty, used: &mut Used) -> String {
    let take = |n: &mut u32, limit: u32| {
        *n += 1;
        (*n - 1).min(limit)
    };
    let dwords = ty.dwords() as u32;
    match (ty.kind, ty.bits, dwords) {
        (Kind::F, 64, 2) => range('v', 8 + 2 * take(&mut used.f64, 2), 2),
        (Kind::F | Kind::Bf, 16, n) => range('v', 14 + 2 * take(&mut used.float, 2), n),
        (Kind::F, 32, n @ (1 | 2)) => range('v', 2 + 2 * take(&mut used.float, 2), n),
        (_, _, 1) => range('v', 20 + take(&mut used.word, 3), 1),
        (_, _, n @ 2..=4) => range('v', 24 + 4 * take(&mut used.wide, 2), n),
        (_, _, n) => range('v', 48, n),
    }
}

fn operand(row: &Row, op: &Operand, target: Target, used: &mut Used) -> Result<String, &'static str> {
    let dwords = op.ty.dwords() as u32;
    let compact = target.packs_d16() && row.has(flag::D16) && matches!(row.enc, Enc::Mubuf | Enc::Mtbuf);
    let settled = ["s_set_gpr_idx", "s_setvskip"].iter().any(|n| row.name.starts_with(n));
    Ok(match op.role {
        // What changes nothing.
        Role::Ssrc0 | Role::Ssrc1 | Role::GprIdx if settled => "0".into(),
        Role::Hwreg => MODE.into(),
        Role::Sdst if row.name == "s_setreg_b32" => range('s', MODE_NOW.0, 1),
        Role::K if row.name == "s_setreg_imm32_b32" => format!("{:#x}", MODE_NOW.1),
        Role::Imm16 | Role::Waitcnt | Role::Simm7 => "0".into(),
        Role::Label => label(used.number),
        Role::Vdst if op.class == Class::Agpr => range('a', 0, dwords),
        Role::Vdst if row.enc == Enc::Mfma => {
            range(if target.level() == Level::Gfx90a { 'v' } else { 'a' }, 48, dwords)
        }
        // Four dwords each reach into the offsets, which only memory instructions need.
        Role::Vdst if dwords == 4 && row.enc.is_valu() => range('v', 40 + used.copy.unwrap_or(0) * 4, 4),
        Role::Vdst | Role::Vdata if used.loaded.is_some() => {
            let dwords = if compact { dwords.div_ceil(2) } else { dwords };
            range('v', FIRST[0] + 4 * used.loaded.unwrap_or(0), dwords)
        }
        Role::Vdst => range('v', 40 + used.copy.filter(|_| dwords <= 2).unwrap_or(0) * 2, dwords),
        Role::Vdata => range('v', 40, if compact { dwords.div_ceil(2) } else { dwords }),
        Role::Src2 if row.enc == Enc::Mfma => {
            range(if target.level() == Level::Gfx90a { 'v' } else { 'a' }, 48, dwords)
        }
        Role::Src0 | Role::Src1 | Role::Src2 if op.class == Class::Agpr => range('a', 0, dwords),
        // A lane's number; an exponent that does not leave the range; a segment that is no denormal.
        Role::Src1 if ["lane_b32", "ldexp", "trig_preop"].iter().any(|n| row.name.contains(n)) => "2".into(),
        Role::Src2 if row.name == "v_perm_b32" => format!("v{SELECTORS}"),
        Role::Src0 | Role::Src1 | Role::Src2 | Role::Data0 | Role::Data1 => match op.class {
            Class::Scalar | Class::Ssrc | Class::Reg => range('s', 20, dwords),
            _ if row.name.starts_with("v_writelane") => "s20".into(),
            _ => vector(op.ty, used),
        },
        Role::Vcc if row.enc == Enc::Vopc => range('s', 40 + 2 * used.copy.unwrap_or(0), 2),
        Role::Vcc => "vcc".into(),
        Role::Sdst => range('s', 40, dwords),
        Role::Sdata => range('s', 40, dwords),
        Role::Ssrc0 => range('s', 20, dwords),
        Role::Ssrc1 => range('s', 24, dwords),
        Role::K if op.ty.bits == 16 => "0x3555".into(),
        Role::K => "0x3eaaaaab".into(),
        Role::Simm16 | Role::Uimm16 => "5".into(),
        Role::Addr => range('v', OFFSETS + stride(row), 1),
        Role::Vaddr if row.enc == Enc::Scratch => range('v', ZERO, 1),
        Role::Saddr if row.enc == Enc::Scratch => "off".into(),
        Role::Vaddr if matches!(row.enc, Enc::Mubuf | Enc::Mtbuf | Enc::Global) => {
            range('v', OFFSETS + stride(row), 1)
        }
        Role::Vaddr => range('v', ADDRESSES + 2 * stride(row), 2),
        Role::Saddr => "s[2:3]".into(),
        Role::Sbase if op.ty.bits == 64 => "s[2:3]".into(),
        Role::Sbase | Role::Srsrc => {
            let components = components(row).unwrap_or(1) as usize;
            range('s', FORMATS[(components - 1) & 3].0, 4)
        }
        Role::Soffset => "0".into(),
        Role::Attr => "attr0.x".into(),
        Role::Slot => "p10".into(),
        Role::Tgt => "mrt0".into(),
        Role::Vsrc0 | Role::Vsrc1 | Role::Vsrc2 | Role::Vsrc3 => vector(op.ty, used),
        _ => return Err("other operands"),
    })
}
