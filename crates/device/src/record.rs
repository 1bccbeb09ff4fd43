//! A record of what happened in which order, and the same again: waves' turns, packets, calls of the host.
//!
//! A record is text, an event a line. [`Log::note`] says what happens now; when a record is repeated, it is an error if the
//! record has something else there. [`Log::is_next`] is for what happens on several threads, of which one must come first.
//!
//! A record may come from anywhere: it takes as much memory as its text, is only compared, and lines of it in messages are cut
//! and have no control characters.

use crate::terminal::visible;
use std::fmt;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wavemill_wave::{Event, Wave, WaveId};

/// The first line of every record.
const HEADER: &str = "wavemill record 1";

/// Characters of a line that are shown.
const SHOWN: usize = 200;

/// A line of a record, for messages.
fn shown(line: &str) -> String {
    let mut text: String = line.chars().take(SHOWN).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    String::from_utf8_lossy(&visible(text.as_bytes())).into_owned()
}

/// What happens is not what the record says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch(pub String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

enum Mode {
    Record(Box<dyn Write + Send>),
    Replay(Events),
}

/// The events of a record, and where the next one begins.
struct Events {
    text: String,
    next: usize,
}

impl Events {
    /// The event that comes next.
    fn peek(&self) -> Option<&str> {
        self.text[self.next..].lines().next()
    }

    /// It has come.
    fn pass(&mut self) {
        let rest = &self.text[self.next..];
        self.next += rest.find('\n').map_or(rest.len(), |end| end + 1);
    }
}

struct State {
    mode: Mode,
    /// Events so far.
    at: usize,
    failed: Option<Mismatch>,
}

/// Is told about a mismatch before whoever came upon it.
pub type OnMismatch = Box<dyn Fn(&Mismatch) + Send + Sync>;

/// A record that is being written or repeated.
pub struct Log {
    state: Mutex<State>,
    on_mismatch: OnMismatch,
}

impl Log {
    fn new(mode: Mode, on_mismatch: OnMismatch) -> Log {
        let state = State { mode, at: 0, failed: None };
        Log { state: Mutex::new(state), on_mismatch }
    }

    /// Writes a record.
    pub fn record(mut out: Box<dyn Write + Send>) -> std::io::Result<Log> {
        out.write_all(format!("{HEADER}\n").as_bytes())?;
        Ok(Log::new(Mode::Record(out), Box::new(|_| {})))
    }

    /// Repeats a record.
    pub fn replay(text: String, on_mismatch: OnMismatch) -> Result<Log, String> {
        let mut events = Events { text, next: 0 };
        match events.peek() {
            Some(HEADER) => {}
            Some(other) => {
                let other = shown(other);
                return Err(format!("line 1: `{other}` is not `{HEADER}`, with which records begin"));
            }
            None => return Err("it is empty, not even a record of nothing".into()),
        }
        events.pass();
        Ok(Log::new(Mode::Replay(events), on_mismatch))
    }

    /// A record is repeated.
    pub fn replays(&self) -> bool {
        matches!(self.lock().mode, Mode::Replay(_))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This happens now.
    pub fn note(&self, event: &str) -> Result<(), Mismatch> {
        let mut state = self.lock();
        let done = state.advance(event);
        drop(state);
        done.inspect_err(|m| (self.on_mismatch)(m))
    }

    /// Whether this may happen now: always while a record is written; while one is repeated, when it comes next, or when
    /// the record has been left anyway.
    pub fn is_next(&self, event: &str) -> bool {
        let state = self.lock();
        match &state.mode {
            Mode::Record(_) => true,
            Mode::Replay(events) => state.failed.is_some() || events.peek().is_none_or(|l| l == event),
        }
    }

    /// Whether the record that is repeated goes on with a line that begins so.
    pub fn goes_on_with(&self, beginning: &str) -> bool {
        let state = self.lock();
        match &state.mode {
            Mode::Record(_) => false,
            Mode::Replay(events) => events.peek().is_some_and(|l| l.starts_with(beginning)),
        }
    }

    /// Nothing more happens: an error when the record goes on.
    pub fn finish(&self) -> Result<(), Mismatch> {
        let state = self.lock();
        if let Some(mismatch) = &state.failed {
            return Err(mismatch.clone());
        }
        match &state.mode {
            Mode::Record(_) => Ok(()),
            Mode::Replay(events) => match events.peek() {
                None => Ok(()),
                Some(line) => Err(Mismatch(format!(
                    "line {}: the record goes on with `{}`, the run has ended",
                    state.at + 2,
                    shown(line)
                ))),
            },
        }
    }
}

impl State {
    fn advance(&mut self, event: &str) -> Result<(), Mismatch> {
        if let Some(mismatch) = &self.failed {
            return Err(mismatch.clone());
        }
        let found = match &mut self.mode {
            Mode::Record(out) => {
                let written = out.write_all(format!("{event}\n").as_bytes());
                written.map_err(|e| format!("the record cannot be written: {e}"))
            }
            Mode::Replay(events) => match events.peek() {
                Some(line) if line == event => {
                    events.pass();
                    Ok(())
                }
                // The header is line 1.
                Some(line) => {
                    let line = shown(line);
                    Err(format!("line {}: the record says `{line}`, this run does `{event}`", self.at + 2))
                }
                None => Err(format!("the record ends after line {}, this run does `{event}`", self.at + 1)),
            },
        };
        self.at += 1;
        found.map_err(|text| {
            let mismatch = Mismatch(text);
            self.failed = Some(mismatch.clone());
            mismatch
        })
    }
}

/// A wave's turn in a record: which wave, how many instructions, what ended it.
pub(crate) fn turn_line(wave: &Wave, instructions: u64, event: &Event) -> String {
    let WaveId { dispatch, group: [x, y, z], wave: number } = wave.id;
    let how = match event {
        Event::End => "end",
        Event::Barrier => "barrier",
        Event::Preempted => "preempted",
        Event::Fault(_) => "fault",
        Event::Trap(_) => "trap",
        Event::Exception { .. } => "exception",
        Event::Message { .. } => "message",
        Event::Halt => "halt",
        Event::Stopped => "stopped",
    };
    format!("wave {dispatch} {x},{y},{z} {number} {instructions} {how}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(text: &str) -> Log {
        Log::replay(text.to_owned(), Box::new(|_| {})).unwrap()
    }

    #[test]
    fn what_was_recorded_is_repeated_and_nothing_else() {
        let log = replay("wavemill record 1\na 1\nb 1\n");
        assert!(log.is_next("a 1") && !log.is_next("b 1"));
        assert_eq!(log.note("a 1"), Ok(()));
        assert!(log.finish().unwrap_err().0.starts_with("line 3: the record goes on with `b 1`"));
        let wrong = log.note("b 2").unwrap_err();
        assert_eq!(wrong.0, "line 3: the record says `b 1`, this run does `b 2`");
        assert_eq!(log.note("b 1"), Err(wrong), "there is no way back");
        let log = replay("wavemill record 1\n");
        assert_eq!(log.note("x").unwrap_err().0, "the record ends after line 1, this run does `x`");
        let refused = |text: &str| Log::replay(text.to_owned(), Box::new(|_| {})).is_err();
        assert!(refused("something") && refused(""));
    }

    /// A record of a stranger: whatever is in it, messages are short and command no terminal.
    #[test]
    fn any_record() {
        let told = |text: String| Log::replay(text, Box::new(|_| {})).err().unwrap_or_default();
        let first = told(format!("\x1b]0;owned\x07{}", "x".repeat(1 << 20)));
        assert!(first.starts_with("line 1: `\\x1b]0;owned\\x07xxx") && first.len() < 500, "{first}");
        let log = replay(&format!("wavemill record 1\n\x1b[2J{}\n", "é".repeat(1 << 20)));
        assert!(!log.is_next("a"));
        for wrong in [log.note("a").unwrap_err().0, log.finish().unwrap_err().0] {
            assert!(wrong.starts_with("line 2: the record says `\\x1b[2Jéé") && wrong.len() < 900, "{wrong}");
        }
        let log = replay("wavemill record 1\r\n\r\n\0\n");
        assert_eq!(log.note(""), Ok(()));
        let left = log.finish().unwrap_err().0;
        assert_eq!(left, "line 3: the record goes on with `\\x00`, the run has ended");
    }
}
