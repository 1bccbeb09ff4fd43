//! What there is to know beside instructions: modifiers, registers, counters, hazards (`isa/topics.txt`).

use crate::layout::{Block, Page};

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
    let topic = topics().into_iter().find(|t| t.names.contains(&plain.as_str()))?;
    let mut page = Page::new(&topic.names.join(", "));
    page.push("What", Block::Text(topic.on.to_owned()));
    page.push("Meaning", Block::Text(topic.text.join(" ")));
    if let Some(command) = topic.try_it {
        page.push("Try", Block::Code(vec![command.to_owned()]));
    }
    if !topic.see.is_empty() {
        page.push("See also", Block::Text(topic.see.join(", ")));
    }
    Some(page)
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
}
