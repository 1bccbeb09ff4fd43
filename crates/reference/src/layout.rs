//! Pages and the two ways to lay them out.

use std::fmt::Write as _;

/// A part of a page below a heading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Block {
    /// Running text.
    Text(String),
    /// Lines as they are.
    Code(Vec<String>),
    /// Rows of cells under a head; an empty head is not shown in text.
    Table {
        /// Names of the columns.
        head: Vec<String>,
        /// Cells.
        rows: Vec<Vec<String>>,
    },
}

impl Block {
    /// A table.
    pub fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Block {
        Block::Table { head: head.iter().map(|&h| h.to_owned()).collect(), rows: rows.collect() }
    }
}

/// A title and headed parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    title: String,
    parts: Vec<(String, Block)>,
}

impl Page {
    /// A page with nothing on it.
    pub fn new(title: &str) -> Page {
        Page { title: title.to_owned(), parts: Vec::new() }
    }

    /// Adds a part.
    pub fn push(&mut self, heading: &str, block: Block) {
        self.parts.push((heading.to_owned(), block));
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        for (heading, block) in &self.parts {
            let _ = writeln!(out, "\n{heading}");
            match block {
                Block::Text(text) => {
                    for line in wrap(text, 100) {
                        let _ = writeln!(out, "  {line}");
                    }
                }
                Block::Code(lines) => lines.iter().for_each(|l| {
                    let _ = writeln!(out, "  {l}");
                }),
                Block::Table { rows, .. } => columns(rows, &mut out),
            }
        }
        out
    }

    /// For the web.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n", self.title);
        for (heading, block) in &self.parts {
            let _ = writeln!(out, "\n## {heading}\n");
            match block {
                Block::Text(text) => {
                    let _ = writeln!(out, "{}", escape(text));
                }
                Block::Code(lines) => {
                    let _ = writeln!(out, "```\n{}\n```", lines.join("\n"));
                }
                Block::Table { head, rows } => {
                    let cells =
                        |row: &[String]| row.iter().map(|c| format!(" {} |", escape(c))).collect::<String>();
                    let _ = writeln!(out, "|{}", cells(head));
                    let _ = writeln!(out, "|{}", "---|".repeat(head.len()));
                    for row in rows {
                        let _ = writeln!(out, "|{}", cells(row));
                    }
                }
            }
        }
        out
    }
}

/// Text that Markdown must not read as markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '_' | '|' | '<' | '>' | '~' | '[' | ']' | '{' | '}' | '\\' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn columns(rows: &[Vec<String>], out: &mut String) {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    for row in rows {
        let mut line = String::from("  ");
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// Breaks text into lines of at most so many characters, at spaces.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |l| l.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else if let Some(last) = lines.last_mut() {
            if line > 0 {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_at_spaces() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("aaaaaa b", 3), ["aaaaaa", "b"]);
        assert_eq!(wrap("", 3), [""]);
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("S0 | S1 < x_y"), "S0 \\| S1 \\< x\\_y");
    }
}
