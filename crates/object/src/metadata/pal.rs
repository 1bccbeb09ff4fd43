//! PAL metadata: register settings and shader properties for AMD's graphics drivers, in the old form (pairs of
//! numbers) or the new (a document whose registers are numbered, or numbered and named).

use super::{Error, Location, Map, Value, from_yaml, msgpack, to_yaml};
use crate::elf;

#[path = "pal_registers.rs"]
mod registers;
pub use registers::register_name;

/// PAL metadata collected from the directives of a source.
#[derive(Clone, Debug, Default)]
pub struct Pal {
    legacy: bool,
    document: Option<Value<'static>>,
}

impl Pal {
    /// Sets registers in the old form, `pairs` of register and value. A register set twice gets the bits of both.
    pub fn set_legacy(&mut self, pairs: &[(u32, u32)]) {
        self.legacy = true;
        let document = self.document.get_or_insert(Value::Nil);
        let Some(Value::Map(map)) = registers_of(document) else { return };
        for &(register, value) in pairs {
            let key = Value::UInt(u64::from(register));
            let old = map.get_value(&key).and_then(Value::as_u64).unwrap_or(0);
            map.insert(key, Value::UInt(old | u64::from(value)));
        }
    }

    /// Takes a document of the new form. Register keys may be named: `0x2c0a (SPI_SHADER_PGM_RSRC1_PS)`.
    pub fn set_from_yaml(&mut self, text: &str) -> Result<(), Error> {
        let mut document = from_yaml(text)?;
        if let Some(registers) = registers_of(&mut document) {
            let Value::Map(old) = std::mem::replace(registers, Value::Map(Map::new())) else { return Ok(()) };
            let mut numbered = Map::new();
            for (key, value) in old.into_entries() {
                let key = match key.as_str() {
                    None => key,
                    Some(text) => {
                        let number = text.split([' ', '(']).next().and_then(super::parse_unsigned);
                        let unknown = || format!("'{text}' is no register number");
                        let place = Location::Path(".registers".into());
                        Value::UInt(number.ok_or_else(|| Error { message: unknown(), place })?)
                    }
                };
                numbered.insert(key, value);
            }
            *registers = Value::Map(numbered);
        }
        self.legacy = false;
        self.document = Some(document);
        Ok(())
    }

    fn legacy_pairs(&self) -> Vec<(u32, u32)> {
        let pipeline = self.document.as_ref().and_then(|d| d.get("amdpal.pipelines")?.as_array()?.first());
        let Some(map) = pipeline.and_then(|p| p.get(".registers")?.as_map()) else { return Vec::new() };
        let pair = |(k, v): &(Value<'_>, Value<'_>)| Some((k.as_u64()? as u32, v.as_u64()? as u32));
        map.iter().filter_map(pair).collect()
    }

    /// The directives that say it, empty when there is nothing to say.
    pub fn to_text(&self) -> String {
        let Some(document) = &self.document else { return String::new() };
        if self.legacy {
            let pairs: Vec<_> = self.legacy_pairs().iter().map(|(r, v)| format!("0x{r:x},0x{v:x}")).collect();
            return format!("\t.amd_amdgpu_pal_metadata {}\n", pairs.join(","));
        }
        let mut document = document.clone();
        if let Some(registers) = registers_of(&mut document) {
            let Value::Map(numbered) = std::mem::replace(registers, Value::Nil) else { return String::new() };
            let mut named = Map::new();
            for (key, value) in numbered.into_entries() {
                let name = key.as_u64().and_then(|n| register_name(u32::try_from(n).ok()?));
                let key = match name {
                    Some(name) => Value::Str(format!("{} ({name})", key.scalar_text(true)).into()),
                    None => key,
                };
                named.insert(key, value);
            }
            *registers = Value::Map(named);
        }
        format!("\t.amdgpu_pal_metadata\n{}\t.end_amdgpu_pal_metadata\n", to_yaml(&document, true))
    }

    /// The note that says it: owner, type and contents. `None` when there is nothing to say.
    pub fn to_note(&self) -> Option<(&'static str, u32, Vec<u8>)> {
        let document = self.document.as_ref()?;
        if self.legacy {
            let words = self.legacy_pairs().into_iter().flat_map(|(r, v)| [r, v]);
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            return (!bytes.is_empty()).then_some((elf::NOTE_NAME_V2, elf::NT_AMD_PAL_METADATA, bytes));
        }
        Some((elf::NOTE_NAME_V3, elf::NT_AMDGPU_METADATA, msgpack::write(document)))
    }
}

/// The node of the first pipeline's registers, made if it is not there. `None` when something else is in its place.
fn registers_of<'d, 'a>(document: &'d mut Value<'a>) -> Option<&'d mut Value<'a>> {
    fn member<'d, 'a>(
        value: &'d mut Value<'a>,
        key: &'static str,
        new: Value<'a>,
    ) -> Option<&'d mut Value<'a>> {
        if *value == Value::Nil {
            *value = Value::Map(Map::new());
        }
        let Value::Map(map) = value else { return None };
        if map.get(key).is_none() {
            map.insert(Value::str(key), new);
        }
        map.get_mut(key)
    }
    let Value::Array(pipelines) = member(document, "amdpal.pipelines", Value::Array(Vec::new()))? else {
        return None;
    };
    if pipelines.is_empty() {
        pipelines.push(Value::Nil);
    }
    let registers = member(pipelines.first_mut()?, ".registers", Value::Map(Map::new()))?;
    matches!(registers, Value::Map(_)).then_some(registers)
}
