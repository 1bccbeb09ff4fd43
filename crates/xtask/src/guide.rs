//! `cargo xtask guide`: the guide and the instruction set reference as one site, in `target/guide`.
//!
//! The pages are put together in `target/guide-pages`, the reference's behind the guide's; every link between them is
//! checked; then mdBook makes the site. `--check` stops before that, and needs nothing but Rust.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Puts the pages together, checks their links, and makes the site unless only the check is wanted.
pub fn run(root: &Path, check: bool) -> Result<(), String> {
    let pages = root.join("target/guide-pages");
    // What an earlier run has left would be part of the site.
    let _ = std::fs::remove_dir_all(&pages);
    let count = stage(root, &pages)?;
    let broken = links(&pages.join("src"))?;
    if !broken.is_empty() {
        return Err(format!("links that lead nowhere:\n  {}", broken.join("\n  ")));
    }
    println!("{count} pages, every link leads somewhere");
    if check {
        return Ok(());
    }
    let built = Command::new("mdbook")
        .arg("build")
        .arg(&pages)
        .arg("--dest-dir")
        .arg(root.join("target/guide"))
        .status();
    match built {
        Ok(status) if status.success() => {
            println!("{}", root.join("target/guide/index.html").display());
            Ok(())
        }
        Ok(status) => Err(format!("mdbook: {status}")),
        Err(e) => Err(format!("mdbook: {e}; `cargo install mdbook` has it")),
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(path, text)).map_err(|e| format!("{}: {e}", path.display()))
}

/// The pages of a directory by name.
fn pages(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut all: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
        .collect();
    all.sort();
    Ok(all)
}

/// Copies guide and reference, and lists the reference's pages behind the guide's.
fn stage(root: &Path, to: &Path) -> Result<usize, String> {
    let guide = root.join("docs/guide");
    write(&to.join("book.toml"), &read(&guide.join("book.toml"))?)?;
    let mut count = 0;
    for page in pages(&guide.join("src"))? {
        let name = page.file_name().unwrap_or_default();
        // In the repository the reference stands beside the guide, on the site below it.
        let mut text = read(&page)?.replace("(../../isa/", "(isa/");
        if name == "SUMMARY.md" {
            text += "\n# Instructions\n\n- [The instruction set](isa/README.md)\n";
            for page in pages(&root.join("docs/isa"))?.iter().filter(|p| !p.ends_with("README.md")) {
                let stem = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                text += &format!("  - [{stem}](isa/{stem}.md)\n");
            }
        }
        write(&to.join("src").join(name), &text)?;
        count += 1;
    }
    for page in pages(&root.join("docs/isa"))? {
        let text = read(&page)?;
        write(&to.join("src/isa").join(page.file_name().unwrap_or_default()), &text)?;
        count += 1;
    }
    Ok(count)
}

/// Links to files that are not there, and to headings that their page does not have. Links into the repository beyond the
/// pages and to the web are left alone.
fn links(source: &Path) -> Result<Vec<String>, String> {
    let mut all = pages(source)?;
    all.extend(pages(&source.join("isa"))?);
    let mut broken = Vec::new();
    for page in &all {
        let text = read(page)?;
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            if fenced || line.starts_with("    ") && !line.trim_start().starts_with(['-', '*']) {
                continue;
            }
            for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                if target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                let (file, heading) = target.split_once('#').map_or((target, None), |(f, h)| (f, Some(h)));
                let path =
                    if file.is_empty() { page.clone() } else { page.parent().unwrap_or(source).join(file) };
                let outside = file.starts_with("../../");
                let found = outside || path.is_file();
                let named = heading.is_none_or(|h| outside || headings(&path).contains(h));
                if !found || !named {
                    let shown = page.strip_prefix(source).unwrap_or(page).display();
                    broken.push(format!("{shown}:{}: {target}", number + 1));
                }
            }
        }
    }
    Ok(broken)
}

/// The names by which a page's headings are linked to.
fn headings(page: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let titles = text.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim());
    titles
        .map(|title| {
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.collect::<String>().to_lowercase().replace(' ', "-")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_link_of_the_guide_leads_somewhere() {
        super::run(&crate::root(), true).unwrap();
    }

    #[test]
    fn every_page_of_the_guide_is_listed() {
        let source = crate::root().join("docs/guide/src");
        let summary = super::read(&source.join("SUMMARY.md")).unwrap();
        for page in super::pages(&source).unwrap() {
            let name = page.file_name().unwrap().to_string_lossy().into_owned();
            assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name}");
        }
    }
}
