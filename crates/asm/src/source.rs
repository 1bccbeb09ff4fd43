//! Source text and what is said about it: buffers (files, included files, macro expansions), spans into them, and
//! diagnostics rendered the way LLVM tools print them.
//!
//! Buffers only ever get added while a file is assembled, and the lexer borrows from them for that whole time. The
//! list is therefore a chain of write-once cells: pushing needs no exclusive borrow, and nothing ever moves.

use std::borrow::Cow;
use std::cell::OnceCell;

/// A stretch of source text: bytes `start..end` of one buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Span {
    /// Index of the buffer in its [`SourceMap`].
    pub buffer: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from the start of `self` to the end of `other` (both in one buffer).
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.start), ..self }
    }

    /// The empty span at the end of this one.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The output cannot be trusted.
    Error,
    /// Probably not what was meant.
    Warning,
    /// Belongs to the diagnostic before it.
    Note,
}

/// One thing to tell the user about a place in the source. A pointer to its [`Message`], so that the results of
/// everything that may fail stay small.
#[derive(Clone, Debug)]
pub struct Diag(Box<Message>);

/// What a [`Diag`] says.
#[derive(Clone, Debug)]
pub struct Message {
    /// How bad it is.
    pub severity: Severity,
    /// Where; the caret points at the start. `None` when no place in the source is to blame.
    pub span: Option<Span>,
    /// What.
    pub message: Cow<'static, str>,
    /// Further places and hints that belong to it.
    pub notes: Vec<Diag>,
    /// Already recorded elsewhere: the caller only has to give up on the statement.
    pub(crate) silent: bool,
}

impl std::ops::Deref for Diag {
    type Target = Message;
    fn deref(&self) -> &Message {
        &self.0
    }
}

impl std::ops::DerefMut for Diag {
    fn deref_mut(&mut self) -> &mut Message {
        &mut self.0
    }
}

impl Diag {
    fn new(severity: Severity, span: Option<Span>, message: Cow<'static, str>) -> Diag {
        Diag(Box::new(Message { severity, span, message, notes: Vec::new(), silent: false }))
    }

    /// An error at `span`.
    #[cold]
    pub fn error(span: Span, message: impl Into<Cow<'static, str>>) -> Diag {
        Diag::new(Severity::Error, Some(span), message.into())
    }

    /// A warning at `span`.
    #[cold]
    pub fn warning(span: Span, message: impl Into<Cow<'static, str>>) -> Diag {
        Diag::new(Severity::Warning, Some(span), message.into())
    }

    /// A note at `span`.
    #[cold]
    pub fn note(span: Span, message: impl Into<Cow<'static, str>>) -> Diag {
        Diag::new(Severity::Note, Some(span), message.into())
    }

    /// An error with no place in the source, such as one found while the object is laid out.
    #[cold]
    pub fn global(message: impl Into<Cow<'static, str>>) -> Diag {
        Diag::new(Severity::Error, None, message.into())
    }

    /// An error that was reported already and must not be reported again.
    #[cold]
    pub(crate) fn silent() -> Diag {
        let mut diag = Diag::new(Severity::Error, None, Cow::Borrowed(""));
        diag.silent = true;
        diag
    }

    /// The same diagnostic with a note added.
    pub fn with_note(mut self, note: Diag) -> Diag {
        self.notes.push(note);
        self
    }
}

/// Where a buffer came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The file given to the assembler.
    Main,
    /// Brought in by `.include` or `.incbin` at this place.
    Include(Span),
    /// The expansion of a macro, `.rept`, `.irp` or `.irpc` written at this place.
    Expansion(Span),
}

/// One piece of source text.
#[derive(Debug)]
pub struct Buffer {
    /// File name, or `<instantiation>`.
    pub name: Box<str>,
    /// Its bytes.
    pub text: Box<[u8]>,
    /// Where it came from.
    pub origin: Origin,
    next: OnceCell<Box<Buffer>>,
}

/// All source text of one assembly, owned. Fill it through [`Sources`], read it through [`SourceMap::buffers`].
#[derive(Debug, Default)]
pub struct SourceMap {
    head: OnceCell<Box<Buffer>>,
    /// `# line "file"` markers in the order they were read.
    pub markers: Vec<LineMarker>,
}

/// A C preprocessor's `# 12 "file.c"`: lines after it are counted from there in messages.
#[derive(Clone, Debug)]
pub struct LineMarker {
    /// Where the marker stands.
    pub at: Span,
    /// The line number of the line after it.
    pub line: i64,
    /// The file named.
    pub file: String,
}

impl Drop for SourceMap {
    // The derived drop would recurse once per buffer; a file may have a million macro expansions.
    fn drop(&mut self) {
        let mut next = self.head.take();
        while let Some(mut buffer) = next {
            next = buffer.next.take();
        }
    }
}

impl SourceMap {
    /// The buffers in order: a span's `buffer` indexes this.
    pub fn buffers(&self) -> Vec<&Buffer> {
        let mut all = Vec::new();
        let mut cell = &self.head;
        while let Some(buffer) = cell.get() {
            all.push(&**buffer);
            cell = &buffer.next;
        }
        all
    }

    /// Writes diagnostics as LLVM tools do: location, message, source line and caret, and the way through includes
    /// and macros that led there.
    pub fn render(&self, diagnostics: &[Diag]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut renderer = Renderer { buffers: self.buffers(), markers: &self.markers, lines: Vec::new() };
        renderer.lines.resize_with(renderer.buffers.len(), || None);
        for diag in diagnostics {
            renderer.diag(diag, &mut out);
        }
        out
    }
}

/// The growing end of a [`SourceMap`]: adds buffers and hands out their text for the whole assembly's lifetime.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    tail: &'a OnceCell<Box<Buffer>>,
    buffers: Vec<&'a Buffer>,
    bytes: usize,
}

impl<'a> Sources<'a> {
    /// Starts filling an empty map.
    pub fn new(map: &'a SourceMap) -> Self {
        let buffers = map.buffers();
        let tail = buffers.last().map_or(&map.head, |b| &b.next);
        Sources { tail, bytes: buffers.iter().map(|b| b.text.len()).sum(), buffers }
    }

    /// Adds a buffer and returns its index.
    pub fn add(&mut self, name: &str, text: Vec<u8>, origin: Origin) -> u32 {
        self.bytes += text.len();
        let buffer = self.tail.get_or_init(|| {
            Box::new(Buffer { name: name.into(), text: text.into(), origin, next: OnceCell::new() })
        });
        self.tail = &buffer.next;
        self.buffers.push(buffer);
        (self.buffers.len() - 1) as u32
    }

    /// The buffer with this index.
    pub fn get(&self, index: u32) -> &'a Buffer {
        self.buffers[index as usize]
    }

    /// Bytes of text held so far: expansions count, so that runaway macros can be stopped.
    pub fn total_bytes(&self) -> usize {
        self.bytes
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &'a [u8] {
        let text = &*self.get(span.buffer).text;
        text.get(span.start as usize..span.end as usize).unwrap_or(b"")
    }
}

struct Renderer<'m> {
    buffers: Vec<&'m Buffer>,
    markers: &'m [LineMarker],
    /// Newline offsets of each buffer that a message has pointed into.
    lines: Vec<Option<Vec<u32>>>,
}

impl Renderer<'_> {
    fn diag(&mut self, diag: &Diag, out: &mut Vec<u8>) {
        if diag.silent {
            return;
        }
        let Some(span) = diag.span else {
            out.extend_from_slice(b"<unknown>:0: ");
            self.message(diag, out);
            return self.notes(diag, out);
        };
        self.includes(span, out);
        self.located(span, diag, out);
        if diag.severity != Severity::Note {
            self.expansions(span, out);
        }
        self.notes(diag, out);
    }

    fn notes(&mut self, diag: &Diag, out: &mut Vec<u8>) {
        for note in &diag.notes {
            self.diag(note, out);
        }
    }

    fn message(&self, diag: &Diag, out: &mut Vec<u8>) {
        let label = match diag.severity {
            Severity::Error => "error: ",
            Severity::Warning => "warning: ",
            Severity::Note => "note: ",
        };
        out.extend_from_slice(label.as_bytes());
        out.extend_from_slice(diag.message.as_bytes());
        out.push(b'\n');
    }

    /// One-based line of an offset.
    fn line(&mut self, buffer: u32, offset: u32) -> usize {
        let text = &self.buffers[buffer as usize].text;
        let starts = self.lines[buffer as usize].get_or_insert_with(|| {
            text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i as u32).collect()
        });
        starts.partition_point(|&newline| newline < offset) + 1
    }

    /// `Included from …` lines, outermost first.
    fn includes(&mut self, span: Span, out: &mut Vec<u8>) {
        let mut chain = Vec::new();
        let mut origin = self.buffers[span.buffer as usize].origin;
        while let Origin::Include(at) = origin {
            chain.push(at);
            origin = self.buffers[at.buffer as usize].origin;
        }
        for at in chain.into_iter().rev() {
            let line = self.line(at.buffer, at.start);
            let name = &self.buffers[at.buffer as usize].name;
            out.extend_from_slice(format!("Included from {name}:{line}:\n").as_bytes());
        }
    }

    /// `while in macro instantiation` notes, innermost first.
    fn expansions(&mut self, span: Span, out: &mut Vec<u8>) {
        let mut at = span;
        loop {
            match self.buffers[at.buffer as usize].origin {
                Origin::Main => return,
                Origin::Include(from) => at = from,
                Origin::Expansion(from) => {
                    self.located(from, &Diag::note(from, "while in macro instantiation"), out);
                    at = from;
                }
            }
        }
    }

    fn located(&mut self, span: Span, diag: &Diag, out: &mut Vec<u8>) {
        let mut line = self.line(span.buffer, span.start) as i64;
        let buffer = self.buffers[span.buffer as usize];
        let text = &*buffer.text;
        let at = (span.start as usize).min(text.len());
        let is_newline = |b: &u8| matches!(b, b'\n' | b'\r');
        let start = text[..at].iter().rposition(is_newline).map_or(0, |i| i + 1);
        let end = text[at..].iter().position(is_newline).map_or(text.len(), |i| at + i);
        let (content, column) = (&text[start..end], at - start);

        let mut name: &str = &buffer.name;
        let marker =
            self.markers.iter().rev().find(|m| m.at.buffer == span.buffer && m.at.start <= span.start);
        if let Some(marker) = marker {
            let marker_line = self.line(marker.at.buffer, marker.at.start) as i64;
            line = marker.line - 1 + (line - marker_line);
            name = &marker.file;
        }
        let name = if name == "-" { "<stdin>" } else { name };
        out.extend_from_slice(format!("{name}:{line}:{}: ", column + 1).as_bytes());
        self.message(diag, out);
        source_line(content, column, out);
    }
}

/// The source line with tabs expanded and, when every character is one column wide, a caret below it.
fn source_line(content: &[u8], column: usize, out: &mut Vec<u8>) {
    const TAB: usize = 8;
    let mut width = 0;
    let mut caret = None;
    for (i, &byte) in content.iter().enumerate() {
        if i == column {
            caret = Some(width);
        }
        if byte == b'\t' {
            let next = (width / TAB + 1) * TAB;
            out.resize(out.len() + next - width, b' ');
            width = next;
        } else {
            out.push(byte);
            width += 1;
        }
    }
    out.push(b'\n');
    if content.is_ascii() {
        out.resize(out.len() + caret.unwrap_or(width), b' ');
        out.extend_from_slice(b"^\n");
    }
}
