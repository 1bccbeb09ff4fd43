//! Messages of any length, in pieces of seven words: what calls of fprintf are made of.
//!
//! The first word of a piece has flags for the first and the last one in bits 0 and 1, the number of words in bits 7:5
//! and the message's number above. The host chooses the number and hands it back with the first piece. A whole message
//! is a word for the stream, then the format string and its arguments in slots of eight bytes.

use super::WORDS;
use crate::printf::records::complaint;
use crate::printf::{Dialect, Printer, Slots, Stream, format};

const BEGIN: u64 = 1;
const END: u64 = 2;
const LENGTH: u32 = 5;
const NUMBER: u32 = 8;

/// A longer message is none.
const MOST_BYTES: usize = 16 << 20;

/// Messages that may have begun at once, and their bytes: every lane has one.
const MOST_OPEN: usize = 1 << 20;
const MOST_HELD: usize = 256 << 20;

/// Messages that have begun.
#[derive(Default)]
pub(super) struct Messages {
    /// Bytes of all of them.
    held: usize,
    open: Vec<Option<Vec<u8>>>,
    /// Numbers that are free again.
    free: Vec<usize>,
}

impl Messages {
    /// How many have begun and not ended.
    pub(super) fn open(&self) -> usize {
        self.open.iter().flatten().count()
    }

    /// Takes a piece. The answer is for the lane: the first word of its next piece, or the number of characters printed.
    pub(super) fn piece(&mut self, words: &[u64; WORDS], printer: &Printer) -> Result<u64, String> {
        let mut descriptor = words[0];
        if descriptor & BEGIN != 0 {
            if self.free.is_empty() && self.open.len() == MOST_OPEN {
                return Err(format!("more than {MOST_OPEN} calls of printf at once"));
            }
            let number = self.free.pop().unwrap_or(self.open.len());
            if number == self.open.len() {
                self.open.push(None);
            }
            self.open[number] = Some(Vec::new());
            descriptor = descriptor & ((1 << NUMBER) - 1) & !BEGIN | (number as u64) << NUMBER;
        }
        let number = usize::try_from(descriptor >> NUMBER).unwrap_or(usize::MAX);
        let slot = self.open.get_mut(number).filter(|m| m.is_some());
        let Some(slot) = slot else {
            return Err(format!("a piece of message {number} of printf, which has not begun"));
        };
        let Some(bytes) = slot.as_mut() else { return Err("no message".into()) };
        let count = (descriptor >> LENGTH & 7) as usize;
        bytes.extend(words[1..=count].iter().flat_map(|w| w.to_le_bytes()));
        self.held += 8 * count;
        let too_long = bytes.len() > MOST_BYTES || self.held > MOST_HELD;
        if descriptor & END == 0 && !too_long {
            return Ok(descriptor);
        }
        let message = slot.take().unwrap_or_default();
        self.held -= message.len();
        self.free.push(number);
        if too_long {
            return Err(format!("printf with too many bytes of arguments: {}", message.len()));
        }
        fprintf(&message, printer)
    }
}

/// Prints a message; the answer is the number of characters.
fn fprintf(message: &[u8], printer: &Printer) -> Result<u64, String> {
    let (control, rest) = message.split_at_checked(8).ok_or("printf without a format string")?;
    let stream = match u64::from_le_bytes(control.try_into().unwrap_or_default()) {
        0 => Stream::Out,
        1 => Stream::Err,
        other => return Err(format!("printf to stream {other:#x}, which is not known")),
    };
    let mut slots = Slots::new(rest);
    let pattern = slots.string().map_err(|_| "printf without a format string")?;
    let mut text = Vec::new();
    let result = format(pattern, Dialect::C, &mut slots, &mut text);
    printer.print(stream, &text);
    if let Err(message) = result {
        printer.note(&complaint(pattern, &message));
    }
    Ok(text.len() as u64)
}
