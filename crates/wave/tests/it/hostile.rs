//! Code that changes under the interpreter, memory that disappears under a wave, and more code than there is room for.

use crate::harness::{assemble, target};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use wavemill_wave::FaultKind;
use wavemill_wave::{Engine, Event, GroupShared, Interp, Memory, Shape, Simd, Wave};

const PAGE: usize = 4096;

/// Memory of the host that can be protected and cut off.
struct Pages {
    start: *mut libc::c_void,
    len: usize,
    file: OwnedFd,
}

impl Pages {
    fn new(len: usize) -> Pages {
        // SAFETY: a new file, and a new mapping wherever there is room.
        unsafe {
            let file = OwnedFd::from_raw_fd(libc::memfd_create(c"test".as_ptr(), 0));
            assert_eq!(libc::ftruncate(file.as_raw_fd(), len as i64), 0);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(std::ptr::null_mut(), len, access, libc::MAP_SHARED, file.as_raw_fd(), 0);
            assert_ne!(start, libc::MAP_FAILED);
            Pages { start, len, file }
        }
    }

    fn protect(&self, access: i32) {
        // SAFETY: our own mapping, which nothing but guest code accesses.
        assert_eq!(unsafe { libc::mprotect(self.start, self.len, access) }, 0);
    }

    fn cut(&self) {
        // SAFETY: our own file.
        assert_eq!(unsafe { libc::ftruncate(self.file.as_raw_fd(), 0) }, 0);
    }

    fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.len);
        // SAFETY: inside our own mapping.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.cast::<u8>().add(offset), bytes.len())
        };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: our own mapping; the tests have ended.
        unsafe { libc::munmap(self.start, self.len) };
    }
}

struct Setup {
    memory: Memory,
    code: Pages,
    data: Pages,
    engine: Interp,
}

fn setup(simd: Simd, text: &str) -> Setup {
    let (memory, code, data) = (Memory::new(), Pages::new(PAGE), Pages::new(PAGE));
    code.write(0, &assemble(target("gfx900"), "test.s", &format!("{text}\ns_endpgm")));
    for pages in [&code, &data] {
        // SAFETY: mapped as long as the setup lives; that access to it may fail is what is tested.
        unsafe { memory.add(pages.start as u64, pages.len as u64, true) }.unwrap();
    }
    Setup { memory, code, data, engine: Interp::with_simd(target("gfx900"), simd) }
}

impl Setup {
    fn run(&self) -> (Wave, Event) {
        let mut wave = Wave::new(&target("gfx900"), Shape { vgprs: 8, agprs: 0 });
        wave.pc = self.code.start as u64;
        wave.set_exec(!0);
        wave.set_sgpr64(2, self.data.start as u64);
        for lane in 0..64 {
            let address = self.data.start as u64 + 4 * lane as u64;
            wave.vgpr_mut(0).unwrap()[lane] = address as u32;
            wave.vgpr_mut(1).unwrap()[lane] = (address >> 32) as u32;
        }
        let event = self.engine.run(&mut wave, &GroupShared::new(0), &self.memory, 1_000_000);
        (wave, event)
    }
}

#[test]
fn changed_code_runs() {
    let s = setup(Simd::Portable, "s_mov_b32 s0, 1");
    for value in 1..4 {
        let (wave, event) = s.run();
        assert_eq!((wave.sgpr(0), event), (value, Event::End));
        let changed = assemble(target("gfx900"), "test.s", &format!("s_mov_b32 s0, {}", value + 1));
        s.code.write(0, &changed);
        // A dispatch begins.
        s.engine.revalidate();
    }
    // Other code, whose memory the old one had: also when the allocation is another.
    s.memory.remove(s.code.start as u64).unwrap();
    s.engine.revalidate();
    assert!(matches!(s.run().1, Event::Fault(f) if f.kind == FaultKind::Fetch));
    // SAFETY: as in `setup`.
    unsafe { s.memory.add(s.code.start as u64, PAGE as u64, false) }.unwrap();
    s.engine.revalidate();
    assert_eq!(s.run().1, Event::End);
}

#[test]
fn memory_that_disappears_is_a_fault() {
    let accesses = [
        ("s_load_dword s0, s[2:3], 0x0", false),
        ("flat_load_dword v2, v[0:1]", false),
        ("global_load_dwordx4 v[2:5], v[0:1], off", false),
        ("global_load_ubyte v2, v[0:1], off", false),
        ("global_store_dword v[0:1], v2, off", true),
        ("global_atomic_add v[0:1], v2, off", true),
    ];
    for simd in Simd::available() {
        for (text, writes) in accesses {
            let s = setup(simd, &format!("s_nop 0\n{text}"));
            assert_eq!(s.run().1, Event::End, "{text}");
            let expect = || {
                let (wave, event) = s.run();
                let Event::Fault(fault) = event else { panic!("{text}: {event:?}") };
                assert_eq!(fault.kind, FaultKind::Gone, "{text}");
                assert_eq!((fault.pc, wave.pc), (s.code.start as u64 + 4, fault.pc), "{text}");
                assert!(fault.address.wrapping_sub(s.data.start as u64) < PAGE as u64, "{text}");
            };
            s.data.protect(libc::PROT_NONE);
            expect();
            s.data.protect(libc::PROT_READ);
            if writes {
                expect();
            } else {
                assert_eq!(s.run().1, Event::End, "{text}");
            }
            s.data.protect(libc::PROT_READ | libc::PROT_WRITE);
            assert_eq!(s.run().1, Event::End, "{text}");
            s.data.cut();
            expect();
        }
    }
    // So does code.
    let s = setup(Simd::Portable, "s_nop 0");
    s.code.protect(libc::PROT_NONE);
    assert!(matches!(s.run().1, Event::Fault(f) if f.kind == FaultKind::Fetch));
}

/// Bytes of memory that this process has.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * PAGE
}

#[test]
fn decoded_code_takes_bounded_memory() {
    // Zeros are instructions. Decoded, they took more than forty times as much.
    let s = setup(Simd::Portable, "s_nop 0");
    let many = Pages::new(48 << 20);
    many.write(many.len - 4, &assemble(target("gfx900"), "end.s", "s_endpgm"));
    // SAFETY: mapped until the end of the test.
    unsafe { s.memory.add(many.start as u64, many.len as u64, false) }.unwrap();
    let before = resident();
    let mut wave = Wave::new(&target("gfx900"), Shape { vgprs: 8, agprs: 0 });
    wave.pc = many.start as u64;
    let event = s.engine.run(&mut wave, &GroupShared::new(0), &s.memory, u64::MAX);
    assert_eq!(event, Event::End);
    let grown = resident().saturating_sub(before);
    assert!(grown < 1 << 30, "{} MB", grown >> 20);
    s.memory.remove(many.start as u64).unwrap();
}
