//! What an earlier `bench --opencl --json` said.

/// A kernel's time on an engine.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The kernel.
    pub kernel: String,
    /// The engine, or `pocl`.
    pub engine: String,
    /// CPU time.
    pub seconds: f64,
}

/// Reads a file; the error says what is wrong with it.
pub fn read(path: &str) -> Result<Vec<Entry>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let all = entries(&text);
    match all.is_empty() {
        true => Err(format!("{path}: not what bench --opencl --json writes: it has no results")),
        false => Ok(all),
    }
}

/// A piece of JSON.
#[derive(Clone, PartialEq, Debug)]
enum Token {
    Text(String),
    Word(String),
    Mark(char),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                let mut s = String::new();
                while let Some(c) = rest.next().filter(|&c| c != '"') {
                    s.push(if c == '\\' { rest.next().unwrap_or('\\') } else { c });
                }
                all.push(Token::Text(s));
            }
            c if c.is_whitespace() => {}
            '{' | '}' | '[' | ']' | ':' | ',' => all.push(Token::Mark(c)),
            c => {
                let mut s = String::from(c);
                while let Some(c) = rest.next_if(|c| !c.is_whitespace() && !"{}[]:,\"".contains(*c)) {
                    s.push(c);
                }
                all.push(Token::Word(s));
            }
        }
    }
    all
}

/// The objects that have a kernel, an engine and a time.
fn entries(text: &str) -> Vec<Entry> {
    let mut all = Vec::new();
    let (mut kernel, mut engine, mut seconds) = (None, None, None);
    let tokens = tokens(text);
    for (i, token) in tokens.iter().enumerate() {
        match (token, tokens.get(i + 1), tokens.get(i + 2)) {
            (Token::Text(key), Some(Token::Mark(':')), Some(Token::Text(value))) if key == "kernel" => {
                kernel = Some(value.clone());
            }
            (Token::Text(key), Some(Token::Mark(':')), Some(Token::Text(value))) if key == "engine" => {
                engine = Some(value.clone());
            }
            (Token::Text(key), Some(Token::Mark(':')), Some(Token::Word(value))) if key == "cpu_seconds" => {
                seconds = value.parse().ok().filter(|s: &f64| s.is_finite() && *s > 0.0);
            }
            (Token::Mark('}'), ..) => {
                if let (Some(kernel), Some(engine), Some(seconds)) =
                    (kernel.take(), engine.take(), seconds.take())
                {
                    all.push(Entry { kernel, engine, seconds });
                }
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_results_among_other_fields() {
        let text = r#"{"host": "a \"b\" {c}", "results": [
            {"kernel": "vadd", "engine": "jit", "cpu_seconds": 0.25, "times_pocl": 2.0},
            {"kernel": "vadd", "engine": "pocl", "cpu_seconds": 1e-3}, {"kernel": "x"}]}"#;
        let entry = |engine: &str, seconds| Entry { kernel: "vadd".into(), engine: engine.into(), seconds };
        assert_eq!(entries(text), [entry("jit", 0.25), entry("pocl", 1e-3)]);
        assert_eq!(entries("[1, \"kernel\""), []);
    }
}
