//! How options say how long something may take.

use std::time::Duration;

/// A number of seconds, with a fraction if need be.
pub fn parse(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds.ok_or_else(|| format!("`{text}` is not a number of seconds from 0 up"))
}
