//! What there is to know beside instructions: modifiers, registers, counters, hazards, formats (`isa/topics.txt`).

use crate::layout::{Block, Page};
use crate::{examples, formats};

/// The topics' text.
const TEXT: &str = include_str!("../../../isa/topics.txt");

/// A topic as its file has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topic {
    /// Names that lead to it, the usual one first.
    pub names: Vec<&'static str>,
    /// What it is and where.
    pub on: &'static str,
    /// The text, line by line.
    pub text: Vec<&'static str>,
    /// Other topics and instructions.
    pub see: Vec<&'static str>,
    /// A command to try.
    pub try_it: Option<&'static str>,
}

/// Every topic, in the file's order.
pub fn topics() -> Vec<Topic> {
    let mut all: Vec<Topic> = Vec::new();
    for line in TEXT.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        if let Some(names) = line.strip_prefix("= ") {
            let names = names.split(", ").collect();
            all.push(Topic { names, on: "", text: Vec::new(), see: Vec::new(), try_it: None });
            continue;
        }
        let Some(topic) = all.last_mut() else { continue };
        if let Some(on) = line.strip_prefix("on: ") {
            topic.on = on;
        } else if let Some(see) = line.strip_prefix("see: ") {
            topic.see = see.split(", ").collect();
        } else if let Some(command) = line.strip_prefix("try: ") {
            topic.try_it = Some(command);
        } else {
            topic.text.push(line);
        }
    }
    all
}

/// The page of a topic; modifiers may come with a value (`row_shr:1`, `quad_perm:[0,1,2,3]`).
pub fn topic(name: &str) -> Option<Page> {
    let plain = name.split([':', '(', '[']).next().unwrap_or(name).trim().to_ascii_lowercase();
    let plain = register(&plain).unwrap_or(&plain);
    let topic = topics().into_iter().find(|t| t.names.contains(&plain));
    topic.map(|topic| topic.page()).or_else(|| formats::format(name))
}

/// The topic of a numbered register: `s4`, `v[2:3]` without its brackets, `ttmp11`.
fn register(name: &str) -> Option<&'static str> {
    let file = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(match file {
        "s" => "sgpr",
        "v" => "vgpr",
        "a" => "agpr",
        "ttmp" => "ttmp",
        _ => return None,
    })
}

impl Topic {
    /// Its page's name among the reference's.
    pub fn file(&self) -> String {
        self.names[0].replace(' ', "-")
    }

    /// Its page.
    pub fn page(&self) -> Page {
        let topic = self;
        let mut page = Page::new(&topic.names.join(", "));
        page.push("What", Block::Text(topic.on.to_owned()));
        page.push("Meaning", Block::Text(topic.text.join(" ")));
        let used = examples::using(&topic.names);
        if !used.is_empty() {
            let rows = used.into_iter().map(Vec::from);
            page.push("Examples", Block::table(&["text", "bytes by generation"], rows));
        }
        if let Some(command) = topic.try_it {
            page.push("Try", Block::Code(vec![command.to_owned()]));
        }
        if !topic.see.is_empty() {
            page.push("See also", Block::Text(topic.see.join(", ")));
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_lead_to_topics_and_instructions() {
        let all = topics();
        assert!(all.len() > 40, "{}", all.len());
        let mut names: Vec<&str> = all.iter().flat_map(|t| t.names.clone()).collect();
        for topic in &all {
            assert!(!topic.on.is_empty() && !topic.text.is_empty(), "{:?}", topic.names);
            for see in &topic.see {
                assert!(
                    names.contains(see) || crate::page(see).is_some(),
                    "{:?} leads to {see}",
                    topic.names
                );
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "each name once");
    }

    #[test]
    fn values_of_modifiers_are_left_out() {
        for name in ["row_shr:1", "QUAD_PERM:[3,2,1,0]", "vmcnt(0)", "blgp:4"] {
            assert!(topic(name).is_some(), "{name}");
        }
        assert!(topic("nonsense").is_none());
    }

    #[test]
    fn examples_use_what_the_page_is_about() {
        let shown = topic("row_bcast").unwrap().text();
        let examples = shown.split("Examples\n").nth(1).unwrap().split("\n\n").next().unwrap();
        assert!(examples.lines().count() >= 2, "{shown}");
        assert!(examples.lines().all(|l| l.contains("row_bcast:")), "{shown}");
        // One spelling is enough for several examples, which are instructions that do something.
        let shown = topic("row_shr").unwrap().text();
        let examples = shown.split("Examples\n").nth(1).unwrap().split("\n\n").next().unwrap();
        assert!(examples.lines().count() >= 3 && !examples.contains("v_nop"), "{shown}");
        assert!(!topic("vcc").unwrap().text().contains("Examples"), "registers are everywhere");
        assert!(!topic("op_sel").unwrap().text().contains("=*"), "all have bytes");
    }

    #[test]
    fn numbered_registers_are_those_of_their_file() {
        for (name, title) in [("s4", "sgpr"), ("v[2:3]", "vgpr"), ("a0", "agpr"), ("ttmp11", "ttmp")] {
            assert!(topic(name).unwrap().text().starts_with(title), "{name}");
        }
        assert!(topic("VOP3P").unwrap().text().starts_with("VOP3P\n"));
    }
}
