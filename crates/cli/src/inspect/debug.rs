//! Debugging information, as text and as JSON.

use crate::json::Json;
use std::fmt::Write as _;
use std::io::Write;
use wavemill_object::debug::{self, Declared, Function, Location, Role, Unit, Variable};
use wavemill_object::read::{Error, File};

/// Reads it, and tells kernels from other functions where the compiler does not.
pub(super) fn read(file: &File<'_>) -> Result<Vec<Unit>, Error> {
    let mut units = debug::read(file)?;
    let kernels = file.kernels()?;
    for function in units.iter_mut().flat_map(|u| &mut u.functions) {
        let symbol = function.linkage_name.as_deref().unwrap_or(&function.name);
        function.kernel |= kernels.iter().any(|k| k.name == symbol);
    }
    Ok(units)
}

pub(super) fn text(file: &File<'_>, out: &mut String) -> Result<(), Error> {
    let units = read(file)?;
    if units.is_empty() {
        out.push_str("\nNo debugging information\n");
    }
    for unit in &units {
        let path = match unit.name.starts_with('/') {
            true => unit.name.clone(),
            false => format!("{}/{}", unit.directory, unit.name),
        };
        let _ = writeln!(out, "\nDebugging information of {path}");
        let _ = writeln!(out, "  {}, DWARF {}, by {}", unit.language, unit.version, unit.producer);
        if !unit.variables.is_empty() {
            out.push_str("\nVariables outside of functions\n");
            variables(&unit.variables, out);
        }
        unit.functions.iter().for_each(|f| function(f, out));
    }
    frames(file, out)
}

/// How callers of functions are found.
fn frames(file: &File<'_>, out: &mut String) -> Result<(), Error> {
    for frame in debug::frames(file)? {
        let name =
            file.symbols.iter().find(|s| s.ty == 2 && s.value == frame.code.start).map_or("", |s| s.name);
        let _ = writeln!(
            out,
            "\nframes of {name}  {:#x} to {:#x}, by {}, returns to {}",
            frame.code.start, frame.code.end, frame.section, frame.return_register
        );
        for row in &frame.rows {
            let _ = write!(out, "  from {:#x}: CFA is {}", row.start, row.cfa);
            row.registers.iter().for_each(|(r, place)| _ = write!(out, ", {r} {place}"));
            out.push('\n');
        }
    }
    Ok(())
}

fn function(f: &Function, out: &mut String) {
    let result = f.result.as_ref().map_or("void", |t| t.name.as_str());
    let kind = if f.kernel { "kernel" } else { "function" };
    let _ = write!(out, "\n{kind} {result} {}", f.name);
    if let Some(place) = &f.declared {
        let _ = write!(out, "  {}:{}", place.file, place.line);
    }
    for range in &f.ranges {
        let _ = write!(out, "  {:#x} to {:#x}", range.start, range.end);
    }
    out.push('\n');
    if let Some(symbol) = f.linkage_name.as_ref().filter(|s| **s != f.name) {
        let _ = writeln!(out, "  symbol {symbol}");
    }
    if let Some(base) = &f.frame_base {
        let _ = writeln!(out, "  frame base {}", base.trim_start_matches("DW_OP_regx "));
    }
    variables(&f.variables, out);
}

fn variables(all: &[Variable], out: &mut String) {
    let widest = |column: fn(&Variable) -> usize, least: usize| {
        all.iter().map(column).max().unwrap_or(0).max(least).min(40)
    };
    let ty = widest(|v| v.ty.name.len(), 4);
    let name = widest(|v| v.name.len(), 4);
    if all.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "  {:9}  {:>5}  {:ty$}  {:name$}  {:9}  where it is",
        "role", "line", "type", "name", "points to"
    );
    for v in all {
        let role = match v.role {
            Role::Parameter => "parameter",
            Role::Variable => "variable",
        };
        let line = v.declared.as_ref().map_or(String::new(), |d| d.line.to_string());
        let pointee = v.ty.pointee.map_or(String::new(), |s| s.to_string());
        let head = format!("  {role:9}  {line:>5}  {:ty$}  {:name$}  {pointee:9}  ", v.ty.name, v.name);
        let inlined = v.inlined.as_ref().map_or(String::new(), |f| format!(" (inlined from {f})"));
        match v.locations.as_slice() {
            [] => _ = writeln!(out, "{head}nowhere: optimised away{inlined}"),
            [one] => _ = writeln!(out, "{head}{}{inlined}", location(one)),
            several => {
                let _ = writeln!(out, "{head}by address{inlined}");
                let indent = head.chars().count();
                several.iter().for_each(|l| _ = writeln!(out, "{:indent$}{}", "", location(l)));
            }
        }
    }
}

fn location(l: &Location) -> String {
    let space = l.space.map_or(String::new(), |s| format!("{s} "));
    let range = l.range.as_ref().map_or(String::new(), |r| format!("{:#x} to {:#x}: ", r.start, r.end));
    format!("{range}{space}{}", l.place)
}

pub(super) fn json<W: Write>(units: &[Unit], j: &mut Json<W>) {
    j.key("debug").array(|j| {
        for unit in units {
            j.object(|j| {
                j.field("name", &unit.name);
                j.field("directory", &unit.directory);
                j.field("producer", &unit.producer);
                j.field("language", &unit.language);
                j.field("version", u32::from(unit.version));
                variables_json(&unit.variables, j);
                j.key("functions").array(|j| {
                    unit.functions.iter().for_each(|f| j.object(|j| function_json(f, j)));
                });
            });
        }
    });
}

fn function_json<W: Write>(f: &Function, j: &mut Json<W>) {
    j.field("name", &f.name);
    j.field("linkage_name", f.linkage_name.as_ref());
    j.field("kernel", f.kernel);
    declared_json(f.declared.as_ref(), j);
    j.field("type", f.result.as_ref().map(|t| &t.name));
    j.key("ranges").array(|j| {
        for range in &f.ranges {
            j.array(|j| {
                j.value(range.start);
                j.value(range.end);
            });
        }
    });
    j.field("frame_base", f.frame_base.as_ref());
    variables_json(&f.variables, j);
}

fn declared_json<W: Write>(declared: Option<&Declared>, j: &mut Json<W>) {
    j.field("file", declared.map(|d| &d.file));
    j.field("line", declared.map(|d| d.line));
}

fn variables_json<W: Write>(all: &[Variable], j: &mut Json<W>) {
    j.key("variables").array(|j| {
        for v in all {
            j.object(|j| {
                j.field("name", &v.name);
                j.field("parameter", v.role == Role::Parameter);
                declared_json(v.declared.as_ref(), j);
                j.field("type", &v.ty.name);
                j.field("pointee_space", v.ty.pointee.map(|s| s.to_string()).as_ref());
                j.field("inlined_from", v.inlined.as_ref());
                j.key("locations").array(|j| {
                    for l in &v.locations {
                        j.object(|j| {
                            j.field("from", l.range.as_ref().map(|r| r.start));
                            j.field("to", l.range.as_ref().map(|r| r.end));
                            j.field("space", l.space.map(|s| s.to_string()).as_ref());
                            j.field("expression", &l.expression);
                        });
                    }
                });
            });
        }
    });
}
