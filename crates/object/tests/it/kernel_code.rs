//! `amd_kernel_code_t` against the bytes LLVM's assembler makes.

use crate::{fixture, hex};
use wavemill_isa::target::{Target, processor};
use wavemill_object::kernel_code::{self, KernelCode};

#[test]
fn keys_make_the_bytes_that_llvm_makes() {
    let bytes = hex("kernel_code.hex");
    let target = Target::new(processor("gfx900").unwrap());
    let mut made = Vec::new();
    for line in fixture("kernel_code.s").lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            [".amd_kernel_code_t"] => made.push(KernelCode::with_defaults(&target)),
            [key, "=", value] => {
                let value =
                    value.strip_prefix("0x").map_or_else(|| value.parse(), |h| u64::from_str_radix(h, 16));
                made.last_mut().unwrap().set(kernel_code::by_name(key).unwrap(), value.unwrap());
            }
            _ => {}
        }
    }
    for (i, code) in made.iter().enumerate() {
        let expected = &bytes[i * kernel_code::SIZE..][..kernel_code::SIZE];
        let at = code.0.iter().zip(expected).position(|(a, b)| a != b);
        assert_eq!(at, None, "structure {i}");
    }
}

#[test]
fn listed_keys_do_not_overlap_and_read_back() {
    let mut used = vec![false; kernel_code::SIZE * 8];
    for f in kernel_code::FIELDS.iter().filter(|f| f.listed) {
        for bit in f.bit..f.bit + u16::from(f.width) {
            assert!(!std::mem::replace(&mut used[bit as usize], true), "{}", f.name);
        }
        let mut code = KernelCode([0; kernel_code::SIZE]);
        code.set(f, u64::MAX);
        assert_eq!(code.get(f), f.mask(), "{}", f.name);
        code.set(f, 0);
        assert_eq!(code.0, [0; kernel_code::SIZE]);
    }
}

/// The keys of a structure make it again, those that listings leave out included.
#[test]
fn keys_are_complete() {
    let mut code = KernelCode::with_defaults(&Target::new(processor("gfx803").unwrap()));
    for (name, value) in [
        ("kernel_code_prefetch_byte_offset", 64),
        ("max_scratch_backing_memory_byte_size", 1 << 40),
        ("bulky", 1),
        ("cdbg_user", 1),
        ("enable_exception_int_divide_by_zero", 1),
        ("float_mode", 0xc0),
        ("runtime_loader_kernel_symbol", 7 << 33),
    ] {
        code.set(kernel_code::by_name(name).unwrap(), value);
    }
    let keys = code.keys().unwrap();
    let mut again = KernelCode([0; kernel_code::SIZE]);
    for &(name, value) in &keys {
        again.set(kernel_code::by_name(name).unwrap(), value);
    }
    assert!(again == code);
    let named = |name: &str| keys.iter().any(|k| k.0 == name);
    assert!(named("bulky") && named("cdbg_user") && named("kernel_code_prefetch_byte_offset"));
    // Parts of what is there already.
    assert!(!named("enable_exception_int_divide_by_zero") && !named("float_mode_denorm_16_64"));
    code.0[200] = 1;
    assert_eq!(code.keys(), None, "a control directive");
}
