//! `--trap-handler FILE[:SYMBOL]`: code of the user's own that waves jump to when they trap.

use super::source;
use std::path::{Path, PathBuf};
use wavemill_device::loader::Symbol;
use wavemill_device::{Device, Loaded};
use wavemill_isa::Target;

/// Where a handler is: a file, unless it is in the program itself, and a function, unless the file has only one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    file: Option<PathBuf>,
    symbol: Option<String>,
}

impl Handler {
    /// Reads `FILE`, `FILE:SYMBOL` or `:SYMBOL`.
    pub fn parse(text: &str) -> Result<Handler, String> {
        let (file, symbol) = match text.rsplit_once(':') {
            // A file's name may have a colon itself.
            Some(_) if Path::new(text).is_file() => (text, None),
            Some((_, "")) => return Err("the name of a function is missing behind the colon".into()),
            Some((file, symbol)) => (file, Some(symbol.to_owned())),
            None => (text, None),
        };
        if file.is_empty() && symbol.is_none() {
            return Err("FILE, FILE:SYMBOL or :SYMBOL is wanted".into());
        }
        Ok(Handler { file: (!file.is_empty()).then(|| file.into()), symbol })
    }

    /// The same, for a source that names a file next to it.
    pub fn beside(self, directory: &Path) -> Handler {
        Handler { file: self.file.map(|f| directory.join(f)), ..self }
    }

    /// The file it is in, unless that is the program itself.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Loads the file, if there is one, and finds the function's address.
    pub fn load(&self, device: &Device, program: &Loaded) -> Result<u64, String> {
        let Some(path) = &self.file else {
            return self.find(program).map_err(|e| format!("the program {e}"));
        };
        let shown = path.display().to_string();
        let data = std::fs::read(path).map_err(|e| format!("{shown}: {e}"))?;
        let data = if source::is_source(path, &data) {
            source::assemble(path, data, Some(Target::new(device.target().cpu)))?.0
        } else {
            data
        };
        let name = path.file_name().map_or(shown.clone(), |n| n.to_string_lossy().into_owned());
        let loaded = device.load(&name, data).map_err(|e| format!("{shown}: {e}"))?;
        self.find(&loaded).map_err(|e| format!("{shown}: it {e}"))
    }

    fn find(&self, object: &Loaded) -> Result<u64, String> {
        let functions: Vec<&Symbol> = object.symbols.iter().filter(|s| s.function).collect();
        let names: Vec<&str> = functions.iter().map(|s| s.name.as_str()).collect();
        match (&self.symbol, functions.as_slice()) {
            (_, []) => Err("has no functions (`.type NAME,@function` makes a label one)".into()),
            (None, [only]) => Ok(only.address),
            (None, _) => {
                Err(format!("has several functions, name one with :SYMBOL: {}", super::listed(&names)))
            }
            (Some(name), _) => {
                let found = functions.iter().find(|s| s.name == *name);
                found.map(|s| s.address).ok_or_else(|| {
                    let hint = wavemill_asm::suggest::closest(name, names.iter().copied());
                    let hint = hint.map(|h| format!("; did you mean {h}?"));
                    let hint = hint.unwrap_or_else(|| format!("; it has {}", super::listed(&names)));
                    format!("has no function `{name}`{hint}")
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_symbols() {
        let parse = |text: &str| Handler::parse(text).map(|h| (h.file, h.symbol));
        assert_eq!(parse("a.s"), Ok((Some("a.s".into()), None)));
        assert_eq!(parse("a.s:h"), Ok((Some("a.s".into()), Some("h".into()))));
        assert_eq!(parse(":h"), Ok((None, Some("h".into()))));
        assert!(parse("").is_err() && parse("a.s:").is_err() && parse(":").is_err());
        let beside = Handler::parse("a.s:h").unwrap().beside(Path::new("dir"));
        assert_eq!(beside.file, Some("dir/a.s".into()));
    }
}
