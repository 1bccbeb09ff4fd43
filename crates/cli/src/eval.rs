//! `wavemill eval`: a few instructions on one wave, and what they changed, lane by lane.

mod assign;
mod draw;
mod session;

use clap::Args;
use session::{Session, Stop};
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Instructions are separated by `;` or line ends. Registers that are not set are 0, all lanes are active, and the mode is
what ROCm's compilers ask for. Values, before or after the instructions:
  v0=lane  v0=lane*4+16       the lane's number, or a multiple of it
  v1=5  v1=0x7f  v1=-1.5      the same in all lanes; a number with a point is an f32
  v1=1,2,3  a0=f16:1,2        lane by lane, over and over; TYPE: in front (i32 u32 f16 f32 f64, pk: two f16)
  v[2:3]=f64:0.5  s[4:5]=7    64-bit values; `s[4:5]=buf:1,2,3` the address of memory that holds these dwords
  exec vcc m0 scc mode s0 …   as written
What changed is shown: lanes that kept their value as `.`, in rows of 16 lanes, which are DPP's rows, too.
  wavemill eval 'v_mov_b32_dpp v2, v0 row_bcast:15 row_mask:0xa' v0=lane v2=-1
  wavemill eval --gpu gfx900 's_mul_i32 s0, s1, 7; s_cmp_lg_u32 s0, 0' s1=6
  wavemill eval --interactive

Exit status: 0 they ran, 1 they could not be assembled, 2 wrong usage, 3 they faulted.";

/// Arguments of `eval`.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Eval {
    /// Instructions, and values of registers (REGISTER=VALUE)
    #[arg(value_name = "INSTRUCTIONS | REGISTER=VALUE")]
    words: Vec<String>,
    /// The GPU: a processor or a product
    #[arg(long, value_name = "NAME", default_value = "gfx90a")]
    gpu: String,
    /// Bytes of LDS
    #[arg(long, value_name = "BYTES", default_value_t = 65536)]
    lds: u32,
    /// Show numbers as i32, u32, hex, f16 (two of them), f32 or f64, instead of what the instruction is for
    #[arg(long = "as", value_name = "TYPE", value_parser = draw::Style::parse)]
    style: Option<draw::Style>,
    /// Read instructions and values line by line, and go on with the same wave
    #[arg(short, long)]
    interactive: bool,
}

/// Runs `wavemill eval`.
pub fn run(args: &Eval) -> ExitCode {
    match perform(args) {
        Ok(code) => code,
        Err(message) => {
            crate::output::message(format_args!("wavemill eval: {message}"));
            ExitCode::FAILURE
        }
    }
}

fn perform(args: &Eval) -> Result<ExitCode, String> {
    crate::environment()?;
    let mut session = Session::new(crate::gpu::processor(&args.gpu)?, args.lds, args.style)?;
    let (values, code): (Vec<&String>, Vec<&String>) = args.words.iter().partition(|w| assign::is(w));
    for text in values {
        session.assign(text)?;
    }
    if args.interactive || code.is_empty() {
        if !args.interactive {
            crate::output::message(format_args!(
                "wavemill eval: instructions are wanted, or --interactive; see `wavemill eval --help`"
            ));
            return Ok(ExitCode::from(2));
        }
        return interactive(&mut session);
    }
    let code = code.iter().map(|c| c.as_str()).collect::<Vec<_>>().join("\n");
    match session.run(&code) {
        Ok(text) => Ok(crate::print(text.as_bytes())),
        Err(Stop::Refused(message)) => Err(message),
        Err(Stop::Faulted(message)) => {
            crate::output::message(format_args!("wavemill eval: {message}"));
            Ok(ExitCode::from(crate::status::FAULT))
        }
    }
}

const COMMANDS: &str = "\
An instruction runs; REGISTER=VALUE sets a register; a register's name shows it. Also: reset, gpu NAME, as TYPE, quit.
";

/// Lines from standard input until its end. What goes wrong is said, and the next line is read.
fn interactive(session: &mut Session) -> Result<ExitCode, String> {
    let terminal = std::io::stdin().is_terminal();
    if terminal {
        eprint!("wavemill eval on {}. {COMMANDS}", session.gpu());
    }
    let mut line = String::new();
    let mut input = std::io::stdin().lock();
    loop {
        if terminal {
            eprint!("> ");
            // Without a prompt it works as well.
            let _ = std::io::stderr().flush();
        }
        line.clear();
        if input.read_line(&mut line).map_err(|e| format!("standard input: {e}"))? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let text = line.trim();
        let answer = match text.split_once(' ').unwrap_or((text, "")) {
            ("", _) => continue,
            ("quit" | "exit", "") => return Ok(ExitCode::SUCCESS),
            ("help" | "?", "") => Ok(COMMANDS.to_owned()),
            ("reset", "") => session.reset().map(|()| String::new()),
            ("gpu", name) => {
                crate::gpu::processor(name).and_then(|p| session.change(p)).map(|()| String::new())
            }
            ("as", style) => {
                draw::Style::parse(style).map(|s| session.style = Some(s)).map(|()| String::new())
            }
            _ if assign::is(text) => {
                text.split_whitespace().try_for_each(|t| session.assign(t)).map(|()| String::new())
            }
            (name, "") if assign::RegisterName::parse(name).is_ok() => session.show(name),
            _ => match session.run(text) {
                Ok(text) => Ok(text),
                Err(Stop::Refused(message) | Stop::Faulted(message)) => Err(message),
            },
        };
        match answer {
            Ok(text) => _ = crate::print(text.as_bytes()),
            Err(message) => crate::output::message(format_args!("{message}")),
        }
    }
}
