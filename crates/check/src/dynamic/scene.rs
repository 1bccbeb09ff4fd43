//! What the waves of a dispatch run in, kept for as long as somebody has something to say about them: the code that was
//! executed, and where it is from.

use crate::program::{Program, Step};
use crate::report::CodeLocation;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use wavemill_asm::disasm::Disassembler;
use wavemill_device::launch::Plan;
use wavemill_device::memory::Allocations;
use wavemill_device::{Loaded, fault, observe};
use wavemill_isa::info::Reg;
use wavemill_isa::{Decoder, Enc, Inst, Target};
use wavemill_object::lines::Lines;
use wavemill_object::read::File;
use wavemill_sem::state::named_sgprs;

/// An instruction that was executed.
#[derive(Clone, Debug)]
pub struct Executed {
    /// Its place in [`Scene::program`].
    pub index: u32,
    /// What it is.
    pub step: Step,
    /// It writes EXEC.
    pub writes_exec: bool,
}

impl Executed {
    /// Whether it is of neither the scalar nor the vector ALU, nor of program flow.
    pub fn leaves_alus(&self) -> bool {
        let enc = self.step.inst.row.enc;
        !enc.is_valu() && enc as u8 > Enc::Sopp as u8
    }
}

/// A dispatch.
pub struct Scene {
    /// How it was launched.
    pub plan: Plan,
    /// The processor.
    pub target: Target,
    /// The GPU, counted from 0.
    pub gpu: u32,
    /// The memory.
    pub memory: Arc<Allocations>,
    object: Arc<Loaded>,
    lines: OnceLock<Option<Lines>>,
    gcc: OnceLock<bool>,
    /// Instructions by address.
    known: Mutex<HashMap<u64, Arc<Executed>>>,
    program: RwLock<Program>,
}

impl Scene {
    /// Takes notes of a dispatch.
    pub fn new(scene: &observe::Scene<'_>) -> Scene {
        // More SGPRs than have numbers: VCC has none but its own.
        let named = named_sgprs(scene.target.level());
        let sgprs = u8::try_from(scene.plan.kernel.setup.sgprs).ok().filter(|n| *n <= named);
        let program = Program {
            target: *scene.target,
            steps: Vec::new(),
            entries: Vec::new(),
            unknown: Vec::new(),
            vcc: sgprs.and_then(|n| n.checked_sub(2)),
        };
        Scene {
            plan: scene.plan.clone(),
            target: *scene.target,
            gpu: scene.memory.gpu(),
            memory: scene.memory.clone(),
            object: scene.object.clone(),
            lines: OnceLock::new(),
            gcc: OnceLock::new(),
            known: Mutex::default(),
            program: RwLock::new(program),
        }
    }

    /// The instructions executed so far, in the order in which they first were.
    pub fn program(&self) -> RwLockReadGuard<'_, Program> {
        self.program.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// An instruction; code that was overwritten is another one.
    pub fn executed(&self, pc: u64, inst: &Inst) -> Arc<Executed> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&pc).filter(|e| e.step.inst.bits == inst.bits) {
            return found.clone();
        }
        let mut program = self.program.write().unwrap_or_else(PoisonError::into_inner);
        // Whoever follows the path taken sees what functions do.
        let info = inst.info(&self.target);
        let spelled = self.encoded(pc, inst).map(|raw| Box::new(raw.info(&self.target)));
        let step =
            Step { at: pc, inst: *inst, info, spelled, next: Vec::new(), calls: false, returns: false };
        let writes_exec = step.info.writes().any(|u| u.reg == Reg::EXEC);
        let index = program.steps.len() as u32;
        let found = Arc::new(Executed { index, step: step.clone(), writes_exec });
        program.steps.push(step);
        known.insert(pc, found.clone());
        found
    }

    /// The instruction as it is in memory, where it is one that a wave runs as another (`confine` of crate `sem`). Only of GFX8, on
    /// which that happens and somebody asks for it.
    fn encoded(&self, pc: u64, inst: &Inst) -> Option<Inst> {
        let level = self.target.level();
        if !level.is_vi_plus() || level.is_gfx9() {
            return None;
        }
        let mut bytes = [0; 8];
        let len = usize::from(inst.len).min(8);
        let read = self.memory.memory().read(pc, &mut bytes[..len]);
        if !read || u64::from_le_bytes(bytes) == inst.bits {
            return None;
        }
        let raw = Decoder::new(self.target).decode_bytes(&bytes[..len]).ok()?;
        (raw.row.op == inst.row.op && raw.bits != inst.bits).then_some(raw)
    }

    /// Whether GCC made the code: it lets threads of a team meet at barriers in different places.
    pub fn is_of_gcc(&self) -> bool {
        *self.gcc.get_or_init(|| {
            let file = File::parse(&self.object.file).ok();
            let comment = file.as_ref().and_then(|f| f.sections.iter().find(|s| s.name == ".comment"));
            comment
                .is_some_and(|s| s.data.starts_with(b"GCC: ") || s.data.windows(6).any(|w| w == b"\0GCC: "))
        })
    }

    /// Where an instruction is from.
    pub fn place(&self, pc: u64) -> CodeLocation {
        let lines = self.lines.get_or_init(|| {
            let file = File::parse(&self.object.file).ok()?;
            Lines::read(&file).ok()?
        });
        let line = lines.as_ref().and_then(|l| l.find(0, pc.wrapping_sub(self.object.bias)));
        let mut bytes = [0; 8];
        let whole = self.memory.memory().read(pc, &mut bytes);
        let readable = whole || self.memory.memory().read(pc, &mut bytes[..4]);
        let mut text = Vec::new();
        if readable {
            Disassembler::new(self.target).one(&bytes[..if whole { 8 } else { 4 }], &mut text);
        }
        CodeLocation {
            pc,
            function: self.object.function_at(pc).map(|f| (f.name.clone(), pc - f.address)),
            source: line.map(|l| (l.file.to_owned(), l.line)),
            instruction: String::from_utf8_lossy(&text).trim().replace('\t', " "),
        }
    }

    /// Instructions around an address.
    pub fn listing(&self, pc: u64) -> Vec<(u64, String)> {
        let lines = fault::listing(&self.target, &self.memory, &self.object, pc);
        lines.into_iter().map(|l| (l.address, l.text)).collect()
    }
}
