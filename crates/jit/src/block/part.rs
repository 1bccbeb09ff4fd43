//! Parts of blocks that are compiled when they are first needed: strips for active lanes that the block's code is not for. Most
//! strips run with all lanes active, or never; a block's code is for what its first wave has.

use super::memory::Around;
use super::{Compiler, Lanes, Link, Source, interpret, link, wave};
use crate::arena::Segment;
use crate::host::Host;
use crate::strip::Setting;
use crate::x86::{Alu, Asm, Cond, Gpr, Label, Mem, Rm};
use std::mem::offset_of;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use wavemill_wave::layout;

/// A strip's instructions, for other lanes. Code has its address.
#[repr(C)]
pub struct Part {
    /// Its code, or null.
    code: AtomicPtr<u8>,
    /// Where the block goes on behind it.
    over: AtomicUsize,
    segment: OnceLock<Option<Segment>>,
    lanes: Lanes,
    instructions: Range<usize>,
    setting: Setting,
}

impl Part {
    /// That of some instructions, for lanes that those at hand are not.
    pub(super) fn new(at_hand: Lanes, instructions: Range<usize>, setting: &Setting) -> Arc<Part> {
        let lanes = match at_hand {
            Lanes::All => Lanes::Some,
            Lanes::Some => Lanes::All,
        };
        Arc::new(Part {
            code: AtomicPtr::default(),
            over: AtomicUsize::new(0),
            segment: OnceLock::new(),
            lanes,
            instructions,
            setting: *setting,
        })
    }

    /// Where in the block's code it is over.
    pub(super) fn note_end(&self, at: usize) {
        self.over.store(at, Ordering::Relaxed);
    }

    /// The block's code is at an address.
    pub fn settle(&self, block: *const u8) {
        self.over.fetch_add(block.addr(), Ordering::Relaxed);
    }

    /// Its code, which is compiled once; none if there is no room.
    pub fn code(&self, compile: impl FnOnce() -> Option<Segment>) -> *const u8 {
        let segment = self.segment.get_or_init(compile).as_ref();
        let code = segment.map_or(std::ptr::null(), Segment::address);
        self.code.store(code.cast_mut(), Ordering::Release);
        code
    }

    /// Goes to its code; without, the interpreter runs the instructions.
    pub(super) fn go_to(&self, asm: &mut Asm, around: &Around<'_>, len: usize, over: Label) {
        let [unknown, slow] = [0; 2].map(|_| asm.label());
        let test = |asm: &mut Asm| asm.alu(Alu::Test, true, Gpr::Rax, Rm::Reg(Gpr::Rax as u8));
        asm.mov_imm(Gpr::Rsi, std::ptr::from_ref(self) as u64);
        asm.alu(Alu::Mov, true, Gpr::Rax, Rm::Mem(Mem::At(Gpr::Rsi, offset_of!(Part, code) as i32)));
        test(asm);
        asm.jump_if(Cond::Zero, unknown);
        asm.jump_to(Gpr::Rax);
        asm.bind(unknown);
        asm.alu(Alu::Mov, true, Gpr::Rdi, Rm::Reg(Gpr::Rbx as u8));
        asm.mov_imm(Gpr::Rdx, around.source as u64);
        asm.vzeroupper();
        asm.indirect(2, link(offset_of!(Link, part)));
        test(asm);
        asm.jump_if(Cond::Zero, slow);
        asm.jump_to(Gpr::Rax);
        asm.bind(slow);
        interpret(asm, around, len, over);
    }
}

/// Compiles a part of a block, whose code is where it was settled.
pub fn compile_part(part: &Part, source: &Source, host: Host) -> Vec<u8> {
    let mut asm = Asm::default();
    // A strip may be several ones here, of which only the last leaves no registers.
    let touched = asm.patched_or(wave(layout::TOUCHED));
    let end = part.instructions.end;
    let mut c = Compiler { is_part: true, end, ..Compiler::new(asm, host, source, part.lanes) };
    c.instructions(part.instructions.start, &part.setting);
    c.asm.mov_imm(Gpr::Rax, part.over.load(Ordering::Relaxed) as u64);
    c.asm.jump_to(Gpr::Rax);
    c.asm.patch(touched, c.touched);
    c.asm.finish()
}
