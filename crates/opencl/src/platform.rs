//! The platform: one system of virtual GPUs, made when the program first asks for it.

use crate::abi::*;
use crate::handle::{self, Handle, Object, Slot, Table};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wavemill_runtime::system::System;
use wavemill_runtime::{environment, fork};

/// `cl_platform_id`.
pub struct Platform {
    slot: Slot,
    /// The GPUs and what they share.
    pub system: Arc<System>,
}

static TABLE: Table<Platform> = Table::new();

impl Object for Platform {
    const INVALID: Code = Code::INVALID_PLATFORM;

    fn table() -> &'static Table<Self> {
        &TABLE
    }

    fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// The platform. Where there is none, the reason has been printed.
pub fn platform() -> Result<&'static Arc<Platform>> {
    static PLATFORM: OnceLock<Option<Arc<Platform>>> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    if fork::forked() {
        return Err(Code::OUT_OF_RESOURCES);
    }
    let starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let made = PLATFORM.get_or_init(|| {
        fork::watch();
        match environment::setup() {
            Ok(setup) => Some(handle::create(|slot| Platform { slot, system: System::new(setup) })),
            Err(message) => {
                wavemill_device::terminal::message(message);
                None
            }
        }
    });
    drop(starting);
    made.as_ref().ok_or(Code::OUT_OF_RESOURCES)
}

/// The system of the platform.
pub fn system() -> Result<&'static Arc<System>> {
    Ok(&platform()?.system)
}

/// What the platform and every device can do beyond the standard: each with its version.
pub const EXTENSIONS: &[&str] = &["cl_khr_icd"];

/// Versions as `cl_version` has them: major, minor, patch.
pub const fn version(major: u32, minor: u32) -> u32 {
    major << 22 | minor << 12
}

/// `cl_name_version` records.
pub fn named_versions<'a>(names: impl IntoIterator<Item = (&'a str, u32)>) -> Vec<u8> {
    let record = |(name, version): (&str, u32)| {
        let mut bytes = version.to_le_bytes().to_vec();
        bytes.extend(name.bytes().take(63));
        bytes.resize(68, 0);
        bytes
    };
    names.into_iter().flat_map(record).collect()
}

api! {
    /// The one platform.
    fn clGetPlatformIDs(room: u32, platforms: Out<Handle<Platform>>, count: Out<u32>) -> Code {
        if room == 0 && !platforms.is_null() || platforms.is_null() && count.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        platforms.put(platform()?.handle());
        count.put(1);
        Ok(())
    }

    /// A fact about the platform.
    #[unsafe(no_mangle)]
    fn clGetPlatformInfo(
        of: Handle<Platform>,
        name: u32,
        room: usize,
        value: Bytes,
        size: Out<usize>,
    ) -> Code {
        if of.is_null() {
            platform()?;
        } else {
            handle::get(of)?;
        }
        let answer = Answer::new(room, value, size);
        match name {
            0x0900 => answer.text("FULL_PROFILE"),
            0x0901 => answer.text(concat!("OpenCL 3.0 Wavemill ", env!("CARGO_PKG_VERSION"))),
            0x0902 => answer.text("Wavemill"),
            0x0903 => answer.text("Wavemill"),
            0x0904 => answer.text(&EXTENSIONS.join(" ")),
            // Nanoseconds.
            0x0905 => answer.set(1u64),
            0x0906 => answer.set(version(3, 0)),
            0x0907 => answer.bytes(&named_versions(EXTENSIONS.iter().map(|e| (*e, version(1, 0))))),
            0x0920 => answer.text("WVM"),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}
