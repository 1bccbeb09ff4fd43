//! `wavemill completions` and `wavemill man`: what shells and manuals know about the command, made from its own
//! definition.

use clap::{Args, Command};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `completions`.
#[derive(Args)]
#[command(after_help = "For this shell only:    source <(wavemill completions bash)\n\
For good:\n  bash  wavemill completions bash > ~/.local/share/bash-completion/completions/wavemill\n  \
zsh   wavemill completions zsh > a directory of $fpath, as _wavemill\n  \
fish  wavemill completions fish > ~/.config/fish/completions/wavemill.fish")]
pub struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the completions of a shell.
pub fn completions(args: &Completions, mut command: Command) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "wavemill", &mut text);
    crate::print(&text)
}

/// Arguments of `man`.
#[derive(Args)]
pub struct Man {
    /// Where to write wavemill.1 and a page for each command
    directory: PathBuf,
}

/// Writes the manual's pages.
pub fn man(args: &Man, command: Command) -> ExitCode {
    let written = std::fs::create_dir_all(&args.directory)
        .and_then(|()| clap_mangen::generate_to(command, &args.directory));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            crate::output::message(format_args!("wavemill man: {}: {e}", args.directory.display()));
            ExitCode::FAILURE
        }
    }
}
