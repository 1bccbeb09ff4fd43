//! One wave, its memory, and what instructions do to it.

use super::assign::{RegisterName, Values};
use super::draw::{self, Style};
use std::fmt::Write;
use std::sync::Arc;
use wavemill_asm::disasm::Disassembler;
use wavemill_asm::{Options, Os, OutputType, assemble};
use wavemill_device::{Allocations, Region, Use};
use wavemill_isa::target::{Processor, Target};
use wavemill_isa::{Inst, Level, regs};
use wavemill_wave::{Engine, Event, GroupShared, Interp, Shape, Wave};

/// Why instructions did not run to their end.
pub enum Stop {
    /// They could not be assembled, or not be run at all.
    Refused(String),
    /// They did something that they must not.
    Faulted(String),
}

/// Instructions after which a program is taken to run for ever.
const BUDGET: u64 = 10_000_000;

/// A wave and what is around it.
pub struct Session {
    target: Target,
    engine: Interp,
    memory: Arc<Allocations>,
    group: GroupShared,
    wave: Wave,
    lds: u32,
    /// How to show numbers, if not as the instructions have it.
    pub style: Option<Style>,
    /// Memory that registers point to.
    buffers: Vec<(String, Region)>,
}

impl Session {
    /// A wave of zeros.
    pub fn new(cpu: &'static Processor, lds: u32, style: Option<Style>) -> Result<Session, String> {
        if lds > 65536 {
            return Err(format!("--lds {lds}: a work-group has 65536 bytes of LDS at most"));
        }
        let target = Target::new(cpu);
        Ok(Session {
            target,
            engine: Interp::new(target),
            memory: Arc::default(),
            group: GroupShared::new(lds),
            wave: wave(&target, lds),
            lds,
            style,
            buffers: Vec::new(),
        })
    }

    /// The processor's name.
    pub fn gpu(&self) -> &'static str {
        self.target.cpu.name
    }

    /// Starts over.
    pub fn reset(&mut self) -> Result<(), String> {
        *self = Session::new(self.target.cpu, self.lds, self.style)?;
        Ok(())
    }

    /// Starts over on another processor.
    pub fn change(&mut self, cpu: &'static Processor) -> Result<(), String> {
        *self = Session::new(cpu, self.lds, self.style)?;
        Ok(())
    }

    /// Does what `REGISTER=VALUE` says.
    pub fn assign(&mut self, text: &str) -> Result<(), String> {
        let (name, value) =
            text.split_once('=').ok_or_else(|| format!("`{text}`: REGISTER=VALUE is wanted"))?;
        let in_text = |e: String| format!("`{text}`: {e}");
        let place = RegisterName::parse(name).map_err(in_text)?;
        place.check(&self.target).map_err(in_text)?;
        let values = match value.strip_prefix("buf:") {
            Some(list) => self.buffer(name, place, list).map_err(in_text)?,
            None => Values::parse(value).map_err(in_text)?,
        };
        values.set(&mut self.wave, place);
        Ok(())
    }

    /// Makes memory of dwords and gives its address.
    fn buffer(&mut self, name: &str, place: RegisterName, list: &str) -> Result<Values, String> {
        if !matches!(place, RegisterName::Scalar(_, 2) | RegisterName::Vector(_, 2)) {
            return Err("an address takes two registers, such as s[4:5]".into());
        }
        let words = list.split(',').map(|w| Values::parse(w).map(|v| v.first() as u32));
        let bytes: Vec<u8> =
            words.collect::<Result<Vec<u32>, _>>()?.into_iter().flat_map(u32::to_le_bytes).collect();
        let region = self.memory.allocate(bytes.len() as u64, Use::Device, format!("the memory of {name}"));
        let region = region.map_err(|e| e.to_string())?;
        region.write(0, &bytes);
        let address = region.start();
        self.buffers.push((name.to_owned(), region));
        Ok(Values::one(address))
    }

    fn assemble(&self, text: &str) -> Result<Vec<u8>, String> {
        let mut options = Options::new(self.target);
        options.output = OutputType::Obj;
        options.os = Os::AmdHsa;
        let lines = text.replace(';', "\n") + "\n";
        let output = assemble(&options, "eval", lines.into_bytes());
        if output.failed() {
            return Err(String::from_utf8_lossy(&output.render_diagnostics()).trim_end().to_owned());
        }
        let end = assemble(&options, "end", b"s_endpgm\n".to_vec());
        let code = |o: wavemill_asm::Output| {
            o.object.and_then(|o| o.sections.into_iter().find(|s| !s.data.is_empty())).map(|s| s.data)
        };
        let mut bytes = code(output).ok_or("there is no instruction in it")?;
        bytes.extend(code(end).unwrap_or_default());
        Ok(bytes)
    }

    /// Runs instructions and draws what they changed.
    pub fn run(&mut self, text: &str) -> Result<String, Stop> {
        let code = self.assemble(text).map_err(Stop::Refused)?;
        let region = self.memory.allocate(code.len() as u64, Use::Code, "the instructions");
        let region = region.map_err(|e| Stop::Refused(e.to_string()))?;
        region.write(0, &code);
        self.engine.invalidate(region.start(), region.len());
        let before = self.wave.clone();
        let shared = self.group.lds.snapshot();
        let contents: Vec<Vec<u8>> = self.buffers.iter().map(|(_, r)| r.to_vec()).collect();
        self.wave.pc = region.start();
        let started = self.wave.counters.total();
        loop {
            let left = BUDGET.saturating_sub(self.wave.counters.total() - started);
            let stopped = |what: String| Err(Stop::Faulted(what));
            match self.engine.run(&mut self.wave, &self.group, self.memory.memory(), left.max(1)) {
                Event::End => break,
                // There is only this wave, and nobody to hear its messages.
                Event::Barrier | Event::Message { .. } => {}
                Event::Preempted if left > 0 => {}
                Event::Preempted => return stopped(format!("they still ran after {BUDGET} instructions")),
                Event::Trap(id) => return stopped(format!("s_trap {id}: there is no trap handler")),
                Event::Exception { .. } => return stopped("an exception that MODE lets trap".into()),
                // Nobody looks on who could stop it.
                Event::Stopped => return stopped("the wave was stopped".into()),
                Event::Halt => return stopped("the wave halted itself (s_sethalt)".into()),
                Event::Fault(fault) => {
                    let at = fault.pc.saturating_sub(region.start()) as usize;
                    let line = self.line(code.get(at..).unwrap_or(&[]));
                    let lanes = match fault.lanes {
                        0 => String::new(),
                        mask => format!(", lanes {}", wavemill_device::fault::lanes(mask)),
                    };
                    let what = wavemill_device::fault::describe(&fault).0;
                    let hint = "; s[4:5]=buf:1,2,3 makes memory";
                    return stopped(format!("{line}: {what}{lanes}{hint}"));
                }
            }
        }
        let styles = self.styles(&code);
        let mut out = self.differences(&before, &styles);
        self.memory_differences(&shared, &contents, &mut out);
        if out.is_empty() {
            out.push_str("nothing changed\n");
        }
        Ok(out)
    }

    fn line(&self, code: &[u8]) -> String {
        let mut text = Vec::new();
        match Disassembler::new(self.target).one(code, &mut text) {
            Some(_) => String::from_utf8_lossy(&text).trim().replace('\t', " "),
            None => "beyond the instructions".into(),
        }
    }

    /// The registers that the instructions name as their results, and what these are.
    fn styles(&self, code: &[u8]) -> Vec<(RegisterName, Style)> {
        let disassembler = Disassembler::new(self.target);
        let (mut found, mut at) = (Vec::new(), 0);
        while at < code.len() {
            let mut text = Vec::new();
            let Some(inst): Option<Inst> = disassembler.one(&code[at..], &mut text) else { break };
            at += (inst.len as usize).max(4);
            let text = String::from_utf8_lossy(&text).into_owned();
            let first = text.split_whitespace().nth(1).unwrap_or("").trim_end_matches(',').to_owned();
            if let Ok(place) = RegisterName::parse(&first) {
                found.push((place, Style::of(&inst)));
            }
        }
        found
    }

    /// How to show a vector register; pairs that hold a 64-bit number count as their first.
    fn style(
        &self,
        styles: &[(RegisterName, Style)],
        wanted: impl Fn(RegisterName) -> Option<(u16, u16)>,
        register: u16,
    ) -> (Style, bool) {
        let named = styles.iter().rev().find_map(|(place, style)| {
            let (first, count) = wanted(*place).filter(|(f, n)| (*f..f + n).contains(&register))?;
            Some((*style, (register - first).is_multiple_of(2) && count > 1))
        });
        let (style, even) = named.unwrap_or((Style::Bits, register.is_multiple_of(2)));
        match self.style {
            Some(Style::Double) => (Style::Double, even || named.is_none()),
            Some(style) => (style, true),
            None => (style, even),
        }
    }

    fn differences(&self, before: &Wave, styles: &[(RegisterName, Style)]) -> String {
        let mut out = String::new();
        let shape = self.wave.shape();
        for (file, base, count) in [("v", 0, shape.vgprs), ("a", shape.vgprs, shape.agprs)] {
            let wanted = |place: RegisterName| match place {
                RegisterName::Vector(first, count) if file == "v" => Some((first, count)),
                RegisterName::Accumulator(first, count) if file == "a" => Some((first, count)),
                _ => None,
            };
            let mut register = 0;
            while register < count {
                let lanes = |w: &Wave, r: u16| w.vgpr(base + r).copied().unwrap_or([0; 64]);
                let (style, first) = self.style(styles, wanted, register);
                let pair = style == Style::Double && first && register + 1 < count;
                let values = |w: &Wave| -> [u64; 64] {
                    let (low, high) =
                        (lanes(w, register), if pair { lanes(w, register + 1) } else { [0; 64] });
                    std::array::from_fn(|l| u64::from(low[l]) | u64::from(high[l]) << 32)
                };
                let (old, new) = (values(before), values(&self.wave));
                if old != new {
                    let name = match pair {
                        true => format!("{file}[{register}:{}]", register + 1),
                        false => format!("{file}{register}"),
                    };
                    let style = if style == Style::Double && !pair { Style::Hex } else { style };
                    out += &draw::lanes(&name, &old, &new, style);
                }
                register += if pair { 2 } else { 1 };
            }
        }
        for code in (0..regs::sgpr_count(&self.target)).chain([124]) {
            let (old, new) = (before.sgpr(code), self.wave.sgpr(code));
            if old != new {
                let name = if code == 124 { "m0".to_owned() } else { format!("s{code}") };
                let text = |v: u32| self.scalar(v);
                let _ = writeln!(out, "{name}: {} -> {}", text(old), text(new));
            }
        }
        for (name, old, new) in
            [("vcc", before.vcc(), self.wave.vcc()), ("exec", before.exec(), self.wave.exec())]
        {
            if old != new {
                let lanes = wavemill_device::fault::lanes(new);
                let lanes = if lanes.is_empty() { "no lane".to_owned() } else { format!("lanes {lanes}") };
                let _ = writeln!(out, "{name}: {old:#018x} -> {new:#018x} ({lanes})");
            }
        }
        for (name, old, new) in [
            ("scc", u32::from(before.scc), u32::from(self.wave.scc)),
            ("mode", before.mode, self.wave.mode),
            ("trapsts", before.trapsts, self.wave.trapsts),
        ] {
            if old != new {
                let _ = writeln!(out, "{name}: {old:#x} -> {new:#x}");
            }
        }
        out
    }

    /// A scalar register's value: small numbers as they are, others in hexadecimal as well.
    fn scalar(&self, value: u32) -> String {
        match self.style {
            Some(style) => style.text(value.into()),
            None if (value as i32).unsigned_abs() < 10 => (value as i32).to_string(),
            None => format!("{} ({value:#x})", value as i32),
        }
    }

    fn memory_differences(&self, shared: &[u8], contents: &[Vec<u8>], out: &mut String) {
        let mut compare = |name: &str, old: &[u8], new: &[u8]| {
            const MOST: usize = 64;
            let words = old.chunks(4).zip(new.chunks(4)).enumerate().filter(|(_, (a, b))| a != b);
            let words: Vec<_> = words.collect();
            for (i, (a, b)) in words.iter().take(MOST) {
                let word = |b: &[u8]| b.iter().rev().fold(0u32, |w, b| w << 8 | u32::from(*b));
                let _ =
                    writeln!(out, "{name}+{}: {} -> {}", 4 * i, self.scalar(word(a)), self.scalar(word(b)));
            }
            if words.len() > MOST {
                let _ = writeln!(out, "{name}: {} dwords changed in all", words.len());
            }
        };
        compare("LDS", shared, &self.group.lds.snapshot());
        for ((name, region), old) in self.buffers.iter().zip(contents) {
            compare(&format!("memory of {name} "), old, &region.to_vec());
        }
    }

    /// A register as it is.
    pub fn show(&self, name: &str) -> Result<String, String> {
        let place = RegisterName::parse(name)?;
        place.check(&self.target)?;
        let style = self.style.unwrap_or(Style::Bits);
        let base = if matches!(place, RegisterName::Accumulator(..)) { self.wave.shape().vgprs } else { 0 };
        let mut out = String::new();
        match place {
            RegisterName::Vector(first, count) | RegisterName::Accumulator(first, count) => {
                let file = if base == 0 { 'v' } else { 'a' };
                for register in first..first + count {
                    let lanes = self.wave.vgpr(base + register).copied().unwrap_or([0; 64]);
                    out += &draw::all(&format!("{file}{register}"), &lanes.map(u64::from), style);
                }
            }
            RegisterName::Scalar(first, count) => {
                let words: Vec<String> =
                    (first..first + count).map(|c| self.scalar(self.wave.sgpr(c))).collect();
                let _ = writeln!(out, "{name}: {}", words.join(" "));
            }
            RegisterName::Scc => _ = writeln!(out, "scc: {}", u32::from(self.wave.scc)),
            RegisterName::Mode => _ = writeln!(out, "mode: {:#x}", self.wave.mode),
        }
        Ok(out)
    }
}

/// A wave with every register that there is.
fn wave(target: &Target, lds: u32) -> Wave {
    let agprs = if target.level() >= Level::Gfx908 { 256 } else { 0 };
    let mut wave = Wave::new(target, Shape { vgprs: 256, agprs });
    wave.lds_bytes = lds;
    // LDS instructions before GFX9 take M0 as their limit.
    wave.set_sgpr(124, u32::MAX);
    wave
}
