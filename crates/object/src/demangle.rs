//! Names of C++ and HIP functions as people write them.

use cpp_demangle::{DemangleOptions, Symbol};
use std::borrow::Cow;

/// Mangled names longer than this are left alone: taken apart they may grow beyond all measure.
const LONGEST: usize = 4096;

/// The name with its arguments, `axpy(float, float*)`; none if it is not mangled.
pub fn demangled(name: &str) -> Option<String> {
    parse(name)?.demangle().ok()
}

/// The name without result and arguments, `axpy` or `blas::axpy<float>`; none if it is not mangled.
pub fn short(name: &str) -> Option<String> {
    let options = DemangleOptions::new().no_params().no_return_type();
    parse(name)?.demangle_with_options(&options).ok()
}

fn parse(name: &str) -> Option<Symbol<&str>> {
    let mangled = name.starts_with("_Z") && name.len() <= LONGEST;
    mangled.then(|| Symbol::new(name).ok()).flatten()
}

/// The name for people: without mangling if it has some.
pub fn shown(name: &str) -> Cow<'_, str> {
    demangled(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Whether somebody who writes `wanted` means this name: the name itself, what it is in the source, with or without
/// arguments and template arguments.
pub fn answers(name: &str, wanted: &str) -> bool {
    let squeezed = |text: &str| text.replace(' ', "");
    let same = |text: String| squeezed(&text) == squeezed(wanted);
    let plain = |text: String| text.split('<').next().unwrap_or("").to_owned();
    name == wanted
        || demangled(name).is_some_and(same)
        || short(name).is_some_and(|s| same(s.clone()) || same(plain(s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // What c++filt says of these names.
    #[test]
    fn names_are_as_in_the_source() {
        assert_eq!(demangled("_Z5saxpyfPKfPfi").as_deref(), Some("saxpy(float, float const*, float*, int)"));
        assert_eq!(short("_Z5saxpyfPKfPfi").as_deref(), Some("saxpy"));
        assert_eq!(short("_ZN4blas4axpyIfEEvT_PS1_").as_deref(), Some("blas::axpy<float>"));
        assert_eq!(shown("vadd"), "vadd");
        assert_eq!(shown("_Znonsense"), "_Znonsense");
    }

    #[test]
    fn what_people_write_finds_the_name() {
        let name = "_ZN4blas4axpyIfEEvT_PS1_";
        for wanted in [name, "blas::axpy<float>", "blas::axpy", "void blas::axpy<float>(float, float*)"] {
            assert!(answers(name, wanted), "{wanted}");
        }
        assert!(!answers(name, "axpy") && !answers(name, "blas::axpy<double>"));
        assert!(answers("vadd", "vadd") && !answers("vadd", "va"));
    }
}
