//! Any bytes decode to an instruction or to none; what is decoded prints, and its canonical form decodes to itself.

use wavemill_asm::disasm::{Disassembler, listing};
use wavemill_isa::{Target, target::PROCESSORS};

pub fn run(data: &[u8]) {
    let Some((&first, code)) = data.split_first() else { return };
    let target = Target::new(&PROCESSORS[first as usize % PROCESSORS.len()]);
    if first & 0x80 != 0 {
        listing(target, 0, code, true);
        return;
    }
    let dis = Disassembler::new(target);
    let mut text = Vec::new();
    let mut at = 0;
    while at < code.len() {
        text.clear();
        match dis.one(&code[at..], &mut text) {
            Some(inst) => {
                let canonical = inst.canonical(&target);
                let again = dis
                    .decoder()
                    .decode_bytes(&canonical.bits.to_le_bytes())
                    .expect("a canonical encoding decodes");
                assert_eq!(again.canonical(&target).bits, canonical.bits);
                at += inst.len as usize;
            }
            None => at += 4,
        }
    }
}
