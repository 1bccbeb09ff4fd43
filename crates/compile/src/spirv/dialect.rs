//! LLVM's IR as SPIR has it, rewritten for AMD GPUs: address spaces, calling conventions, structures as arguments, and the names of
//! OpenCL's functions, which say address spaces, too.
//!
//! The text is one that LLVM has written, with types on its pointers. Whatever else it holds goes through as it is; if that is no IR,
//! clang says so.

use std::collections::HashMap;

/// Where AMD has SPIR's private, global, constant, local and generic memory.
const SPACES: [u32; 5] = [5, 1, 4, 3, 0];
/// Private memory of AMD's.
const PRIVATE: u32 = 5;
/// Arguments and constants.
const CONSTANT: u32 = 4;

/// The address space of pointers to a type: handles have their own, all else has its memory's.
fn space_of(pointee: &str, spir: u32) -> u32 {
    let Some(handle) = pointee.strip_prefix("%opencl.") else {
        return SPACES.get(spir as usize).copied().unwrap_or(spir);
    };
    match handle {
        h if h.starts_with("image") => CONSTANT,
        "sampler_t" => CONSTANT,
        "clk_event_t" | "queue_t" | "reserve_id_t" => 1,
        h if h.starts_with("pipe") => 1,
        _ => PRIVATE,
    }
}

/// `*` behind a type, with the address space that is not the first.
fn pointer(space: u32) -> String {
    if space == 0 { "*".into() } else { format!(" addrspace({space})*") }
}

/// The name of an OpenCL function: pointers say AMD's address spaces, private ones as well.
fn mangled(name: &str) -> String {
    let mut out = String::from("_Z");
    let mut rest = &name[2..];
    let mut first = true;
    while let Some(c) = rest.chars().next() {
        // Vectors (`Dv4_f`) and what was there before (`S1_`): their digits count no letters.
        if !first && (rest.starts_with("Dv") || c == 'S') {
            let end = rest.find('_').map_or(rest.len(), |at| at + 1);
            out += &rest[..end];
            rest = &rest[end..];
            continue;
        }
        if c.is_ascii_digit() {
            // A name with its length.
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let len = rest[..digits].parse::<usize>().unwrap_or(0);
            let Some(word) = rest.get(..digits.saturating_add(len)) else { break };
            let space = word.strip_prefix("3AS").and_then(|s| s.parse::<usize>().ok()).filter(|_| !first);
            match space.and_then(|s| SPACES.get(s)) {
                Some(space) => out += &format!("3AS{space}"),
                None => out += word,
            }
            rest = &rest[word.len()..];
            first = false;
            continue;
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
        if c == 'P' && !first && !rest.starts_with("U3AS") {
            out += &format!("U3AS{PRIVATE}");
        }
    }
    out + rest
}

/// The name of one of LLVM's own functions: its overload says address spaces as `.p0i8`.
fn intrinsic(name: &str) -> String {
    let part = |part: &str| {
        let digits: String = part.strip_prefix('p')?.chars().take_while(char::is_ascii_digit).collect();
        let space = SPACES.get(digits.parse::<usize>().ok()?)?;
        let rest = &part[1 + digits.len()..];
        (!rest.is_empty()).then(|| format!("p{space}{rest}"))
    };
    name.split('.').map(|p| part(p).unwrap_or_else(|| p.to_owned())).collect::<Vec<_>>().join(".")
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.$-".contains(c)
}

/// The last type's name in a text: what a `*` behind it points to, where that is a named one.
fn pointee(text: &str) -> &str {
    let name = |c: char| is_word(c) || c == '%';
    &text[text.trim_end_matches(name).len()..]
}

/// One line with other words in it. `values` has other names for values.
fn line(text: &str, values: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = rest.len() - rest.trim_start_matches(is_word).len();
        match c {
            ';' => break,
            '"' => {
                let end = rest[1..].find('"').map_or(rest.len(), |at| at + 2);
                out += &rest[..end];
                rest = &rest[end..];
            }
            '*' => {
                // Code is in the first address space.
                let space = if out.ends_with(')') { 0 } else { space_of(pointee(&out), 0) };
                out += &pointer(space);
                rest = &rest[1..];
            }
            '@' | '%' => {
                let len = rest[1..].len() - rest[1..].trim_start_matches(is_word).len();
                let name = &rest[1..1 + len];
                match c {
                    '@' if name.starts_with("_Z") => out += &format!("@{}", mangled(name)),
                    '@' if name.starts_with("llvm.") => out += &format!("@{}", intrinsic(name)),
                    '%' if values.contains_key(name) => out += &format!("%{}", values[name]),
                    _ => out += &rest[..1 + len],
                }
                rest = &rest[1 + len..];
            }
            _ if rest.starts_with("addrspace(") => {
                let number = &rest["addrspace(".len()..];
                let end = number.find(')').unwrap_or(number.len());
                let spir = number[..end].parse().unwrap_or(0);
                rest = number.get(end + 1..).unwrap_or("");
                if let Some(behind) = rest.strip_prefix('*') {
                    let type_end = out.trim_end().len();
                    out.truncate(type_end);
                    let space = space_of(pointee(&out), spir);
                    out += &pointer(space);
                    rest = behind;
                } else {
                    out += &format!("addrspace({})", space_of("", spir));
                }
            }
            _ if word > 0 => {
                match &rest[..word] {
                    "spir_kernel" => out += "amdgpu_kernel",
                    // The usual convention has no name, and one blank is enough.
                    "spir_func" => {
                        rest = rest[word..].strip_prefix(' ').unwrap_or(&rest[word..]);
                        continue;
                    }
                    other => out += other,
                }
                rest = &rest[word..];
            }
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out + rest
}

/// A structure that a kernel gets: its value's name, type and alignment.
struct Structure {
    value: String,
    ty: String,
    align: String,
}

/// Structures among the arguments of a kernel's first line; there, they are references to the memory of arguments.
fn structures(define: &mut String) -> Vec<Structure> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = define[from..].find(" byval(").map(|at| at + from) {
        let open = at + " byval(".len();
        let mut depth = 1;
        let close = define[open..].find(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let Some(close) = close.map(|c| c + open) else { break };
        let ty = define[open..close].to_owned();
        let behind = &define[close + 1..];
        let end = behind.find([',', ')']).unwrap_or(behind.len());
        let words: Vec<&str> = behind[..end].split_whitespace().collect();
        let align = words.iter().skip_while(|w| **w != "align").nth(1).copied().unwrap_or("1").to_owned();
        let value = words.last().and_then(|w| w.strip_prefix('%')).unwrap_or("").to_owned();
        let before = format!("{ty}{}", pointer(PRIVATE));
        let Some(start) = define[..at].rfind(&before) else { break };
        let replaced = format!("{ty}{} byref({ty})", pointer(CONSTANT));
        let attributes = define[start + before.len()..at].to_owned();
        define.replace_range(start..close + 1, &format!("{replaced}{attributes}"));
        from = start + replaced.len();
        found.push(Structure { value, ty, align });
    }
    found
}

/// Rewrites a module.
pub fn rewritten(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 5 / 4);
    let mut values = HashMap::new();
    let mut copies = Vec::new();
    for original in text.lines() {
        if original.starts_with("target ") {
            continue;
        }
        let mut made = line(original, &values);
        if original.starts_with("define ") {
            values.clear();
            if made.contains(" amdgpu_kernel ") {
                copies = structures(&mut made);
            }
            values.extend(copies.iter().map(|s| (s.value.clone(), format!("copy.of.{}", s.value))));
        } else if original == "}" {
            values.clear();
        } else if original.starts_with("  ") {
            // Before a kernel's first instruction: copies of structures, which it may change.
            for Structure { value, ty, align } in copies.drain(..) {
                let (from, to) = (pointer(CONSTANT), pointer(PRIVATE));
                out += &format!(
                    "  %copy.of.{value} = alloca {ty}, align {align}, addrspace({PRIVATE})\n  \
                     %value.of.{value} = load {ty}, {ty}{from} %{value}, align {align}\n  \
                     store {ty} %value.of.{value}, {ty}{to} %copy.of.{value}, align {align}\n"
                );
            }
            if made.contains(" = alloca ") {
                let end = made.find(", !").unwrap_or(made.len());
                made.insert_str(end, &format!(", addrspace({PRIVATE})"));
            }
        }
        out += &made;
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as the device library has them (`llvm-nm opencl.bc`).
    #[test]
    fn functions_have_amds_names() {
        for (spir, amd) in [
            ("_Z13get_global_idj", "_Z13get_global_idj"),
            ("_Z5fractfPU3AS4f", "_Z5fractfPU3AS0f"),
            ("_Z6sincosDv4_fPS_", "_Z6sincosDv4_fPU3AS5S_"),
            ("_Z6remquoDv16_fS_PU3AS4Dv16_i", "_Z6remquoDv16_fS_PU3AS0Dv16_i"),
            ("_Z7vstore4Dv4_fmPf", "_Z7vstore4Dv4_fmPU3AS5f"),
            ("_Z6vload4mPU3AS2Kf", "_Z6vload4mPU3AS4Kf"),
            (
                "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i",
                "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i",
            ),
            (
                "_Z25atomic_fetch_add_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope",
                "_Z25atomic_fetch_add_explicitPU3AS0VU7_Atomicii12memory_order12memory_scope",
            ),
            // No name has so many letters.
            ("_Z99f", "_Z99f"),
            ("_Z", "_Z"),
        ] {
            assert_eq!(mangled(spir), amd);
        }
        assert_eq!(intrinsic("llvm.memcpy.p0i8.p2i8.i64"), "llvm.memcpy.p5i8.p4i8.i64");
        assert_eq!(intrinsic("llvm.popcount.i32"), "llvm.popcount.i32");
    }

    #[test]
    fn address_spaces_are_amds() {
        let same = HashMap::new();
        for (spir, amd) in [
            (
                "  %0 = load i32*, i32** %p",
                "  %0 = load i32 addrspace(5)*, i32 addrspace(5)* addrspace(5)* %p",
            ),
            (
                "  %1 = addrspacecast i32* %a to i32 addrspace(4)*",
                "  %1 = addrspacecast i32 addrspace(5)* %a to i32*",
            ),
            ("@t = addrspace(2) constant [2 x i8] c\"*;\"", "@t = addrspace(4) constant [2 x i8] c\"*;\""),
            (
                "  call spir_func void @f(%opencl.image2d_ro_t addrspace(1)* %i, %opencl.sampler_t addrspace(2)* %s)",
                "  call void @f(%opencl.image2d_ro_t addrspace(4)* %i, %opencl.sampler_t addrspace(4)* %s)",
            ),
            ("  call void %f(void (i32)* %g)", "  call void %f(void (i32)* %g)"),
            (
                "define spir_kernel void @k(float addrspace(3)* %x) {",
                "define amdgpu_kernel void @k(float addrspace(3)* %x) {",
            ),
        ] {
            assert_eq!(line(spir, &same), amd);
        }
    }

    #[test]
    fn structures_are_copied_from_the_arguments() {
        let spir = "target triple = \"spir64\"\n\
            define spir_kernel void @k(%pair* byval(%pair) align 4 %p, i32 %n) #0 {\nentry:\n  \
            %x = alloca i32, align 4\n  %a = getelementptr %pair, %pair* %p, i32 0\n  ret void\n}\n";
        let amd = "define amdgpu_kernel void @k(%pair addrspace(4)* byref(%pair) align 4 %p, i32 %n) #0 {\nentry:\n  \
            %copy.of.p = alloca %pair, align 4, addrspace(5)\n  \
            %value.of.p = load %pair, %pair addrspace(4)* %p, align 4\n  \
            store %pair %value.of.p, %pair addrspace(5)* %copy.of.p, align 4\n  \
            %x = alloca i32, align 4, addrspace(5)\n  \
            %a = getelementptr %pair, %pair addrspace(5)* %copy.of.p, i32 0\n  ret void\n}\n";
        assert_eq!(rewritten(spir), amd);
    }

    /// What is no IR is not for us to refuse, and harms nobody.
    #[test]
    fn anything_goes_through() {
        for text in [
            "",
            "*",
            "addrspace(",
            "define \"",
            "@_Z9",
            "%",
            "  x byval(",
            "define spir_kernel byval(",
            "é*@_Zé",
        ] {
            assert!(rewritten(text).len() < 200, "{text}");
        }
    }
}
