//! `disasm --source`: any object has lines and files, or an error; every address of every section can be asked for.

use std::io::sink;
use wavemill_asm::objdump::{Beside, Notes, Objdump, Part};
use wavemill_isa::{Target, target};
use wavemill_object::lines::Lines;
use wavemill_object::read::File;

pub fn run(data: &[u8]) {
    let Ok(file) = File::parse(data) else { return };
    let Ok(Some(lines)) = Lines::read(&file) else { return };
    let id = file.target_id().ok().flatten();
    let cpu = id.and_then(|id| target::processor(&id.processor)).or_else(|| target::processor("gfx900"));
    let Some(cpu) = cpu else { return };
    let objdump = Objdump::new(Target::new(cpu), file.version());
    for (number, section) in file.sections.iter().enumerate().filter(|(_, s)| s.data.len() <= 1 << 16) {
        let part = Part {
            name: section.name,
            base: section.address,
            code: section.data,
            labels: &[],
            symbolize: true,
            zeros: false,
            patched: &[],
        };
        let mut notes = |beside: Beside, out: &mut Vec<u8>| {
            if let Beside::Before(address) = beside
                && let Some(line) = lines.find(number as u32, address)
            {
                out.extend_from_slice(line.file.as_bytes());
            }
        };
        let _ = objdump.section(&part, Some(&mut notes as &mut Notes<'_>), &mut sink());
    }
}
