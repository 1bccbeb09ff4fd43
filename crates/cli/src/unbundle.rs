//! `wavemill unbundle`: the code objects in offload bundles, LLVM's offload binaries and programs, as files of their own.

use crate::input::{choose, label, objects, open, target_of};
use crate::json::Json;
use clap::Args;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavemill_object::bundle::CodeObject;

/// Arguments of `unbundle`.
#[derive(Args)]
#[command(
    after_help = "FILE is a bundle, also compressed, an offload binary of LLVM's, or a program or host object with HIP or OpenMP code in it. The files are called NAME-TARGET.co, with \
a number before .co\nwhen several source files have code for a target."
)]
pub struct Unbundle {
    /// The bundle or program
    file: String,
    /// Where to write the code objects
    #[arg(short, value_name = "DIR", default_value = ".")]
    output: PathBuf,
    /// Only code for this target: gfx90a, gfx90a:xnack-, or an id that --list shows
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Only say what there is
    #[arg(long)]
    list: bool,
    /// With --list: as JSON
    #[arg(long, requires = "list")]
    json: bool,
}

/// Runs `wavemill unbundle`.
pub fn run(args: &Unbundle) -> ExitCode {
    match unbundle(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => crate::output::fail("unbundle", &message),
    }
}

fn unbundle(args: &Unbundle) -> Result<(), String> {
    let bytes = open(&args.file)?;
    let objects = match &args.target {
        Some(target) => choose(&args.file, &bytes, Some(target))?,
        None => objects(&args.file, &bytes)?,
    };
    if args.list {
        return crate::output::written(list(&objects, args.json));
    }
    std::fs::create_dir_all(&args.output).map_err(|e| format!("{}: {e}", args.output.display()))?;
    let stem = Path::new(&args.file).file_stem().map_or("code".into(), |s| s.to_string_lossy());
    let mut names: HashMap<String, usize> = HashMap::new();
    for object in &objects {
        let target = target_of(object).map(|t| t.to_string());
        let target = target.as_deref().and_then(|t| t.split_once("--")).map_or("unknown", |t| t.1);
        // Colons are not for file names, and what a file calls itself must not lead out of the directory.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let target: String = target.chars().map(|c| if plain(c) { c } else { '_' }).collect();
        let base = format!("{stem}-{target}");
        let again = names.entry(base.clone()).or_insert(0usize);
        let name = if *again == 0 { format!("{base}.co") } else { format!("{base}.{again}.co") };
        *again += 1;
        let path = args.output.join(name);
        std::fs::write(&path, &object.data).map_err(|e| format!("{}: {e}", path.display()))?;
        crate::output::show(format!("{}\n", path.display()).as_bytes());
    }
    if objects.is_empty() {
        return Err(format!("{}: there is no code for a GPU in it", args.file));
    }
    Ok(())
}

fn list(objects: &[CodeObject<'_>], json: bool) -> std::io::Result<()> {
    use std::io::Write;
    let mut out = crate::output::stdout();
    if json {
        let mut json = Json::new(out);
        json.array(|j| {
            for object in objects {
                j.object(|j| {
                    j.field("id", object.id.as_str());
                    j.field("target", target_of(object).map(|t| t.to_string()).as_deref());
                    j.field("bundle", object.bundle);
                    j.field("size", object.data.len());
                });
            }
        });
        return json.finish();
    }
    for object in objects {
        writeln!(out, "{:>6}  {:>10} bytes  {}", object.bundle, object.data.len(), label(object))?;
    }
    Ok(())
}
