//! Which Wavemill this is.

use std::sync::LazyLock;

/// Version and commit, such as `0.1.0 (1a2b3c4 2026-05-01)`; the version alone where the commit is not known.
pub static VERSION: LazyLock<String> = LazyLock::new(|| match env!("WAVEMILL_COMMIT") {
    "" => env!("CARGO_PKG_VERSION").to_owned(),
    commit => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
});

/// The same for clap, which keeps it for good.
pub fn version() -> &'static str {
    &VERSION
}
