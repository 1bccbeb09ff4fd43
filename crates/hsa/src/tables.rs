//! Extensions' tables of functions.

use crate::abi::*;
use crate::extension::{IMAGES, LOADER, supported};
use crate::runtime::runtime;

/// Copies the first bytes of an extension's table.
fn table(number: u16, major: u16, length: usize, table: Any) -> Result {
    runtime()?;
    let table = table.check()?;
    if length == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    supported(number, major)?.ok_or(Status::ERROR)?;
    let functions = functions(number);
    if functions.is_empty() {
        return Err(Status::ERROR);
    }
    let bytes: Vec<u8> = functions.iter().flat_map(|f| f.to_ne_bytes()).collect();
    table.set_bytes(&bytes[..length.min(bytes.len())])
}

/// The addresses of an extension's functions, in the order of its table.
fn functions(number: u16) -> Vec<usize> {
    match number {
        IMAGES => crate::amd::image::table().to_vec(),
        LOADER => crate::amd::loader::table().to_vec(),
        _ => Vec::new(),
    }
}

/// Bytes of an extension's table in a minor version of version 1.
fn table_bytes(number: u16, minor: u16) -> usize {
    let count = match (number, minor) {
        (IMAGES, _) => 10,
        (_, 0) => 3,
        (_, 1) => 5,
        (_, 2) => 6,
        _ => 7,
    };
    count * size_of::<usize>()
}

api! {
    /// The functions of an extension.
    fn hsa_system_get_extension_table(number: u16, major: u16, minor: u16, functions: Any) -> Status {
        runtime()?;
        let functions = functions.check()?;
        supported(number, major)?.filter(|m| *m >= minor).ok_or(Status::ERROR)?;
        table(number, major, table_bytes(number, minor), functions)
    }

    /// The first functions of an extension, as many as there is room for.
    fn hsa_system_get_major_extension_table(number: u16, major: u16, length: usize, functions: Any) -> Status {
        table(number, major, length, functions)
    }
}
