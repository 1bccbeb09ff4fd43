//! The facts as text: one screen that needs no manual.

use super::debug;
use super::facts::{self, Facts};
use super::{Parts, Subject};
use std::fmt::Write as _;
use std::io::{self, Write};
use wavemill_isa::target::Processor;
use wavemill_object::demangle;
use wavemill_object::limits::Limiter;
use wavemill_object::metadata::to_yaml;
use wavemill_object::read::{Error, File, KernelForm, Kind, symbol_type_name};
use wavemill_object::target_id::Setting;
use wavemill_object::{descriptor, kernel_code};

/// Text after which it is handed on.
const FLUSH: usize = 1 << 16;

/// Shows a code object. The inner result is about writing, the outer one about the file.
pub(super) fn show(
    subject: &Subject<'_>,
    parts: Parts,
    sink: &mut dyn Write,
) -> Result<io::Result<()>, Error> {
    let file = subject.file;
    let mut out = String::new();
    // What is wrong is found before anything is shown.
    file.notes()?.iter().filter(|_| parts.notes).try_for_each(|n| n.document().map(|_| ()))?;
    header(subject, &mut out)?;
    if parts.kernels || parts.descriptors {
        let cpu = facts::processor(file)?;
        let kernels = file.kernels()?;
        let said = if parts.kernels { file.kernel_metadata()? } else { Vec::new() };
        let all = facts::kernels(&kernels, &said, cpu);
        let _ = match all.len() {
            0 => writeln!(out, "\nNo kernels"),
            1 => writeln!(out, "\n1 kernel"),
            n => writeln!(out, "\n{n} kernels"),
        };
        for facts in &all {
            if parts.kernels {
                kernel(facts, &mut out);
            }
            if parts.descriptors {
                fields(facts, cpu, parts.kernels, &mut out);
            }
            if out.len() > FLUSH {
                if let Err(e) = sink.write_all(out.as_bytes()) {
                    return Ok(Err(e));
                }
                out.clear();
            }
        }
    }
    if parts.notes {
        notes(file, !parts.all, &mut out)?;
    }
    if parts.symbols {
        symbols(file, &mut out);
    }
    if parts.sections {
        sections(file, &mut out);
    }
    if parts.relocations {
        relocations(file, &mut out)?;
    }
    if parts.debug {
        debug::text(file, &mut out)?;
    } else if let Some(section) = file.section(".debug_info").filter(|_| parts.all) {
        let _ = writeln!(out, "\nDebugging information: {} bytes; --debug shows it", section.size);
    }
    Ok(sink.write_all(out.as_bytes()))
}

fn header(subject: &Subject<'_>, out: &mut String) -> Result<(), Error> {
    let file = subject.file;
    let id = file.target_id()?;
    let version = match file.version() {
        0 => String::new(),
        n => format!(" version {n}"),
    };
    let form = match file.kind {
        Kind::Relocatable if file.is_finalized() => "finalized",
        Kind::Relocatable => "relocatable, to be linked",
        Kind::Shared => "linked",
        other => facts::kind_name(other),
    };
    let processor = id.as_ref().map_or("a processor that it does not name", |i| i.processor.as_str());
    let _ = writeln!(out, "{}: AMD GPU code object{version} for {processor}, {form}", subject.name);
    if let Some(entry) = &subject.entry {
        let _ = writeln!(out, "  bundled as {entry}");
    }
    if let Some(container) = &file.catalyst {
        let (device, driver) = container.device(file.inner());
        let bits = 8 * container.width.bytes();
        let device = device.map_or("an unknown device", |d| d.name);
        let _ =
            write!(out, "  in an OpenCL 2.0 binary of AMD's Catalyst for {device}, {bits}-bit pointers, ");
        let _ = match driver {
            0 => writeln!(out, "driver before 1912.05"),
            n => writeln!(out, "driver {}.{:02} or later", n / 100, n % 100),
        };
        for (name, text) in [("compiler", container.acl_version), ("options", container.options)] {
            if !text.is_empty() {
                let _ = writeln!(out, "  {name} {text}");
            }
        }
    }
    if let Some(id) = id {
        let says = |name: &str, setting: Setting| match setting {
            Setting::Unsupported => String::new(),
            Setting::Any => format!(", {name} on or off"),
            Setting::Off => format!(", {name} off"),
            Setting::On => format!(", {name} on"),
        };
        let size = file.catalyst.as_ref().map_or(file.data.len(), |c| c.data.len());
        let features = says("sramecc", id.sramecc) + &says("xnack", id.xnack);
        let _ = writeln!(out, "  target {id}{features}, e_flags {:#x}, {} bytes", file.flags, size);
    }
    Ok(())
}

fn kernel(f: &Facts<'_, '_>, out: &mut String) {
    let said = f.said;
    let _ = write!(out, "\n{}", demangle::shown(f.name));
    if let Some(language) = said.and_then(|s| s.language.as_deref()) {
        let _ = write!(out, "  ({language}");
        if let Some([major, minor]) = said.and_then(|s| s.language_version) {
            let _ = write!(out, " {major}.{minor}");
        }
        out.push(')');
    }
    if let Some(kernel) = f.kernel {
        let _ = write!(out, "  descriptor {:#x}", kernel.symbol.value);
        if let Some(entry) = kernel.entry {
            let _ = write!(out, ", code {entry:#x}");
        }
        if let Some(size) = kernel.code.map(|c| c.size).filter(|s| *s > 0) {
            let _ = write!(out, ", {size} bytes");
        }
    }
    out.push('\n');
    if demangle::shown(f.name) != f.name {
        let _ = writeln!(out, "  symbol      {}", f.name);
    }
    registers(f, out);
    let bytes = |n: Option<u64>| n.map_or("unknown".into(), |n| format!("{n} bytes"));
    let dynamic = if said.is_some_and(|s| s.uses_dynamic_stack) { " and more as it runs" } else { "" };
    let _ = writeln!(
        out,
        "  memory      LDS {} per work-group, scratch {}{dynamic} per work-item, arguments {}",
        bytes(f.lds),
        bytes(f.scratch),
        bytes(f.kernarg_size)
    );
    if let Some(s) = said {
        let triple = |t: [u32; 3]| format!("{} x {} x {}", t[0], t[1], t[2]);
        match (s.reqd_workgroup_size, s.max_flat_workgroup_size) {
            (Some(t), _) => _ = writeln!(out, "  work-group  exactly {} work-items", triple(t)),
            (None, Some(n)) => _ = writeln!(out, "  work-group  at most {n} work-items"),
            (None, None) => {}
        }
    }
    if let Some(o) = &f.occupancy {
        let _ = write!(out, "  occupancy   {} of {} waves per SIMD", o.waves, o.most);
        if o.limiter != Limiter::WaveSlots {
            let _ = write!(out, ", limited by {}", o.limiter.name());
        }
        if let Some((few, waves)) = o.more {
            let _ = write!(out, " ({few} or fewer allow {waves})");
        }
        out.push('\n');
    }
    arguments(f, out);
}

fn registers(f: &Facts<'_, '_>, out: &mut String) {
    let (Some(vgprs), Some(sgprs)) = (f.vgprs, f.sgprs) else { return };
    let said = f.said;
    let used = said.and_then(|s| s.vgpr_count);
    let agprs = said.and_then(|s| s.agpr_count).filter(|n| *n > 0);
    let _ = write!(out, "  registers   VGPRs ");
    match (used, agprs, f.accum_offset) {
        // On gfx90a the count includes the AccVGPRs, which follow the others.
        (Some(all), Some(a), Some(_)) => {
            let _ = write!(out, "{} + {a} AGPRs", all.saturating_sub(a));
        }
        (Some(v), Some(a), None) => _ = write!(out, "{v}, AGPRs {a}"),
        (Some(v), None, _) => _ = write!(out, "{v}"),
        (None, ..) => _ = write!(out, "at most {vgprs}"),
    }
    if used.is_some() {
        let _ = write!(out, " ({vgprs} allocated)");
    }
    match said.and_then(|s| s.sgpr_count) {
        Some(s) => _ = write!(out, ", SGPRs {s} ({sgprs} allocated)"),
        None => _ = write!(out, ", SGPRs at most {sgprs}"),
    }
    let spilled = |n: Option<u32>| n.filter(|n| *n > 0);
    if let Some(n) = said.and_then(|s| spilled(s.vgpr_spill_count)) {
        let _ = write!(out, ", {n} VGPRs spilled");
    }
    if let Some(n) = said.and_then(|s| spilled(s.sgpr_spill_count)) {
        let _ = write!(out, ", {n} SGPRs spilled");
    }
    out.push('\n');
}

fn arguments(f: &Facts<'_, '_>, out: &mut String) {
    let args = f.said.map_or(&[][..], |s| &s.args);
    if args.is_empty() {
        return;
    }
    let widest = |column: fn(&wavemill_object::metadata::kernel::Argument<'_>) -> usize, least: usize| {
        args.iter().map(column).max().unwrap_or(0).max(least)
    };
    let kind = widest(|a| a.value_kind.len(), 4);
    let space = widest(|a| a.address_space.as_deref().map_or(0, str::len), 5);
    // Without a source's type, older compilers' word for what it is made of.
    fn type_of<'a>(a: &'a wavemill_object::metadata::kernel::Argument<'_>) -> &'a str {
        a.type_name.as_deref().or(a.value_type.as_deref()).unwrap_or("")
    }
    let ty = widest(|a| type_of(a).len(), 0).min(24);
    let _ = writeln!(out, "  offset  size  {:kind$}  {:space$}  type and name", "kind", "space");
    for a in args {
        let line = format!(
            "  {:>6} {:>5}  {:kind$}  {:space$}  {:ty$} {}",
            a.offset,
            a.size,
            a.value_kind,
            a.address_space.as_deref().unwrap_or(""),
            type_of(a),
            a.name.as_deref().unwrap_or("")
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// A descriptor's fields, those that are zero in one line.
fn fields(f: &Facts<'_, '_>, cpu: Option<&'static Processor>, named: bool, out: &mut String) {
    if !named {
        let _ = write!(out, "\n{}", demangle::shown(f.name));
        if let Some(k) = f.kernel {
            let _ = write!(out, "  descriptor {:#x}", k.symbol.value);
        }
        out.push('\n');
    }
    let mut zero = Vec::new();
    let mut line = |name: &'static str, value: u64, out: &mut String| match value {
        0 => zero.push(name),
        v if v > 9 => _ = writeln!(out, "  {name:<47} {v} ({v:#x})"),
        v => _ = writeln!(out, "  {name:<47} {v}"),
    };
    match f.kernel.map(|k| &k.form) {
        Some(form @ (KernelForm::Descriptor(_) | KernelForm::Registers(_))) => {
            let has = |f: &&descriptor::Field| {
                f.width > 0 && cpu.map_or(f.has == descriptor::Has::All, |c| f.has.on(c.level))
            };
            let fields = descriptor::FIELDS.iter().filter(has);
            let d = form.descriptor().copied().unwrap_or_default();
            fields.for_each(|f| line(f.name, d.get(f), out));
        }
        Some(KernelForm::KernelCode(code)) => {
            kernel_code::FIELDS.iter().for_each(|f| line(f.name, code.get(f), out));
            let directive = code.control_directive();
            if directive.iter().any(|&b| b != 0) {
                let bytes: String = directive.iter().map(|b| format!("{b:02x}")).collect();
                let _ = writeln!(out, "  {:<47} {bytes}", "control_directive");
            }
        }
        None => {}
    }
    let mut column = 0;
    for (i, name) in zero.iter().enumerate() {
        if i == 0 {
            out.push_str("  zero:");
            column = 7;
        }
        if column + name.len() > 116 {
            out.push_str("\n       ");
            column = 7;
        }
        let _ = write!(out, " {name}");
        column += name.len() + 1;
    }
    if !zero.is_empty() {
        out.push('\n');
    }
}

fn notes(file: &File<'_>, details: bool, out: &mut String) -> Result<(), Error> {
    let notes = file.notes()?;
    if notes.is_empty() {
        return Ok(());
    }
    out.push_str("\nNotes\n");
    for note in &notes {
        let name = note.kind_name().map_or_else(|| format!("type {}", note.kind), Into::into);
        let _ = writeln!(
            out,
            "  {:<8} {name:<31} {:>8} bytes at {:#x} in {}",
            note.owner,
            note.contents.len(),
            note.offset,
            note.part
        );
        let document = note.document()?;
        if !details {
            continue;
        }
        match document {
            Some(document) => to_yaml(&document, false).lines().for_each(|l| _ = writeln!(out, "    {l}")),
            None => match note.decoded() {
                Some(words) => words.lines().for_each(|l| _ = writeln!(out, "    {l}")),
                None => {
                    let text = String::from_utf8_lossy(note.contents);
                    let _ = writeln!(out, "    {:?}", text.trim_end_matches('\0'));
                }
            },
        }
    }
    Ok(())
}

fn symbols(file: &File<'_>, out: &mut String) {
    let shown: Vec<_> = file.symbols.iter().skip(1).filter(|s| !s.name.is_empty()).collect();
    if shown.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\nSymbols\n  {:<18} {:>8}  type    bind    visible    where and name",
        "value", "size"
    );
    for s in shown {
        let _ = writeln!(
            out,
            "  {:#018x} {:>8}  {:<7} {:<7} {:<10} {} {}",
            s.value,
            s.size,
            symbol_type_name(s.ty),
            facts::binding_name(s.binding),
            facts::visibility_name(s.other),
            facts::home(file, s),
            s.name
        );
    }
}

fn relocations(file: &File<'_>, out: &mut String) -> Result<(), Error> {
    let all = facts::relocations(file)?;
    if all.is_empty() {
        out.push_str("\nNo relocations\n");
    }
    for (section, relocations) in all {
        let _ = match section {
            "" => writeln!(out, "\nRelocations for the loader"),
            name => writeln!(out, "\nRelocations of {name}"),
        };
        let _ = writeln!(out, "  {:<18} {:<24} symbol and addend", "place", "type");
        for r in relocations {
            let _ = match &r.symbol {
                Some(symbol) if r.addend == 0 => writeln!(out, "  {:#018x} {:<24} {symbol}", r.offset, r.ty),
                Some(symbol) => writeln!(out, "  {:#018x} {:<24} {symbol}{:+}", r.offset, r.ty, r.addend),
                None => writeln!(out, "  {:#018x} {:<24} {:#x}", r.offset, r.ty, r.addend),
            };
        }
    }
    Ok(())
}

fn sections(file: &File<'_>, out: &mut String) {
    let _ = writeln!(
        out,
        "\nSections\n  {:<18} {:>10}  {:>10}  {:>6}  flags  name",
        "address", "offset", "size", "align"
    );
    for s in file.sections.iter().skip(1) {
        let flag = |bit: u64, c: char| if s.flags & bit != 0 { c } else { '-' };
        let flags: String = [flag(2, 'a'), flag(1, 'w'), flag(4, 'x')].iter().collect();
        let _ = writeln!(
            out,
            "  {:#018x} {:>#10x}  {:>#10x}  {:>6}  {flags:<5}  {}",
            s.address, s.offset, s.size, s.align, s.name
        );
    }
    if file.segments.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\nSegments\n  {:<18} {:>10}  {:>10}  {:>10}  access  type",
        "address", "offset", "in file", "in memory"
    );
    for s in &file.segments {
        let flag = |bit: u32, c: char| if s.flags & bit != 0 { c } else { '-' };
        let flags: String = [flag(4, 'r'), flag(2, 'w'), flag(1, 'x')].iter().collect();
        let name = match s.ty {
            1 => "load".into(),
            2 => "dynamic".into(),
            4 => "note".into(),
            6 => "program headers".into(),
            0x6474_e551 => "stack".into(),
            0x6474_e552 => "read-only after relocation".into(),
            other => format!("{other:#x}"),
        };
        let _ = writeln!(
            out,
            "  {:#018x} {:>#10x}  {:>#10x}  {:>#10x}  {flags:<6}  {name}",
            s.address,
            s.offset,
            s.data.len(),
            s.memory_size
        );
    }
}
