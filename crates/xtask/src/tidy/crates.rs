//! ARCHITECTURE.md against the manifests: the table of crates, and the places that have unsafe code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A row of the table of crates.
struct Room {
    name: String,
    /// Crates it uses; none for "all".
    uses: Option<BTreeSet<String>>,
}

/// The rows of the table that starts with a head.
fn table<'a>(page: &'a str, head: &'a str) -> impl Iterator<Item = Vec<&'a str>> + 'a {
    let rows = page.lines().skip_while(move |l| *l != head).skip(2).take_while(|l| l.starts_with('|'));
    rows.map(|l| l.trim_matches('|').split('|').map(str::trim).collect())
}

/// What is wrong with the table of crates.
pub fn check(page: &str, root: &Path) -> Result<Vec<String>, String> {
    let list = |text: &str| match text {
        "all" => None,
        "nothing" => Some(BTreeSet::new()),
        names => Some(names.split(',').map(|n| n.trim().to_owned()).collect()),
    };
    let rooms: Vec<Room> = table(page, "| crate | its room | may use |")
        .filter_map(|r| match r[..] {
            [name, _, uses] => Some(Room { name: name.trim_matches('`').to_owned(), uses: list(uses) }),
            _ => None,
        })
        .collect();
    let manifests = manifests(root)?;
    let mut wrong = Vec::new();
    let names: BTreeSet<&String> = rooms.iter().map(|r| &r.name).collect();
    for name in manifests.keys().filter(|n| !names.contains(n)) {
        wrong.push(format!("ARCHITECTURE.md: the table of crates has no `{name}`"));
    }
    for (i, room) in rooms.iter().enumerate() {
        let Some(uses) = manifests.get(&room.name) else {
            wrong.push(format!("ARCHITECTURE.md: there is no crate `{}`", room.name));
            continue;
        };
        for used in uses {
            if room.uses.as_ref().is_some_and(|allowed| !allowed.contains(used)) {
                wrong
                    .push(format!("crates/{}/Cargo.toml: may not use `{used}` (ARCHITECTURE.md)", room.name));
            }
            if !rooms[..i].iter().any(|above| above.name == *used) {
                wrong.push(format!("ARCHITECTURE.md: `{used}` stands below `{}`, which uses it", room.name));
            }
        }
        for allowed in room.uses.iter().flatten().filter(|a| !uses.contains(*a)) {
            wrong.push(format!("ARCHITECTURE.md: `{}` does not use `{allowed}`", room.name));
        }
    }
    Ok(wrong)
}

/// The crates with the crates of ours that they depend on, tests aside.
pub fn manifests(root: &Path) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(root.join("crates")).map_err(|e| format!("crates: {e}"))?.flatten() {
        let file = entry.path().join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let mut section = "";
        let mut uses = BTreeSet::new();
        for line in text.lines() {
            if line.starts_with('[') {
                section = line;
            } else if section == "[dependencies]"
                && let Some((name, _)) = line.split_once(['.', '=', ' '])
                && let Some(name) = name.strip_prefix("wavemill-")
            {
                uses.insert(name.to_owned());
            }
        }
        out.insert(entry.file_name().to_string_lossy().into_owned(), uses);
    }
    Ok(out)
}

/// The files and directories that may have unsafe code, from the page's table of them.
pub fn unsafe_places(page: &str) -> Vec<String> {
    let rows = table(page, "| unsafe code in | what for |");
    rows.flat_map(|r| r.first().copied().unwrap_or_default().split(',').map(place).collect::<Vec<_>>())
        .collect()
}

fn place(text: &str) -> String {
    format!("crates/{}", text.trim().trim_matches('`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_a_page() {
        let page =
            "text\n| unsafe code in | what for |\n|---|---|\n| `a/src/x.rs`, `b/src` | maps |\n\n| c | d |\n";
        assert_eq!(unsafe_places(page), ["crates/a/src/x.rs", "crates/b/src"]);
    }
}
