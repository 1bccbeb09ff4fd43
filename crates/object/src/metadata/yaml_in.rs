//! YAML text to a document.

use super::{Error, Location, MAX_DEPTH, Map, Value};
use saphyr_parser::{Event, Parser, Span, Tag};
use std::borrow::Cow;

/// Reads the first document of a YAML text.
///
/// Scalars are typed by what they look like, quoted or not; `!str`, `!int`, `!bool`, `!float` and `!nil` say
/// otherwise. Anchors and aliases are refused: metadata has no use for them, and they make small texts large.
pub fn from_yaml(text: &str) -> Result<Value<'static>, Error> {
    let mut parser = Parser::new_from_str(text);
    let mut stack: Vec<Open> = Vec::new();
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|e| error_at(e.marker().line(), e.marker().col(), e.info()))?;
        let done = match event {
            Event::Scalar(text, _, anchor, tag) => {
                no_anchor(anchor, &span)?;
                // Only the key's text counts: LLVM's reader never looks at a key's tag.
                let is_key = matches!(stack.last(), Some(Open::Map(_, None)));
                Some(scalar(text.into_owned().into(), tag.filter(|_| !is_key).as_deref(), &span)?)
            }
            Event::SequenceStart(anchor, _) => {
                no_anchor(anchor, &span)?;
                push(&mut stack, Open::Array(Vec::new()), &span)?;
                None
            }
            Event::MappingStart(anchor, _) => {
                no_anchor(anchor, &span)?;
                push(&mut stack, Open::Map(Map::new(), None), &span)?;
                None
            }
            Event::SequenceEnd | Event::MappingEnd => match stack.pop() {
                Some(Open::Array(elements)) => Some(Value::Array(elements)),
                Some(Open::Map(map, _)) => Some(Value::Map(map)),
                None => None,
            },
            Event::Alias(_) => return Err(error(&span, "aliases have no place in metadata")),
            Event::DocumentEnd | Event::StreamEnd => break,
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => None,
        };
        let Some(value) = done else { continue };
        match stack.last_mut() {
            None => return Ok(value),
            Some(Open::Array(elements)) => elements.push(value),
            Some(Open::Map(_, key @ None)) => {
                if matches!(value, Value::Array(_) | Value::Map(_)) {
                    return Err(error(&span, "a key must be a scalar"));
                }
                *key = Some(value);
            }
            Some(Open::Map(map, key @ Some(_))) => {
                if let Some(key) = key.take() {
                    let text = key.scalar_text(false).into_owned();
                    if map.insert(key, value).is_some() {
                        return Err(error(&span, &format!("key '{text}' is there twice")));
                    }
                }
            }
        }
    }
    Err(Error { message: "there is no document".into(), place: Location::Line(1, 1) })
}

/// Line and column, both from 1, of the node that a [`Location::Path`] names: keys and, in brackets, numbers of elements,
/// separated by blanks. Where a key is missing, its mapping.
pub fn locate(text: &str, path: &str) -> Option<(usize, usize)> {
    let mut wanted: Vec<Step<'_>> = Vec::new();
    for word in path.strip_prefix("the document").unwrap_or(path).split_whitespace() {
        let (key, rest) = word.split_at(word.find('[').unwrap_or(word.len()));
        if !key.is_empty() {
            wanted.push(Step::Key(key));
        }
        for index in rest.split('[').filter_map(|i| i.strip_suffix(']')?.parse().ok()) {
            wanted.push(Step::Index(index));
        }
    }
    let mut parser = Parser::new_from_str(text);
    // The containers around the next node, each with how far it is: an element's number, or the key just read.
    let mut open: Vec<(Option<usize>, Option<String>)> = Vec::new();
    while let Some(Ok((event, span))) = parser.next_event() {
        let place = (span.start.line(), span.start.col() + 1);
        let is_key = matches!(open.last(), Some((None, None)));
        let starts = matches!(event, Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..));
        if starts && !is_key {
            let here = open.iter().zip(&wanted).all(|((index, key), step)| match step {
                Step::Key(name) => key.as_deref() == Some(*name),
                Step::Index(n) => *index == Some(*n),
            });
            if here && open.len() == wanted.len() {
                return Some(place);
            }
        }
        match event {
            Event::Scalar(text, ..) if is_key => {
                if let Some((_, key)) = open.last_mut() {
                    *key = Some(text.into_owned());
                }
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((Some(0), None));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((None, None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => drop(open.pop()),
            Event::Scalar(..) => {}
            _ => continue,
        }
        // A node has ended: its container goes on.
        match open.last_mut() {
            Some((Some(index), _)) => *index += 1,
            Some((None, key)) => *key = None,
            None => return None,
        }
    }
    None
}

/// A step from a node to one in it.
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

/// A container whose end has not been seen.
enum Open {
    Array(Vec<Value<'static>>),
    Map(Map<'static>, Option<Value<'static>>),
}

fn push(stack: &mut Vec<Open>, open: Open, span: &Span) -> Result<(), Error> {
    if stack.len() >= MAX_DEPTH {
        return Err(error(span, &format!("nested more than {MAX_DEPTH} deep")));
    }
    stack.push(open);
    Ok(())
}

fn no_anchor(anchor: usize, span: &Span) -> Result<(), Error> {
    if anchor == 0 { Ok(()) } else { Err(error(span, "anchors have no place in metadata")) }
}

fn scalar(text: Cow<'static, str>, tag: Option<&Tag>, span: &Span) -> Result<Value<'static>, Error> {
    let tag = tag.map(|t| (t.handle.as_str(), t.suffix.as_str()));
    let typed = Value::from_scalar(text.clone());
    let fits = match tag {
        None | Some(("tag:yaml.org,2002:", _)) => return Ok(typed),
        Some((_, "str")) => return Ok(Value::Str(text)),
        Some((_, "nil")) => return Ok(Value::Nil),
        Some((_, "int")) => matches!(typed, Value::Int(_) | Value::UInt(_)),
        Some((_, "bool")) => matches!(typed, Value::Bool(_)),
        Some((_, "float")) => {
            return super::parse_float(&text).map(Value::Float).ok_or_else(|| not_a(&text, "float", span));
        }
        Some((handle, suffix)) => return Err(error(span, &format!("unknown tag '{handle}{suffix}'"))),
    };
    if fits { Ok(typed) } else { Err(not_a(&text, tag.map_or("", |t| t.1), span)) }
}

fn not_a(text: &str, kind: &str, span: &Span) -> Error {
    error(span, &format!("'{text}' is tagged '!{kind}' but is none"))
}

fn error(span: &Span, message: &str) -> Error {
    error_at(span.start.line(), span.start.col(), message)
}

fn error_at(line: usize, column: usize, message: &str) -> Error {
    Error { message: message.into(), place: Location::Line(line, column + 1) }
}
