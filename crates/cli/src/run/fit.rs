//! Whether arguments fit a kernel: which is which, and whether their types are those that the metadata states.

use super::args::{Arg, ArgSpec, Data};
use super::number::Number;
use wavemill_asm::suggest::closest;
use wavemill_device::Kernel;
use wavemill_device::kernel::Argument;
use wavemill_object::demangle;

/// The arguments in the kernel's order. Those with a name take that place, the others what is left, in turn.
pub fn order(kernel: &Kernel, args: Vec<Arg>) -> Result<Vec<Arg>, String> {
    if args.iter().all(|a| a.name.is_none()) {
        return Ok(args);
    }
    let names: Vec<&str> = kernel.visible_args().map(|a| a.name.as_deref().unwrap_or("")).collect();
    if names.iter().all(|n| n.is_empty()) {
        let named = args.iter().find_map(|a| a.name.as_deref()).unwrap_or("");
        return Err(format!(
            "`{named}=`: {} does not name its arguments (clang keeps names with -fno-discard-value-names, in OpenCL C with -cl-kernel-arg-info); \
             give them in order",
            demangle::shown(&kernel.name)
        ));
    }
    let mut places: Vec<Option<Arg>> = vec![None; names.len()];
    let mut rest = Vec::new();
    for arg in args {
        let Some(name) = arg.name.clone() else {
            rest.push(arg);
            continue;
        };
        let Some(at) = names.iter().position(|n| *n == name) else {
            let hint = closest(&name, names.iter().copied()).map(|h| format!("; did you mean {h}?"));
            let hint = hint.unwrap_or_else(|| format!("; it has {}", names.join(", ")));
            return Err(format!("{} has no argument `{name}`{hint}", demangle::shown(&kernel.name)));
        };
        if let Some(before) = places[at].replace(arg) {
            return Err(format!("argument `{name}` is given twice, first as `{}`", before.text));
        }
    }
    let mut rest = rest.into_iter();
    let mut all = Vec::new();
    for (place, name) in places.into_iter().zip(&names) {
        let arg = place.or_else(|| rest.next());
        all.push(
            arg.ok_or_else(|| format!("argument `{name}` of {} is missing", demangle::shown(&kernel.name)))?,
        );
    }
    all.extend(rest);
    Ok(all)
}

/// Gives numbers without a type the kernel's, and refuses what has another type than the kernel states.
pub fn check(kernel: &Kernel, args: &mut [Arg]) -> Result<(), String> {
    for (i, (arg, wanted)) in args.iter_mut().zip(kernel.visible_args()).enumerate() {
        let name = wanted.name.as_deref().map(|n| format!(" `{n}`")).unwrap_or_default();
        let in_arg = |e: String| format!("argument {i}{name} (`{}`): {e}", arg.text);
        if let ArgSpec::Plain(text) = &arg.spec
            && let Some(spec) = plain(text, wanted).map_err(in_arg)?
        {
            arg.spec = spec;
        }
        if !arg.force {
            compare(&arg.spec, wanted).map_err(|e| {
                format!("argument {i}{name} (`{}`): {e}; `force:{}` insists", arg.text, unnamed(&arg.text))
            })?;
        }
    }
    Ok(())
}

/// An argument's text without its name.
fn unnamed(text: &str) -> &str {
    text.split_once('=').filter(|(n, _)| !n.contains(':')).map_or(text, |(_, rest)| rest)
}

/// A number of the type that the kernel wants. Without a type's name, its size tells integers apart.
fn plain(text: &str, wanted: &Argument) -> Result<Option<ArgSpec>, String> {
    if wanted.kind != "by_value" {
        return Ok(None);
    }
    let stated = wanted.type_name.as_deref().and_then(Element::parse).map(|e| e.number);
    let whole = !text.contains(['.', 'e', 'n']) || text.contains("0x");
    let number = match (stated, wanted.size) {
        (Some(number), _) => number,
        // Whether four bytes are an int or a float is anybody's guess.
        (None, size @ (1 | 2 | 4 | 8)) if whole && wanted.type_name.is_none() => {
            return Err(format!(
                "the kernel does not say whether its {size} bytes are a number of which type; say i{}:{text} or f{}:{text}",
                8 * size,
                8 * size.max(2)
            ));
        }
        _ => return Ok(None),
    };
    number.bytes(text).map(|b| Some(ArgSpec::Bytes(b, Some(number))))
}

/// A type as OpenCL C and the metadata write it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Element {
    number: Number,
    count: usize,
    pointer: bool,
}

impl Element {
    /// Reads `float`, `uint4`, `const global float*`. Structures and the like are nobody's business.
    fn parse(name: &str) -> Option<Element> {
        let pointer = name.contains('*');
        let plain = name.trim_end_matches(|c: char| c == '*' || c == '&' || c.is_whitespace());
        // The last word is the type; qualifiers come first, `unsigned int` is two words.
        let words: Vec<&str> = plain
            .split_whitespace()
            .filter(|w| {
                !matches!(
                    *w,
                    "const" | "volatile" | "restrict" | "__global" | "global" | "__constant" | "constant"
                )
            })
            .collect();
        let (word, unsigned) = match words[..] {
            [word] => (word, false),
            ["unsigned", word] => (word, true),
            _ => return None,
        };
        let base = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &word[base.len()..];
        let count = if digits.is_empty() {
            1
        } else {
            digits.parse().ok().filter(|n| [2, 3, 4, 8, 16].contains(n))?
        };
        let number = match base {
            "char" if unsigned => Number::Uint(1),
            "short" if unsigned => Number::Uint(2),
            "int" if unsigned => Number::Uint(4),
            "long" if unsigned => Number::Uint(8),
            "char" => Number::Int(1),
            "uchar" | "bool" => Number::Uint(1),
            "short" => Number::Int(2),
            "ushort" => Number::Uint(2),
            "int" => Number::Int(4),
            "uint" | "unsigned" => Number::Uint(4),
            "long" => Number::Int(8),
            "ulong" | "size_t" => Number::Uint(8),
            "half" => Number::Float(2),
            "float" => Number::Float(4),
            "double" => Number::Float(8),
            _ => return None,
        };
        Some(Element { number, count, pointer })
    }
}

/// Refuses a value whose type is not the one wanted. Signed and unsigned are the same bytes, and not told apart.
fn compare(spec: &ArgSpec, wanted: &Argument) -> Result<(), String> {
    let stated = wanted.type_name.as_deref();
    let element = stated.and_then(Element::parse);
    let pointer = wanted.kind == "global_buffer";
    let shown = stated.unwrap_or("a pointer");
    match spec {
        ArgSpec::Bytes(_, _) | ArgSpec::Plain(_) if pointer => {
            Err(format!("a number is given for {shown}; a buffer is wanted, or `null`"))
        }
        // A structure may be one pointer.
        ArgSpec::Null if !(pointer || wanted.kind == "by_value" && wanted.size == 8) => {
            Err(format!("null is given for {}", stated.unwrap_or("a value")))
        }
        ArgSpec::Bytes(_, Some(given)) => match element.filter(|e| !e.pointer) {
            Some(e) if e.number.is_float() != given.is_float() || e.number.size() != given.size() => {
                Err(format!("{} is given for {shown}, which is {}", given.name(), e.number.name()))
            }
            _ => Ok(()),
        },
        ArgSpec::Buffer { data, ty: Some(given), .. } => match element.filter(|e| e.pointer) {
            // Zeros are zeros in every type.
            Some(e)
                if !matches!(data, Data::Zeros(_))
                    && (e.number.is_float() != given.is_float() || e.number.size() != given.size()) =>
            {
                Err(format!(
                    "a buffer of {} is given for {shown}, which points to {}",
                    given.name(),
                    e.number.name()
                ))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read() {
        let element = |name: &str| Element::parse(name).map(|e| (e.number, e.count, e.pointer));
        assert_eq!(element("float*"), Some((Number::Float(4), 1, true)));
        assert_eq!(element("uint4"), Some((Number::Uint(4), 4, false)));
        assert_eq!(element("unsigned long"), Some((Number::Uint(8), 1, false)));
        assert_eq!(element("const __global double *"), Some((Number::Float(8), 1, true)));
        assert_eq!(element("struct point*"), None);
        assert_eq!(element("image2d_t"), None);
    }
}
