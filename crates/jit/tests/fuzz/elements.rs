//! Buffers with elements of all formats, and loads and stores of them.

use crate::chaos::Random;
use wavemill_wave::Wave;

fn pick<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.next() as usize % all.len()]
}

/// The last dword of a resource: mostly one of the formats of whole dwords, its components in order.
fn last(random: &mut Random) -> u32 {
    let any = random.next() as u32;
    let data = if random.one_in(3) { any & 15 } else { pick(random, &[4, 11, 13, 14]) };
    let number = if random.one_in(8) { any >> 4 & 7 } else { pick(random, &[0, 1, 4, 5, 7]) };
    let selects = if random.one_in(4) { any >> 8 & 0xfff } else { 0xfac };
    let odd = if random.one_in(32) { any & 31 << 19 } else { 0 };
    data << 15 | number << 12 | selects | odd
}

/// A buffer that s[12:15] describe; s24 has another last dword for it.
pub fn prepare(random: &mut Random, wave: &mut Wave, buffer: u64) {
    let begin = buffer + pick(random, &[0, 0, 4, 1024, 2]);
    let stride = pick(random, &[0, 0, 4, 16]) << 16;
    let swizzle = if random.one_in(32) { 1 << 31 } else { 0 };
    wave.set_sgpr(12, begin as u32);
    wave.set_sgpr(13, (begin >> 32) as u32 | stride | swizzle);
    wave.set_sgpr(14, pick(random, &[4096, 4096, 3000, 258, 0]));
    wave.set_sgpr(15, last(random));
    wave.set_sgpr(24, last(random));
}

/// An access of elements, or a plain one of the same buffer; or elements become others. `first` is the first data register.
pub fn access(random: &mut Random, gfx9: bool, first: u64) -> String {
    if random.one_in(8) {
        return "s_mov_b32 s15, s24".to_owned();
    }
    let what = if random.one_in(3) { "store" } else { "load" };
    let (components, count) = pick(random, &[("x", 1u64), ("x", 1), ("xy", 2), ("xyz", 3), ("xyzw", 4)]);
    let (halves, high) = (random.one_in(3), gfx9 && count == 1 && random.one_in(2));
    let typed = random.one_in(2) && !(halves && high);
    let (d16, registers) = match (halves, high) {
        (false, _) => ("", count),
        (true, true) => ("d16_hi_", 1),
        (true, false) => ("d16_", if gfx9 { count.div_ceil(2) } else { count }),
    };
    let data = match registers {
        1 => format!("v{first}"),
        n => format!("v[{first}:{}]", first + n - 1),
    };
    let (address, offen) = pick(random, &[("v0", " offen"), ("v1", " offen"), ("v1", " offen"), ("off", "")]);
    let offset = pick(random, &[0, 0, 4, 8, 1]);
    let place = format!("{address}, s[12:15], s23{offen} offset:{offset}");
    match (typed, random.one_in(6)) {
        (false, true) => format!("buffer_{what}_dword v{first}, {place}"),
        (false, false) => format!("buffer_{what}_format_{d16}{components} {data}, {place}"),
        (true, _) => {
            let format = last(random) >> 12 & 0x7f;
            let format = format >> 3 | (format & 7) << 4;
            format!("tbuffer_{what}_format_{d16}{components} {data}, {place} format:{format}")
        }
    }
}
