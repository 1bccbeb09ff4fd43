//! The YAML metadata of code object v2 (AMDGPU guide, "Code Object Metadata"): which keys there are, what they
//! default to, and the text that compilers put into the note.

use super::{Error, Location, Map, Value};
use std::fmt::Write;

/// The form of a value.
#[derive(Clone, Copy)]
enum Form {
    Text,
    OneOf(&'static [&'static str]),
    /// With the value that is left out.
    Integer(Option<u64>),
    Boolean,
    /// Printed on one line.
    Integers,
    Texts,
    Mapping(&'static [Key]),
    Mappings(&'static [Key]),
    /// Read and forgotten.
    Gone,
}

struct Key {
    name: &'static str,
    required: bool,
    form: Form,
}

const fn needs(name: &'static str, form: Form) -> Key {
    Key { name, required: true, form }
}

const fn may(name: &'static str, form: Form) -> Key {
    Key { name, required: false, form }
}

const ACCESS: Form = Form::OneOf(&["Default", "ReadOnly", "WriteOnly", "ReadWrite"]);
const NUMBER: Form = Form::Integer(None);
const COUNT: Form = Form::Integer(Some(0));
const REGISTER: Form = Form::Integer(Some(0xffff));

const ATTRIBUTES: &[Key] = &[
    may("ReqdWorkGroupSize", Form::Integers),
    may("WorkGroupSizeHint", Form::Integers),
    may("VecTypeHint", Form::Text),
    may("RuntimeHandle", Form::Text),
];

const VALUE_KINDS: &[&str] = &[
    "ByValue",
    "GlobalBuffer",
    "DynamicSharedPointer",
    "Sampler",
    "Image",
    "Pipe",
    "Queue",
    "HiddenGlobalOffsetX",
    "HiddenGlobalOffsetY",
    "HiddenGlobalOffsetZ",
    "HiddenNone",
    "HiddenPrintfBuffer",
    "HiddenHostcallBuffer",
    "HiddenDefaultQueue",
    "HiddenCompletionAction",
    "HiddenMultiGridSyncArg",
];

const ARGUMENT: &[Key] = &[
    may("Name", Form::Text),
    may("TypeName", Form::Text),
    needs("Size", NUMBER),
    needs("Align", NUMBER),
    needs("ValueKind", Form::OneOf(VALUE_KINDS)),
    may("ValueType", Form::Gone),
    may("PointeeAlign", COUNT),
    may("AddrSpaceQual", Form::OneOf(&["Private", "Global", "Constant", "Local", "Generic", "Region"])),
    may("AccQual", ACCESS),
    may("ActualAccQual", ACCESS),
    may("IsConst", Form::Boolean),
    may("IsRestrict", Form::Boolean),
    may("IsVolatile", Form::Boolean),
    may("IsPipe", Form::Boolean),
];

const CODE_PROPERTIES: &[Key] = &[
    needs("KernargSegmentSize", NUMBER),
    needs("GroupSegmentFixedSize", NUMBER),
    needs("PrivateSegmentFixedSize", NUMBER),
    needs("KernargSegmentAlign", NUMBER),
    needs("WavefrontSize", NUMBER),
    may("NumSGPRs", COUNT),
    may("NumVGPRs", COUNT),
    may("MaxFlatWorkGroupSize", COUNT),
    may("IsDynamicCallStack", Form::Boolean),
    may("IsXNACKEnabled", Form::Boolean),
    may("NumSpilledSGPRs", COUNT),
    may("NumSpilledVGPRs", COUNT),
];

const DEBUG_PROPERTIES: &[Key] = &[
    may("DebuggerABIVersion", Form::Integers),
    may("ReservedNumVGPRs", COUNT),
    may("ReservedFirstVGPR", REGISTER),
    may("PrivateSegmentBufferSGPR", REGISTER),
    may("WavefrontPrivateSegmentOffsetSGPR", REGISTER),
];

const KERNEL: &[Key] = &[
    needs("Name", Form::Text),
    needs("SymbolName", Form::Text),
    may("Language", Form::Text),
    may("LanguageVersion", Form::Integers),
    may("Attrs", Form::Mapping(ATTRIBUTES)),
    may("Args", Form::Mappings(ARGUMENT)),
    may("CodeProps", Form::Mapping(CODE_PROPERTIES)),
    may("DebugProps", Form::Mapping(DEBUG_PROPERTIES)),
];

const DOCUMENT: &[Key] =
    &[needs("Version", Form::Integers), may("Printf", Form::Texts), may("Kernels", Form::Mappings(KERNEL))];

/// The note's text of a document: keys in the order of the guide's tables, defaults left out, keys that are in no
/// table after those that are. Says what is wrong when the document is not metadata.
pub fn to_text(document: &Value<'_>) -> Result<String, Error> {
    let mut printer = Printer { out: String::from("---\n") };
    let map = document.as_map().ok_or_else(|| wrong("the document", "a mapping is needed"))?;
    printer.mapping(map, DOCUMENT, 0, false, "the document")?;
    printer.out.push_str("...\n");
    Ok(printer.out)
}

fn wrong(path: &str, message: impl Into<String>) -> Error {
    Error { message: message.into(), place: Location::Path(path.into()) }
}

struct Printer {
    out: String,
}

impl Printer {
    /// Prints a mapping with its keys at `level`; `dashed`: its first key follows a dash.
    fn mapping(
        &mut self,
        map: &Map<'_>,
        keys: &[Key],
        level: usize,
        dashed: bool,
        path: &str,
    ) -> Result<(), Error> {
        let mut first = dashed;
        let mut lead = |out: &mut String, key: &str, value: &str| {
            for _ in 0..(if first { level - 1 } else { level }) {
                out.push_str("  ");
            }
            out.push_str(if std::mem::take(&mut first) { "- " } else { "" });
            let pad = if value.is_empty() { 0 } else { 16usize.saturating_sub(key.len()).max(1) };
            let _ = writeln!(out, "{key}:{:pad$}{value}", "");
        };
        for key in keys {
            let Some(value) = map.get(key.name) else {
                if key.required {
                    return Err(wrong(path, format!("'{}' is missing", key.name)));
                }
                continue;
            };
            let path = format!("{path} {}", key.name);
            let mismatch = |what: &str| wrong(&path, format!("{what} is needed, not {}", value.kind_name()));
            match key.form {
                Form::Gone => {}
                Form::Text => {
                    let text = text_of(value).ok_or_else(|| mismatch("a string"))?;
                    if key.required || !text.is_empty() {
                        lead(&mut self.out, key.name, &quoted(&text));
                    }
                }
                Form::OneOf(texts) => {
                    let text = value.as_str().filter(|t| texts.contains(t));
                    let text = text.ok_or_else(|| mismatch(&format!("one of {}", texts.join(", "))))?;
                    lead(&mut self.out, key.name, text);
                }
                Form::Integer(default) => {
                    let number = value.as_u64().ok_or_else(|| mismatch("an integer"))?;
                    if default != Some(number) {
                        lead(&mut self.out, key.name, &number.to_string());
                    }
                }
                Form::Boolean => {
                    if value.as_bool().ok_or_else(|| mismatch("a Boolean"))? {
                        lead(&mut self.out, key.name, "true");
                    }
                }
                Form::Integers => {
                    let numbers: Option<Vec<_>> = value
                        .as_array()
                        .and_then(|a| a.iter().map(|v| Some(v.as_u64()?.to_string())).collect());
                    let numbers = numbers.ok_or_else(|| mismatch("an array of integers"))?;
                    if !numbers.is_empty() {
                        lead(&mut self.out, key.name, &format!("[ {} ]", numbers.join(", ")));
                    }
                }
                Form::Texts => {
                    let texts = value.as_array().ok_or_else(|| mismatch("an array"))?;
                    if !texts.is_empty() {
                        lead(&mut self.out, key.name, "");
                    }
                    for text in texts {
                        let text = text_of(text).ok_or_else(|| mismatch("an array of strings"))?;
                        let _ = writeln!(self.out, "{:1$}- {2}", "", 2 * level + 2, quoted(&text));
                    }
                }
                Form::Mapping(keys) => {
                    let inner = value.as_map().ok_or_else(|| mismatch("a mapping"))?;
                    if !inner.is_empty() {
                        lead(&mut self.out, key.name, "");
                        self.mapping(inner, keys, level + 1, false, &path)?;
                    }
                }
                Form::Mappings(keys) => {
                    let all = value.as_array().ok_or_else(|| mismatch("an array"))?;
                    if !all.is_empty() {
                        lead(&mut self.out, key.name, "");
                    }
                    for (i, each) in all.iter().enumerate() {
                        let path = format!("{path}[{i}]");
                        let inner = each.as_map().ok_or_else(|| wrong(&path, "a mapping is needed"))?;
                        self.mapping(inner, keys, level + 2, true, &path)?;
                    }
                }
            }
        }
        for (key, value) in map.iter() {
            let name = key.scalar_text(false);
            if keys.iter().any(|k| k.name == name) {
                continue;
            }
            if matches!(value, Value::Array(_) | Value::Map(_)) {
                return Err(wrong(path, format!("'{name}' is not known, and too complex to be passed on")));
            }
            lead(&mut self.out, &quoted(&name), &quoted(&value.scalar_text(false)));
        }
        Ok(())
    }
}

/// What a text key says: here, unlike in later versions, a number or Boolean is text as it stands.
fn text_of(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Array(_) | Value::Map(_) => None,
        scalar => Some(scalar.scalar_text(false).into_owned()),
    }
}

fn quoted(text: &str) -> String {
    super::yaml_out::quoted_scalar(text)
}
