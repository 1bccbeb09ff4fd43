//! Assembly sources: their launch line, their target, and the object made of them.

use super::{Run, args};
use clap::Parser;
use std::path::Path;
use wavemill_asm::clrx;
use wavemill_asm::parser::files::lies_below;
use wavemill_device::loader;
use wavemill_isa::Target;
use wavemill_object::read::File;

pub use wavemill_compile::source::DEFAULT_GPU;

/// True for assembly text: by its name, or because it is no ELF file and has no zero bytes.
pub fn is_source(path: &Path, data: &[u8]) -> bool {
    let named = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("s") || e == "asm");
    named && !data.starts_with(b"\x7fELF")
}

/// The options that `; run:` comments give (`//` and `#` comments as well). A source may come from anywhere: the files it
/// names are looked for next to it and must lie below its directory, it cannot have files written, and how far it is
/// trusted is not its to say.
pub fn launch_line(text: &[u8], path: &Path) -> Result<Option<Run>, String> {
    #[derive(Parser)]
    #[command(no_binary_name = true, disable_help_flag = true)]
    struct Line {
        #[command(flatten)]
        run: Run,
    }
    let mut words = Vec::new();
    let mut first = None;
    for (number, line) in text.split(|&b| b == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let comment = line.trim_start().trim_start_matches([';', '/', '#']);
        if comment.len() == line.trim_start().len() {
            continue;
        }
        if let Some(options) = comment.trim_start().strip_prefix("run:") {
            first.get_or_insert(number + 1);
            words.extend(split(options));
        }
    }
    let Some(first) = first else { return Ok(None) };
    let shown = path.display();
    words.insert(0, shown.to_string());
    let line = Line::try_parse_from(words).map_err(|e| {
        let text = e.to_string();
        let what = text.lines().next().unwrap_or("").trim_start_matches("error: ").to_owned();
        format!("{shown}:{first}: the `run:` line: {what}")
    })?;
    let mut run = line.run;
    for (option, given) in [
        ("--dump", !std::mem::take(&mut run.dump).is_empty()),
        ("--trace", run.trace.take().is_some()),
        ("--events", run.events.take().is_some()),
        ("--record", run.record.take().is_some()),
        ("--replay", run.replay.take().is_some()),
        ("--check-report", run.checks.check_report.take().is_some()),
        ("--suppress", !std::mem::take(&mut run.checks.suppress).is_empty()),
        // What clang may be told to load is code that runs.
        ("--cflag", !std::mem::take(&mut run.cflag).is_empty()),
        ("--memory", run.memory.take().is_some()),
        ("--sandbox", run.sandbox.take().is_some()),
    ] {
        if given {
            crate::output::message(format_args!(
                "wavemill run: {shown}:{first}: the `run:` line: {option} is ignored: it is for the command line"
            ));
        }
    }
    let directory = path.parent().unwrap_or(Path::new(""));
    let below = |file: &Path| match lies_below(file, directory) || !file.exists() {
        true => Ok(()),
        false => Err(format!(
            "{shown}:{first}: the `run:` line: {} does not lie below the directory of the source; if it is wanted, \
             name it on the command line",
            file.display()
        )),
    };
    run.trap_handler = run.trap_handler.map(|h| h.beside(directory));
    if let Some(file) = run.trap_handler.as_ref().and_then(|h| h.file()) {
        below(file)?;
    }
    for arg in run.args.iter_mut().chain(&mut run.trap_memory) {
        let Some((file, at)) = args::file_of(arg) else { continue };
        let beside = directory.join(file);
        below(&beside)?;
        *arg = format!("{}{}{}", &arg[..at], beside.display(), &arg[at + file.len()..]);
    }
    for expected in &mut run.expect {
        let Some((number, file)) = expected.split_once(':') else { continue };
        let beside = directory.join(file);
        below(&beside)?;
        *expected = format!("{number}:{}", beside.display());
    }
    Ok(Some(run))
}

/// Words of a line; quotes keep blanks.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Assembles a source for the GPU asked for, the one it names itself, or gfx90a.
pub fn assemble(path: &Path, text: Vec<u8>, gpu: Option<Target>) -> Result<(Vec<u8>, Target), String> {
    let shown = path.display().to_string();
    if clrx::is_source(&text) {
        return container(path, text, gpu);
    }
    let confine = path.parent().unwrap_or(Path::new(""));
    let made = wavemill_compile::source::assemble(&shown, text, gpu, Some(confine))?;
    crate::output::report(made.messages.as_bytes());
    Ok((made.object, made.target))
}

/// Assembles CLRX's source of an OpenCL binary, which names its GPU itself.
fn container(path: &Path, text: Vec<u8>, gpu: Option<Target>) -> Result<(Vec<u8>, Target), String> {
    let shown = path.display().to_string();
    let include_paths = path.parent().map(Path::to_path_buf).into_iter().collect();
    let confine = Some(path.parent().unwrap_or(Path::new("")).to_path_buf());
    let output =
        clrx::assemble(&clrx::Options { include_paths, confine, ..Default::default() }, &shown, text);
    let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
    let Some(binary) = output.binary else {
        return Err(format!("{shown} cannot be assembled\n{messages}"));
    };
    crate::output::report(messages.as_bytes());
    let file = File::parse(&binary).map_err(|e| format!("{shown}: {e}"))?;
    let (_, target) = loader::target_of(&file).map_err(|e| format!("{shown}: {e}"))?;
    drop(file);
    Ok((binary, gpu.unwrap_or(target)))
}

/// The source with a `.loc` before every line that starts with an instruction, so that the object says which line its
/// code is of. A source with line tables of its own keeps those.
pub fn with_lines(name: &str, text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    let word = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        let mut rest = text.trim_start();
        while let Some((_, after)) = rest.split_once(':').filter(|(l, _)| !l.contains(char::is_whitespace)) {
            rest = after.trim_start();
        }
        let word = rest.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        let base =
            ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| word.strip_suffix(s)).map(str::to_owned);
        (base.unwrap_or(word), rest.starts_with(".loc") || rest.starts_with(".file"))
    };
    if lines.iter().any(|l| word(l).1) {
        return text.to_vec();
    }
    let mut out = format!(".file 1 \"{}\"\n", name.replace(['"', '\\'], "_")).into_bytes();
    for (n, line) in lines.iter().enumerate() {
        let (word, _) = word(line);
        if !word.is_empty() && wavemill_isa::lookup::by_name(&word).next().is_some() {
            out.extend_from_slice(format!(".loc 1 {}\n", n + 1).as_bytes());
        }
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launch_lines_are_read() {
        let text =
            b"// A kernel\n; run: --grid 64,2 --arg 'buf:a b.bin'\n;run: --json --arg i32:-7\nk: s_endpgm\n";
        let run = launch_line(text, Path::new("dir/k.s")).unwrap().unwrap();
        assert_eq!(run.grid.unwrap().0, [64, 2]);
        assert_eq!(run.args, ["buf:dir/a b.bin", "i32:-7"]);
        assert!(run.json);
        assert!(launch_line(b"s_endpgm ; prun: x\n", Path::new("k.s")).unwrap().is_none());
        let wrong = launch_line(b"\n; run: --gird 64\n", Path::new("k.s")).unwrap_err();
        assert!(wrong.starts_with("k.s:2: the `run:` line: unexpected argument '--gird'"), "{wrong}");
    }

    #[test]
    fn every_option_with_a_file_is_ignored_or_confined() {
        use clap::Args;
        let command = Run::augment_args(clap::Command::new("run"));
        let names = |a: &clap::Arg| a.get_value_names().unwrap_or_default().join(" ");
        let with_files =
            command.get_arguments().filter(|a| a.get_long().is_some() && names(a).contains("FILE"));
        let directory = std::env::temp_dir();
        for option in with_files.filter_map(clap::Arg::get_long) {
            let value = if option == "dump" || option == "expect" { "0:/etc/passwd" } else { "/etc/passwd" };
            let text = format!("; run: --{option} {value}\n");
            // What is left of it would be used.
            match launch_line(text.as_bytes(), &directory.join("k.s")) {
                Ok(run) => assert!(!format!("{run:?}").contains("/etc/passwd"), "--{option}"),
                Err(message) => assert!(message.contains("does not lie below"), "--{option}: {message}"),
            }
        }
    }
}
