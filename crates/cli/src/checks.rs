//! `--check` of the commands that run code: what to look for, and what becomes of what is found.

use clap::Args;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wavemill_check::leak::Ledger;
use wavemill_check::suppress::{self, Suppressions};
use wavemill_check::{Check, Checks, Format, Report, Session, wire};

/// Options about checks.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Checks")]
pub struct CheckOptions {
    /// Look for what is wrong with the code while it runs: all checks, or some of mem, init, race, sync, wait, hazard (and leak, of programs). Exit status 5 where
    /// something was found and all else was well
    #[arg(long, value_name = "CHECKS", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = Checks::parse)]
    pub check: Option<Checks>,
    /// Write what --check found to a file: JSON, or SARIF where the name ends in .sarif
    #[arg(long, value_name = "FILE")]
    pub check_report: Option<PathBuf>,
    /// Findings that are known and not to be told, a line each; may be given several times
    #[arg(long, value_name = "FILE")]
    pub suppress: Vec<PathBuf>,
    /// Print a line for --suppress behind each finding
    #[arg(long)]
    gen_suppressions: bool,
    /// Exit status where --check found something, instead of 5
    #[arg(long, value_name = "STATUS")]
    error_exitcode: Option<u8>,
}

impl CheckOptions {
    /// What a source's own line says, where the command line does not say otherwise. It names no files.
    pub fn or(self, line: CheckOptions) -> CheckOptions {
        CheckOptions {
            check: self.check.or(line.check),
            check_report: self.check_report,
            suppress: self.suppress,
            gen_suppressions: self.gen_suppressions || line.gen_suppressions,
            error_exitcode: self.error_exitcode.or(line.error_exitcode),
        }
    }

    /// Makes ready for a kernel, before anything runs.
    pub fn prepare(&self) -> Result<Option<(Arc<Session>, Checking)>, String> {
        if self.check.is_some_and(|c| c.has(Check::Leak)) {
            return Err("--check=leak is for programs; `run` frees what it allocates".into());
        }
        Ok(self.ready()?.map(|(checks, checking)| (Arc::new(Session::new(checks)), checking)))
    }

    /// Makes ready, before anything runs.
    pub fn ready(&self) -> Result<Option<(Checks, Checking)>, String> {
        let Some(checks) = self.check else {
            let needless = [
                (self.check_report.is_some(), "--check-report"),
                (!self.suppress.is_empty(), "--suppress"),
                (self.gen_suppressions, "--gen-suppressions"),
                (self.error_exitcode.is_some(), "--error-exitcode"),
            ];
            return match needless.iter().find(|(given, _)| *given) {
                Some((_, name)) => Err(format!("{name} is for --check")),
                None => Ok(None),
            };
        };
        let report = self.check_report.as_deref().map(Output::create).transpose()?;
        let checking = Checking {
            known: known(&self.suppress)?,
            report,
            generate: self.gen_suppressions,
            status: self.error_exitcode.unwrap_or(crate::status::CHECK),
        };
        Ok(Some((checks, checking)))
    }
}

/// The suppressions of files.
pub fn known(files: &[PathBuf]) -> Result<Suppressions, String> {
    let mut known = Suppressions::default();
    for path in files {
        let shown = path.display();
        let text = crate::input::text(path)?;
        known.parse(&text).map_err(|(line, message)| format!("{shown}:{line}: {message}"))?;
    }
    Ok(known)
}

/// A file for a report.
pub struct Output {
    file: File,
    path: PathBuf,
}

impl Output {
    /// Makes it, so that nobody learns too late that it cannot be.
    pub fn create(path: &Path) -> Result<Output, String> {
        let file = File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Output { file, path: path.to_owned() })
    }

    /// Writes the findings, each as [`Format::one`] makes it.
    pub fn write(mut self, findings: &[String]) -> Result<(), String> {
        let text = self.format().document(findings);
        self.file.write_all(text.as_bytes()).map_err(|e| format!("{}: {e}", self.path.display()))
    }

    /// The form that the file's name asks for.
    pub fn format(&self) -> Format {
        Format::of(&self.path.to_string_lossy())
    }
}

/// Checks under way.
pub struct Checking {
    known: Suppressions,
    report: Option<Output>,
    generate: bool,
    status: u8,
}

impl Checking {
    /// Tells what was found; the exit status, if anything was.
    pub fn finish(self, mut reports: Vec<Report>) -> Result<Option<u8>, String> {
        reports.retain(|r| !self.known.cover(r));
        eprint!("{}", text(&reports, self.generate));
        if let Some(output) = self.report {
            let format = output.format();
            output.write(&reports.iter().map(|r| format.one(r)).collect::<Vec<_>>())?;
        }
        Ok((!reports.is_empty()).then_some(self.status))
    }
}

/// What the processes of a program have found: lines that `wavemill_runtime::checks` writes.
pub fn gathered(lines: &str) -> Vec<Report> {
    let mut ledgers: BTreeMap<&str, Ledger> = BTreeMap::new();
    let mut found: BTreeMap<(&str, usize), Report> = BTreeMap::new();
    for line in lines.lines() {
        let Some((what, (process, rest))) =
            line.split_once('\t').and_then(|(what, rest)| Some((what, rest.split_once('\t')?)))
        else {
            continue;
        };
        let (first, second) = rest.split_once('\t').unwrap_or((rest, ""));
        match (what, first.parse::<u64>(), second.parse::<u64>()) {
            ("allocated", Ok(address), Ok(bytes)) => {
                ledgers.entry(process).or_default().allocated(address, bytes);
            }
            ("freed", Ok(address), _) => ledgers.entry(process).or_default().freed(address),
            ("finding", Ok(number), _) => {
                if let Some(report) = wire::parse(second) {
                    found.insert((process, number as usize), report);
                }
            }
            _ => {}
        }
    }
    found.into_values().chain(ledgers.values().flat_map(Ledger::reports)).collect()
}

/// Findings for people.
pub fn text(reports: &[Report], generate: bool) -> String {
    let files: RefCell<HashMap<String, Vec<String>>> = RefCell::default();
    let source = |file: &str, line: u32| {
        let mut files = files.borrow_mut();
        let lines = files.entry(file.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        lines.get((line as usize).checked_sub(1)?).cloned()
    };
    let mut out = String::new();
    for report in reports {
        out += &report.text(&source);
        if generate {
            out += &format!("{}\n", suppress::line(report));
        }
        out.push('\n');
    }
    if !reports.is_empty() {
        out += &format!("{} finding{}\n", reports.len(), if reports.len() == 1 { "" } else { "s" });
    }
    out
}
