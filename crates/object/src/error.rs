//! What is wrong with a file, and where.

use std::fmt;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub message: String,
    /// In which section or other part of the file.
    pub part: String,
    /// At which byte of the file.
    pub offset: Option<u64>,
}

impl Error {
    /// An error in a part of the file.
    pub fn new(part: impl Into<String>, offset: Option<u64>, message: impl Into<String>) -> Error {
        Error { message: message.into(), part: part.into(), offset }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} at byte {offset:#x}: {}", self.part, self.message),
            None => write!(f, "{}: {}", self.part, self.message),
        }
    }
}

impl std::error::Error for Error {}
