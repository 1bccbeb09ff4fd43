//! Metadata as comgr shows it: texts, lists and maps, whatever the types of numbers were.

use crate::kept::{Reader, Writer};
use std::sync::Arc;
use wavemill_object::metadata::Value;
use wavemill_object::read::{File, Kind};
use wavemill_object::{metadata, target_id};

/// Documents nested deeper than this are refused.
const MAX_DEPTH: usize = metadata::MAX_DEPTH;

/// A node of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// Nothing.
    Null,
    /// A text, or a number as one.
    Text(Vec<u8>),
    /// Values in order.
    List(Vec<Arc<Node>>),
    /// Values by key.
    Map(Vec<Entry>),
}

/// A key and its value.
pub type Entry = (Arc<Node>, Arc<Node>);

/// The metadata of a code object; none where AMD's library must be asked: for old versions, and for anything unusual.
pub fn of_object(bytes: &[u8]) -> Option<Node> {
    let file = File::parse(bytes).ok().filter(is_usual)?;
    let notes = file.notes().ok()?;
    let mut documents = notes.iter().filter_map(|n| n.document().transpose());
    let (Some(Ok(document)), None) = (documents.next(), documents.next()) else { return None };
    node(&document)
}

/// The target of a code object, likewise; of later versions than the fourth, AMD's library may not know it.
pub fn target_of_object(bytes: &[u8]) -> Option<String> {
    let file = File::parse(bytes).ok().filter(|f| is_usual(f) && f.version() == 4)?;
    Some(file.target_id().ok()??.to_string())
}

/// What the target of a code object depends on in AMD's library, if that is the header alone, as it is since version 3.
pub fn header(bytes: &[u8]) -> Option<&[u8]> {
    let header = bytes.get(..64)?;
    (header.starts_with(b"\x7fELF\x02\x01") && header[7] == 64 && header[8] >= 1).then_some(header)
}

/// Whether a name is a target's that AMD's library knows, too.
pub fn is_target(name: &str) -> bool {
    let Ok((id, style)) = target_id::TargetId::parse(name) else { return false };
    let Some(cpu) = id.cpu().filter(|_| style != Some(3)) else { return false };
    name.starts_with("amdgcn-amd-amdhsa--gfx")
        && (cpu.xnack.is_some() || !name.contains("xnack"))
        && (cpu.sramecc || !name.contains("sramecc"))
}

/// Version 4 or 5 of HSA, as every compiler has made it for years.
fn is_usual(file: &File<'_>) -> bool {
    let kind = matches!(file.kind, Kind::Shared | Kind::Relocatable);
    kind && file.catalyst.is_none() && matches!(file.version(), 4 | 5)
}

fn node(value: &Value<'_>) -> Option<Node> {
    Some(match value {
        Value::Int(n) => Node::Text(n.to_string().into()),
        Value::UInt(n) => Node::Text(n.to_string().into()),
        Value::Bool(b) => Node::Text(u8::from(*b).to_string().into()),
        Value::Str(text) => Node::Text(text.as_bytes().to_vec()),
        Value::Array(values) => {
            Node::List(values.iter().map(|v| node(v).map(Arc::new)).collect::<Option<_>>()?)
        }
        Value::Map(map) => {
            let entry = |(key, value): &(Value<'_>, Value<'_>)| {
                // Others are sorted otherwise.
                let Value::Str(key) = key else { return None };
                Some((Arc::new(Node::Text(key.as_bytes().to_vec())), Arc::new(node(value)?)))
            };
            Node::Map(map.iter().map(entry).collect::<Option<_>>()?)
        }
        Value::Nil | Value::Float(_) | Value::Bin(_) => return None,
    })
}

impl Node {
    /// Writes it down.
    pub fn write(&self, to: &mut Writer) {
        match self {
            Node::Null => to.number(0),
            Node::Text(text) => {
                to.number(1);
                to.bytes(text);
            }
            Node::List(nodes) => {
                to.number(2);
                to.number(nodes.len() as u64);
                nodes.iter().for_each(|n| n.write(to));
            }
            Node::Map(entries) => {
                to.number(3);
                to.number(entries.len() as u64);
                for (key, value) in entries {
                    key.write(to);
                    value.write(to);
                }
            }
        }
    }

    /// Reads one that was written down.
    pub fn read(from: &mut Reader<'_>) -> Option<Node> {
        Node::read_at(from, 0)
    }

    fn read_at(from: &mut Reader<'_>, depth: usize) -> Option<Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let one = |from: &mut Reader<'_>| Node::read_at(from, depth + 1).map(Arc::new);
        Some(match from.number()? {
            0 => Node::Null,
            1 => Node::Text(from.bytes()?.to_vec()),
            2 => {
                let count = from.number()?;
                Node::List((0..count).map(|_| one(from)).collect::<Option<_>>()?)
            }
            3 => {
                let count = from.number()?;
                Node::Map((0..count).map(|_| Some((one(from)?, one(from)?))).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<&Arc<Node>> {
        let Node::Map(entries) = self else { return None };
        let found = entries.iter().find(|(k, _)| matches!(&**k, Node::Text(text) if text == key));
        found.map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_back_as_they_were() {
        let text = |t: &str| Arc::new(Node::Text(t.into()));
        let list = Arc::new(Node::List(vec![text("1"), Arc::new(Node::Null), text("")]));
        let map = Node::Map(vec![(text("a"), list), (text("b"), text("2"))]);
        let mut writer = Writer::default();
        map.write(&mut writer);
        assert_eq!(Node::read(&mut Reader(&writer.0)).as_ref(), Some(&map));
        assert_eq!(map.get(b"b"), Some(&text("2")));
        assert_eq!(map.get(b"c"), None);
        for end in 0..writer.0.len() {
            assert_eq!(Node::read(&mut Reader(&writer.0[..end])), None);
        }
        // Lists in lists for ever, and one of more items than there can be.
        let deep: Vec<u8> = [2_u64, 1].repeat(100_000).into_iter().flat_map(u64::to_le_bytes).collect();
        assert_eq!(Node::read(&mut Reader(&deep)), None);
        let long: Vec<u8> = [2_u64, u64::MAX].into_iter().flat_map(u64::to_le_bytes).collect();
        assert_eq!(Node::read(&mut Reader(&long)), None);
    }

    #[test]
    fn targets_are_those_of_hsa() {
        assert!(is_target("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"));
        assert!(is_target("amdgcn-amd-amdhsa--gfx900"));
        for other in [
            "",
            "gfx90a",
            "amdgcn-amd-amdhsa--gfx90a+xnack",
            "amdgcn-amd-amdpal--gfx900",
            "amdgcn-amd-amdhsa--gfx90z",
            "amdgcn-amd-amdhsa--gfx803:xnack+",
        ] {
            assert!(!is_target(other), "{other}");
        }
    }
}
