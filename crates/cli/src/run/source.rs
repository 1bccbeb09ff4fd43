//! Assembly sources: their launch line, their target, and the object made of them.

use super::Run;
use clap::Parser;
use std::path::Path;
use wavemill_asm::clrx;
use wavemill_device::loader;
use wavemill_isa::Target;
use wavemill_object::read::File;

pub use wavemill_compile::source::DEFAULT_GPU;

/// True for assembly text: by its name, or because it is no ELF file and has no zero bytes.
pub fn is_source(path: &Path, data: &[u8]) -> bool {
    let named = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("s") || e == "asm");
    named && !data.starts_with(b"\x7fELF")
}

/// The options that `; run:` comments give (`//` and `#` comments as well). Files they name are looked for next to the source.
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
    let directory = path.parent().unwrap_or(Path::new(""));
    run.trap_handler = run.trap_handler.map(|h| h.beside(directory));
    for arg in run.args.iter_mut().chain(&mut run.trap_memory) {
        if let Some(file) = arg.strip_prefix("buf:") {
            *arg = format!("buf:{}", directory.join(file).display());
        }
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
    let made = wavemill_compile::source::assemble(&shown, text, gpu)?;
    eprint!("{}", made.messages);
    Ok((made.object, made.target))
}

/// Assembles CLRX's source of an OpenCL binary, which names its GPU itself.
fn container(path: &Path, text: Vec<u8>, gpu: Option<Target>) -> Result<(Vec<u8>, Target), String> {
    let shown = path.display().to_string();
    let include_paths = path.parent().map(Path::to_path_buf).into_iter().collect();
    let output = clrx::assemble(&clrx::Options { include_paths, ..Default::default() }, &shown, text);
    let messages = String::from_utf8_lossy(&output.render_diagnostics()).into_owned();
    let Some(binary) = output.binary else {
        return Err(format!("{shown} cannot be assembled\n{messages}"));
    };
    eprint!("{messages}");
    let file = File::parse(&binary).map_err(|e| format!("{shown}: {e}"))?;
    let (_, target) = loader::target_of(&file).map_err(|e| format!("{shown}: {e}"))?;
    drop(file);
    Ok((binary, gpu.unwrap_or(target)))
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
}
