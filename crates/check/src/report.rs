//! Reports of findings, whoever made them: for people, as JSON, and as SARIF 2.1.0.

use std::fmt::Write;
use wavemill_device::json::quoted;

/// Where in the code something is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeLocation {
    /// Address of the instruction.
    pub pc: u64,
    /// Function and offset.
    pub function: Option<(String, u64)>,
    /// Source file and line.
    pub source: Option<(String, u32)>,
    /// The instruction.
    pub instruction: String,
}

impl CodeLocation {
    /// `file:line`, or the address.
    pub fn shown(&self) -> String {
        match (&self.source, &self.function) {
            (Some((file, line)), _) => format!("{file}:{line}"),
            (None, Some((name, offset))) => format!("{name}+{offset:#x}"),
            _ => format!("{:#x}", self.pc),
        }
    }

    fn json(&self, out: &mut String) {
        let _ = write!(out, "\"pc\": {}", self.pc);
        if let Some((name, offset)) = &self.function {
            let _ = write!(out, ", \"function\": {}, \"offset\": {offset}", quoted(name));
        }
        if let Some((file, line)) = &self.source {
            let _ = write!(out, ", \"file\": {}, \"line\": {line}", quoted(file));
        }
        let _ = write!(out, ", \"instruction\": {}", quoted(&self.instruction));
    }

    fn sarif(&self) -> String {
        let logical = self.function.as_ref().map_or(String::new(), |(name, offset)| {
            let full = quoted(&format!("{name}+{offset:#x}"));
            format!(
                ", \"logicalLocations\": [{{\"name\": {}, \"fullyQualifiedName\": {full}}}]",
                quoted(name)
            )
        });
        let physical = match &self.source {
            Some((file, line)) => format!(
                "\"physicalLocation\": {{\"artifactLocation\": {{\"uri\": {}}}, \"region\": {{\"startLine\": {}}}}}",
                quoted(&uri(file)),
                (*line).max(1)
            ),
            None => format!("\"physicalLocation\": {{\"address\": {{\"absoluteAddress\": {}}}}}", self.pc),
        };
        format!("{physical}{logical}")
    }
}

/// A path as a reference in a URI.
fn uri(path: &str) -> String {
    let mut out = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(byte as char)
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// One cause, with everything there is to say about it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The check that found it.
    pub check: String,
    /// What it is, in a word for machines.
    pub kind: String,
    /// The kernel.
    pub kernel: String,
    /// One sentence.
    pub message: String,
    /// Where.
    pub place: CodeLocation,
    /// Instructions around it, with their addresses.
    pub listing: Vec<(u64, String)>,
    /// The other access or instruction: what it is, and where.
    pub other: Option<(String, CodeLocation)>,
    /// The first wave that did it: work-group and number in it.
    pub wave: Option<([u32; 3], u32)>,
    /// Lanes that did it there, a bit each; none of what a wave does as a whole.
    pub lanes: u64,
    /// Work-item of the first of these lanes in its work-group.
    pub item: Option<[u32; 3]>,
    /// What else there is to say: address, registers, origin.
    pub facts: Vec<(String, String)>,
    /// How it may be mended.
    pub mend: String,
    /// How often it happened.
    pub count: u64,
    /// The kernel has faulted there, and the fault has a report of its own.
    pub fault: bool,
}

impl Report {
    /// For people. `source` gives lines of source files.
    pub fn text(&self, source: &dyn Fn(&str, u32) -> Option<String>) -> String {
        let three = |n: [u32; 3]| n.map(|n| n.to_string()).join(",");
        let mut out = format!("{}: {}: {} [{}]\n", self.place.shown(), self.check, self.message, self.kind);
        let line = |out: &mut String, place: &CodeLocation| {
            let Some((file, line)) = &place.source else { return };
            if let Some(text) = source(file, *line) {
                let _ = writeln!(out, "  {line:>8} | {}", text.trim_end());
            }
        };
        if self.kernel.is_empty() {
            // The host has done it.
            out = format!("{}: {} [{}]\n", self.check, self.message, self.kind);
        }
        line(&mut out, &self.place);
        if self.fault || self.kernel.is_empty() {
            // What the fault's own report has need not be here.
            for (name, fact) in self.facts.iter().filter(|(name, _)| !self.fault || name != "address") {
                let _ = writeln!(out, "  {name:<12}{fact}");
            }
            if self.fault {
                let _ = writeln!(out, "  fault       see its report above");
            }
            let _ = writeln!(out, "  mend        {}", self.mend);
            return out;
        }
        let _ = writeln!(out, "  kernel      {}", wavemill_object::demangle::shown(&self.kernel));
        if let Some((group, wave)) = self.wave {
            let _ = writeln!(out, "  work-group  {}, wave {wave}", three(group));
        }
        if let Some(item) = self.item.filter(|_| self.lanes != 0) {
            let many = if self.lanes.count_ones() > 1 { "s" } else { "" };
            let lanes = wavemill_device::fault::lanes(self.lanes);
            let _ = writeln!(out, "  lane{many:<8}{lanes} (work-item {})", three(item));
        }
        for (name, fact) in &self.facts {
            let _ = writeln!(out, "  {name:<12}{fact}");
        }
        let _ = write!(out, "  pc          {:#x}", self.place.pc);
        if let Some((name, offset)) = &self.place.function {
            let name = wavemill_object::demangle::short(name).unwrap_or_else(|| name.clone());
            let _ = write!(out, " <{name}+{offset:#x}>");
        }
        out.push('\n');
        for (address, text) in &self.listing {
            let mark = if *address == self.place.pc { "=>" } else { "  " };
            let _ = writeln!(out, "  {mark} {address:#x}  {text}");
        }
        if let Some((what, other)) = &self.other {
            let _ = writeln!(out, "  {what:<12}{}: {}", other.shown(), other.instruction);
            line(&mut out, other);
        }
        if self.count > 1 {
            let _ = writeln!(out, "  count       {} times", self.count);
        }
        if !self.mend.is_empty() {
            let _ = writeln!(out, "  mend        {}", self.mend);
        }
        out
    }

    /// An object of JSON, on one line.
    pub fn json(&self) -> String {
        let mut out = format!(
            "{{\"check\": \"{}\", \"kind\": \"{}\", \"kernel\": {}, \"message\": {}, ",
            self.check,
            self.kind,
            quoted(&self.kernel),
            quoted(&self.message)
        );
        self.place.json(&mut out);
        let _ = write!(out, ", \"count\": {}", self.count);
        if self.fault {
            out.push_str(", \"fault\": true");
        }
        if let Some((group, wave)) = self.wave {
            let _ = write!(
                out,
                ", \"work_group\": {}, \"wave\": {wave}, \"lanes\": {}",
                wavemill_device::json::list(&group),
                lanes(self.lanes)
            );
        }
        if let Some(item) = self.item.filter(|_| self.lanes != 0) {
            let _ = write!(out, ", \"work_item\": {}", wavemill_device::json::list(&item));
        }
        if let Some((what, place)) = &self.other {
            let _ = write!(out, ", \"other\": {{\"what\": {}, ", quoted(what));
            place.json(&mut out);
            out.push('}');
        }
        for (name, fact) in &self.facts {
            let _ = write!(out, ", {}: {}", quoted(name), quoted(fact));
        }
        let _ = write!(out, ", \"mend\": {}}}", quoted(&self.mend));
        out
    }

    /// A result of SARIF, on one line.
    pub fn sarif(&self) -> String {
        let message = match self.mend.as_str() {
            "" => self.message.clone(),
            mend => format!("{}. To mend it: {mend}", self.message),
        };
        let related = self.other.as_ref().map_or(String::new(), |(what, place)| {
            let text = quoted(&format!("{what}: {}", place.instruction));
            format!(", \"relatedLocations\": [{{{}, \"message\": {{\"text\": {text}}}}}]", place.sarif())
        });
        format!(
            "{{\"ruleId\": \"{}/{}\", \"level\": \"error\", \"message\": {{\"text\": {}}}, \"locations\": [{{{}}}]{related}, \
             \"occurrenceCount\": {}}}",
            self.check,
            self.kind,
            quoted(&message),
            self.place.sarif(),
            self.count.max(1)
        )
    }
}

/// Numbers of lanes.
fn lanes(mask: u64) -> String {
    let lanes: Vec<u32> = (0..64).filter(|l| mask >> l & 1 != 0).collect();
    wavemill_device::json::list(&lanes)
}

/// The forms of a report for machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSON of our own.
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

impl Format {
    /// What a file's name asks for.
    pub fn of(name: &str) -> Format {
        if name.to_ascii_lowercase().ends_with(".sarif") { Format::Sarif } else { Format::Json }
    }

    /// One finding.
    pub fn one(self, report: &Report) -> String {
        match self {
            Format::Json => report.json(),
            Format::Sarif => report.sarif(),
        }
    }

    /// The document that has these findings, each made by [`Format::one`].
    pub fn document(self, findings: &[String]) -> String {
        let list = match findings {
            [] => String::new(),
            some => format!("\n    {}\n  ", some.join(",\n    ")),
        };
        match self {
            Format::Json => format!("{{\n  \"findings\": [{list}]\n}}\n"),
            Format::Sarif => format!(
                "{{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \
                 \"runs\": [{{\"tool\": {{\"driver\": {{\"name\": \"Wavemill\", \"version\": {}}}}}, \"results\": [{list}]}}]\n}}\n",
                quoted(env!("CARGO_PKG_VERSION"))
            ),
        }
    }
}
