//! Vector integer and bit instructions.

/// What an integer operation needs beside its operands.
#[derive(Clone, Copy)]
pub struct Int {
    /// The CLAMP bit: results saturate instead of wrapping (manual 6.5).
    pub clamp: bool,
    /// The lane's number.
    pub lane: usize,
}

impl Int {
    /// An exact result in an unsigned type.
    pub fn unsigned(self, v: i128, bits: u32) -> u128 {
        let max = (1i128 << bits) - 1;
        (if self.clamp { v.clamp(0, max) } else { v & max }) as u128
    }

    /// An exact result in a signed type.
    pub fn signed(self, v: i128, bits: u32) -> u128 {
        let (min, max) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
        let v = if self.clamp { v.clamp(min, max) } else { v };
        (v & ((1i128 << bits) - 1)) as u128
    }
}

/// The low `bits` of a value, sign-extended.
pub fn sext(v: u128, bits: u32) -> i128 {
    (v << (128 - bits)) as i128 >> (128 - bits)
}

/// The low `bits` of a value.
pub fn zext(v: u128, bits: u32) -> i128 {
    (v & ((1 << bits) - 1)) as i128
}

fn bytes(v: u128) -> [i128; 4] {
    [0, 8, 16, 24].map(|s| zext(v >> s, 8))
}

/// Sum of absolute differences of bytes; `masked` leaves out those whose reference byte (in `b`) is zero.
fn sad(a: u128, b: u128, masked: bool) -> i128 {
    bytes(a).into_iter().zip(bytes(b)).filter(|(_, y)| !masked || *y != 0).map(|(x, y)| (x - y).abs()).sum()
}

/// An integer instruction's result, or nothing for other instructions.
pub fn op(name: &str, c: Int, s: [u128; 3], d: u128) -> Option<u128> {
    let [a, b, e] = s;
    let (u0, u1, u2) = (zext(a, 32), zext(b, 32), zext(e, 32));
    let (i0, i1, i2) = (sext(a, 32), sext(b, 32), sext(e, 32));
    let (h0, h1, h2) = (zext(a, 16), zext(b, 16), zext(e, 16));
    let (w0, w1, w2) = (sext(a, 16), sext(b, 16), sext(e, 16));
    let wrap = |v: i128| (v & 0xffff_ffff) as u128;
    let half = |v: i128| (v & 0xffff) as u128;
    let med = |x: i128, y: i128, z: i128| x.max(y).min(x.min(y).max(z));
    Some(match name {
        "v_mov_b32" => a,
        "v_not_b32" => wrap(!u0),
        "v_and_b32" => a & b,
        "v_or_b32" => a | b,
        "v_xor_b32" => a ^ b,
        "v_xnor_b32" => wrap(!(u0 ^ u1)),
        "v_bfrev_b32" => (a as u32).reverse_bits() as u128,
        "v_ffbh_u32" => wrap((0..32).find(|i| u0 >> (31 - i) & 1 == 1).unwrap_or(-1)),
        "v_ffbl_b32" => wrap((0..32).find(|i| u0 >> i & 1 == 1).unwrap_or(-1)),
        "v_ffbh_i32" => wrap((1..32).find(|i| u0 >> (31 - i) & 1 != u0 >> 31).unwrap_or(-1)),
        "v_sat_pk_u8_i16" => {
            let sat = |v: u128| sext(v, 16).clamp(0, 255) as u128;
            sat(a >> 16) << 8 | sat(a)
        }
        "v_screen_partition_4se_b32" => screen_partition(u0 as u8) as u128,

        "v_mul_i32_i24" => c.signed(sext(a, 24) * sext(b, 24), 32),
        "v_mul_hi_i32_i24" => wrap((sext(a, 24) * sext(b, 24)) >> 32),
        "v_mul_u32_u24" => c.unsigned(zext(a, 24) * zext(b, 24), 32),
        "v_mul_hi_u32_u24" => wrap((zext(a, 24) * zext(b, 24)) >> 32),
        "v_min_i32" => wrap(i0.min(i1)),
        "v_max_i32" => wrap(i0.max(i1)),
        "v_min_u32" => wrap(u0.min(u1)),
        "v_max_u32" => wrap(u0.max(u1)),
        "v_lshrrev_b32" => wrap(u1 >> (u0 & 31)),
        "v_ashrrev_i32" => wrap(i1 >> (u0 & 31)),
        "v_lshlrev_b32" => wrap(u1 << (u0 & 31)),
        "v_lshr_b32" => wrap(u0 >> (u1 & 31)),
        "v_ashr_i32" => wrap(i0 >> (u1 & 31)),
        "v_lshl_b32" => wrap(u0 << (u1 & 31)),
        "v_bfm_b32" => wrap(((1 << (u0 & 31)) - 1) << (u1 & 31)),
        "v_bcnt_u32_b32" => wrap(u0.count_ones() as i128 + u1),
        "v_mbcnt_lo_u32_b32" | "v_mbcnt_hi_u32_b32" => {
            let below = (1u64 << c.lane) - 1;
            let mask = if name.contains("_hi_") { below >> 32 } else { below & 0xffff_ffff };
            wrap((u0 as u64 & mask).count_ones() as i128 + u1)
        }
        // The carry-less ones of GFX9; the others are in `carry`.
        "v_add_u32" => c.unsigned(u0 + u1, 32),
        "v_sub_u32" => c.unsigned(u0 - u1, 32),
        "v_subrev_u32" => c.unsigned(u1 - u0, 32),
        "v_add_i32" => c.signed(i0 + i1, 32),
        "v_sub_i32" => c.signed(i0 - i1, 32),
        "v_add_u16" => c.unsigned(h0 + h1, 16),
        "v_sub_u16" => c.unsigned(h0 - h1, 16),
        "v_subrev_u16" => c.unsigned(h1 - h0, 16),
        "v_add_i16" => c.signed(w0 + w1, 16),
        "v_sub_i16" => c.signed(w0 - w1, 16),
        "v_mul_lo_u16" => c.unsigned(h0 * h1, 16),
        "v_lshlrev_b16" => half(h1 << (h0 & 15)),
        "v_lshrrev_b16" => half(h1 >> (h0 & 15)),
        "v_ashrrev_i16" => half(w1 >> (h0 & 15)),
        "v_max_u16" => half(h0.max(h1)),
        "v_max_i16" => half(w0.max(w1)),
        "v_min_u16" => half(h0.min(h1)),
        "v_min_i16" => half(w0.min(w1)),

        "v_mad_i32_i24" => c.signed(sext(a, 24) * sext(b, 24) + i2, 32),
        "v_mad_u32_u24" => c.unsigned(zext(a, 24) * zext(b, 24) + u2, 32),
        "v_bfe_u32" => wrap(u0 >> (u1 & 31) & ((1 << (u2 & 31)) - 1)),
        "v_bfe_i32" => {
            // The manual forgets to say that the field's top bit is the sign; LLVM's sbfe relies on it.
            let field = (u2 & 31) as u32;
            if field == 0 { 0 } else { wrap(sext((i0 >> (u1 & 31)) as u128, field)) }
        }
        "v_bfi_b32" => wrap(u0 & u1 | !u0 & u2),
        "v_lerp_u8" => {
            let [x, y, z] = [bytes(a), bytes(b), bytes(e)];
            (0..4).map(|i| (((x[i] + y[i] + (z[i] & 1)) >> 1) as u128) << (8 * i)).sum()
        }
        "v_alignbit_b32" => wrap((u0 << 32 | u1) >> (u2 & 31)),
        // Two bits of the count, whatever this manual says: AMD's later ones, and CLRX's for GFX6, have two.
        "v_alignbyte_b32" => wrap((u0 << 32 | u1) >> (8 * (u2 & 3))),
        "v_min3_i32" => wrap(i0.min(i1).min(i2)),
        "v_min3_u32" => wrap(u0.min(u1).min(u2)),
        "v_max3_i32" => wrap(i0.max(i1).max(i2)),
        "v_max3_u32" => wrap(u0.max(u1).max(u2)),
        "v_med3_i32" => wrap(med(i0, i1, i2)),
        "v_med3_u32" => wrap(med(u0, u1, u2)),
        "v_min3_i16" => half(w0.min(w1).min(w2)),
        "v_min3_u16" => half(h0.min(h1).min(h2)),
        "v_max3_i16" => half(w0.max(w1).max(w2)),
        "v_max3_u16" => half(h0.max(h1).max(h2)),
        "v_med3_i16" => half(med(w0, w1, w2)),
        "v_med3_u16" => half(med(h0, h1, h2)),
        "v_sad_u8" => c.unsigned(sad(a, b, false) + u2, 32),
        "v_sad_hi_u8" => c.unsigned((sad(a, b, false) << 16) + u2, 32),
        "v_sad_u16" => c.unsigned((h0 - h1).abs() + (zext(a >> 16, 16) - zext(b >> 16, 16)).abs() + u2, 32),
        "v_sad_u32" => c.unsigned((u0 - u1).abs() + u2, 32),
        "v_msad_u8" => c.unsigned(sad(a, b, true) + u2, 32),
        "v_qsad_pk_u16_u8" | "v_mqsad_pk_u16_u8" => {
            let masked = name.starts_with("v_m");
            (0..4)
                .map(|i| c.unsigned(sad(a >> (8 * i), b, masked) + zext(e >> (16 * i), 16), 16) << (16 * i))
                .sum()
        }
        "v_mqsad_u32_u8" => (0..4)
            .map(|i| c.unsigned(sad(a >> (8 * i), b, true) + zext(e >> (32 * i), 32), 32) << (32 * i))
            .sum(),
        "v_mul_lo_u32" | "v_mul_lo_i32" => wrap(u0 * u1),
        "v_mul_hi_u32" => wrap((u0 * u1) >> 32),
        "v_mul_hi_i32" => wrap((i0 * i1) >> 32),
        "v_lshl_b64" => (a << (u1 & 63)) & u64::MAX as u128,
        "v_lshr_b64" => a >> (u1 & 63),
        "v_ashr_i64" => (sext(a, 64) >> (u1 & 63)) as u64 as u128,
        "v_lshlrev_b64" => (b << (u0 & 63)) & u64::MAX as u128,
        "v_lshrrev_b64" => b >> (u0 & 63),
        "v_ashrrev_i64" => (sext(b, 64) >> (u0 & 63)) as u64 as u128,
        "v_mad_u16" | "v_mad_legacy_u16" => c.unsigned(h0 * h1 + h2, 16),
        "v_mad_i16" | "v_mad_legacy_i16" => c.signed(w0 * w1 + w2, 16),
        "v_mad_u32_u16" => c.unsigned(h0 * h1 + u2, 32),
        "v_mad_i32_i16" => c.signed(w0 * w1 + i2, 32),
        "v_perm_b32" => {
            let data = (u0 << 32 | u1) as u128;
            let byte = |n: u32| (data >> (8 * n) & 0xff) as u8;
            let sign = |n: u32| if byte(n) & 0x80 != 0 { 0xff } else { 0 };
            let pick = |sel: i128| match sel {
                0..=7 => byte(sel as u32),
                8 => sign(1),
                9 => sign(3),
                10 => sign(5),
                11 => sign(7),
                12 => 0,
                _ => 0xff,
            };
            bytes(e).iter().enumerate().map(|(i, &sel)| (pick(sel) as u128) << (8 * i)).sum()
        }
        "v_xad_u32" => wrap((u0 ^ u1) + u2),
        "v_lshl_add_u32" => wrap((u0 << (u1 & 31)) + u2),
        "v_add_lshl_u32" => wrap((u0 + u1) << (u2 & 31)),
        "v_add3_u32" => wrap(u0 + u1 + u2),
        "v_lshl_or_b32" => wrap(u0 << (u1 & 31)) | e,
        "v_and_or_b32" => a & b | e,
        "v_or3_b32" => a | b | e,
        "v_cvt_pk_u16_u32" => (u1.min(0xffff) << 16 | u0.min(0xffff)) as u128,
        "v_cvt_pk_i16_i32" => {
            let sat = |v: i128| half(v.clamp(-0x8000, 0x7fff));
            sat(i1) << 16 | sat(i0)
        }

        "v_dot2c_i32_i16" => c.signed(dot(a, b, 16, true) + sext(d, 32), 32),
        "v_dot4c_i32_i8" => c.signed(dot(a, b, 8, true) + sext(d, 32), 32),
        "v_dot8c_i32_i4" => c.signed(dot(a, b, 4, true) + sext(d, 32), 32),
        _ => return None,
    })
}

/// A dot product of the elements of two dwords.
pub fn dot(a: u128, b: u128, bits: u32, signed: bool) -> i128 {
    let get =
        |v: u128, i: u32| if signed { sext(v >> (bits * i), bits) } else { zext(v >> (bits * i), bits) };
    (0..32 / bits).map(|i| get(a, i) * get(b, i)).sum()
}

/// Additions and subtractions with a carry or borrow out: the result and the bit.
pub fn carry(name: &str, clamp: bool, a: u128, b: u128, carry_in: bool) -> Option<(u128, bool)> {
    let (x, y, k) = (zext(a, 32), zext(b, 32), carry_in as i128);
    let exact = match name {
        "v_add_co_u32" | "v_add_u32" | "v_add_i32" => x + y,
        "v_sub_co_u32" | "v_sub_u32" | "v_sub_i32" => x - y,
        "v_subrev_co_u32" | "v_subrev_u32" | "v_subrev_i32" => y - x,
        "v_addc_co_u32" | "v_addc_u32" => x + y + k,
        "v_subb_co_u32" | "v_subb_u32" => x - y - k,
        // The manual's borrow is V_SUBB's; the operands are the other way round.
        "v_subbrev_co_u32" | "v_subbrev_u32" => y - x - k,
        _ => return None,
    };
    let out = !(0..1 << 32).contains(&exact);
    Some((Int { clamp, lane: 0 }.unsigned(exact, 32), out))
}

/// Which shader engines a rectangle of 32-pixel tiles covers, computed rather than looked up: the tile at (x, y)
/// belongs to engine { x[5] ^ y[6], y[5] ^ x[6] } (manual, opcode 55).
fn screen_partition(select: u8) -> u32 {
    let [x_min, y_min, x_max, y_max] = [6, 4, 2, 0].map(|s| (select >> s & 3) as u32);
    // Coordinates are modulo four tiles; a rectangle reaches from its first to its last column and row.
    let span = |from: u32, to: u32| (0..=(to.wrapping_sub(from) & 3)).map(move |i| (from + i) & 3);
    let mut covered = 0;
    for x in span(x_min, x_max) {
        for y in span(y_min, y_max) {
            covered |= 1 << (((x & 1) ^ (y >> 1)) << 1 | ((y & 1) ^ (x >> 1)));
        }
    }
    covered
}
