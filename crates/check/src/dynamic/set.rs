//! Which checks there are, and which are wanted.

use std::fmt;

/// A check of running code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Check {
    /// Accesses outside of what they are meant for.
    Mem,
    /// Bits that nobody has written decide something.
    Init,
    /// Accesses that nothing puts in order.
    Race,
    /// Barriers that not all reach, waves that wait for ever.
    Sync,
    /// Registers used before their counter allows it.
    Wait,
    /// Wait states that are missing.
    Hazard,
    /// Memory that is never freed.
    Leak,
}

impl Check {
    /// All of them.
    pub const ALL: [Check; 7] =
        [Check::Mem, Check::Init, Check::Race, Check::Sync, Check::Wait, Check::Hazard, Check::Leak];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Check::Mem => "mem",
            Check::Init => "init",
            Check::Race => "race",
            Check::Sync => "sync",
            Check::Wait => "wait",
            Check::Hazard => "hazard",
            Check::Leak => "leak",
        }
    }
}

/// A set of checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks(u8);

impl Default for Checks {
    /// All but `leak`, which only who asks for it wants.
    fn default() -> Checks {
        Checks(Check::ALL.iter().filter(|c| **c != Check::Leak).fold(0, |set, c| set | 1 << *c as u8))
    }
}

impl Checks {
    /// Reads a list with commas; an empty one is the default.
    pub fn parse(text: &str) -> Result<Checks, String> {
        if text.trim().is_empty() {
            return Ok(Checks::default());
        }
        let mut set = Checks(0);
        for name in text.split(',').map(str::trim) {
            let Some(check) = Check::ALL.iter().find(|c| c.name() == name) else {
                let names: Vec<&str> = Check::ALL.iter().map(|c| c.name()).collect();
                return Err(format!("`{name}` is no check; there are {}", names.join(", ")));
            };
            set.0 |= 1 << *check as u8;
        }
        Ok(set)
    }

    /// Whether a check is wanted.
    pub const fn has(self, check: Check) -> bool {
        self.0 >> check as u8 & 1 != 0
    }
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Check::ALL.iter().filter(|c| self.has(**c)).map(|c| c.name()).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        assert_eq!(Checks::parse("").unwrap().to_string(), "mem,init,race,sync,wait,hazard");
        assert_eq!(Checks::parse("sync, mem").unwrap().to_string(), "mem,sync");
        assert!(Checks::parse("leak").unwrap().has(Check::Leak));
        assert!(Checks::parse("mem,memory").unwrap_err().contains("`memory` is no check"));
    }
}
