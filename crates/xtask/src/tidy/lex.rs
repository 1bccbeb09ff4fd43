//! Rust as tokens: just enough to find modules, paths and tests. Comments are kept apart, strings have no content.

/// What a token is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// An identifier, keyword or lifetime.
    Word(String),
    /// A string, character or number.
    Literal(String),
    /// Any other character.
    Mark(char),
}

impl Token {
    /// Is it this word?
    pub fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(w) if w == word)
    }

    /// Is it this character?
    pub fn mark(&self, mark: char) -> bool {
        *self == Token::Mark(mark)
    }

    /// The word, if it is one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Token::Word(w) => Some(w),
            _ => None,
        }
    }
}

/// A file's tokens and comments, each with its line.
#[derive(Default, Debug)]
pub struct Lexed {
    pub tokens: Vec<(Token, usize)>,
    pub comments: Vec<(String, usize)>,
}

/// Takes a file apart.
pub fn lex(text: &str) -> Lexed {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Lexed::default();
    let (mut i, mut line) = (0, 1);
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    while i < chars.len() {
        let (start, first) = (i, line);
        match (chars[i], at(i + 1)) {
            ('\n', _) => {
                line += 1;
                i += 1;
            }
            (c, _) if c.is_whitespace() => i += 1,
            ('/', '/') => {
                while i < chars.len() && chars[i] != '\n' {
                    i += 1;
                }
                out.comments.push((chars[start..i].iter().collect(), first));
            }
            ('/', '*') => {
                let mut depth = 0;
                while i < chars.len() {
                    match (chars[i], at(i + 1)) {
                        ('/', '*') => (depth, i) = (depth + 1, i + 2),
                        ('*', '/') => (depth, i) = (depth - 1, i + 2),
                        (c, _) => (line, i) = (line + (c == '\n') as usize, i + 1),
                    }
                    if depth == 0 {
                        break;
                    }
                }
                out.comments.push((chars[start..i.min(chars.len())].iter().collect(), first));
            }
            ('r' | 'b' | 'c', '"' | '#' | 'r') if raw_string(&chars, i).is_some() => {
                let (body, hashes) = raw_string(&chars, i).unwrap_or((i + 1, 0));
                i = body;
                while i < chars.len() && !(chars[i] == '"' && (1..=hashes).all(|n| at(i + n) == '#')) {
                    line += (chars[i] == '\n') as usize;
                    i += 1;
                }
                let text = chars[body..i.min(chars.len())].iter().collect();
                out.tokens.push((Token::Literal(text), first));
                i += 1 + hashes;
            }
            ('"', _) | ('b' | 'c', '"') => {
                i += if chars[i] == '"' { 1 } else { 2 };
                let body = i;
                while i < chars.len() && chars[i] != '"' {
                    line += (chars[i] == '\n') as usize;
                    i += if chars[i] == '\\' && at(i + 1) != '\n' { 2 } else { 1 };
                }
                let text = chars[body..i.min(chars.len())].iter().collect();
                out.tokens.push((Token::Literal(text), first));
                i += 1;
            }
            // A character, unless it is a lifetime.
            ('\'', c) if c == '\\' || at(i + 2) == '\'' => {
                i += if c == '\\' { 3 } else { 2 };
                while i < chars.len() && chars[i] != '\'' {
                    i += 1;
                }
                i += 1;
                out.tokens.push((Token::Literal(String::new()), first));
            }
            (c, _) if c.is_alphanumeric() || c == '_' || c == '\'' => {
                i += 1;
                while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '_') {
                    i += 1;
                }
                // r#gen is the word `gen`.
                if chars[start..i] == ['r'] && at(i) == '#' {
                    i += 1;
                    let word = i;
                    while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '_') {
                        i += 1;
                    }
                    out.tokens.push((Token::Word(chars[word..i].iter().collect()), first));
                    continue;
                }
                let word: String = chars[start..i].iter().collect();
                let number = c.is_ascii_digit();
                out.tokens.push((if number { Token::Literal(word) } else { Token::Word(word) }, first));
            }
            (c, _) => {
                out.tokens.push((Token::Mark(c), first));
                i += 1;
            }
        }
    }
    out
}

/// Where the content of a raw string at `i` starts, and how many `#` end it.
fn raw_string(chars: &[char], i: usize) -> Option<(usize, usize)> {
    let mut at = i;
    if matches!(chars.get(at), Some('b' | 'c')) {
        at += 1;
    }
    if chars.get(at) != Some(&'r') {
        return None;
    }
    at += 1;
    let hashes = chars[at..].iter().take_while(|c| **c == '#').count();
    (chars.get(at + hashes) == Some(&'"')).then_some((at + hashes + 1, hashes))
}

/// The index after the bracket that closes the one at `open`.
pub fn after_closing(tokens: &[(Token, usize)], open: usize) -> usize {
    let mut depth = 0;
    for (i, (token, _)) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_hide_what_is_in_them() {
        let text = "a /* b /* c */ */ \"d \\\" e\" r#\"f\"# 'g' 'h: loop // i\n j r#gen b\"k\" '\\n' 1.5";
        let lexed = lex(text);
        let words: Vec<&str> = lexed.tokens.iter().filter_map(|(t, _)| t.word()).collect();
        assert_eq!(words, ["a", "'h", "loop", "j", "gen"]);
        assert_eq!(lexed.comments.len(), 2);
        assert!(lexed.tokens.iter().any(|(t, line)| t.is("j") && *line == 2));
    }
}
