//! What the HSA metadata of code object v3 and later contains (AMDGPU guide, "Code Object V3 Metadata" and later).

use super::{Error, Location, Map, Value};

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Any text.
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// An integer.
    Integer,
    /// True or false.
    Boolean,
    /// So many integers.
    Integers(usize),
    /// Texts.
    Texts,
    /// Mappings of this form.
    Mappings(&'static [Key]),
}

/// One key of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// Whether the mapping must have it.
    pub required: bool,
    /// What its value is.
    pub form: Form,
}

const fn needs(name: &'static str, form: Form) -> Key {
    Key { name, required: true, form }
}

const fn may(name: &'static str, form: Form) -> Key {
    Key { name, required: false, form }
}

const ACCESS: Form = Form::OneOf(&["read_only", "write_only", "read_write"]);

/// Values of `.value_kind`.
pub const VALUE_KINDS: &[&str] = &[
    "by_value",
    "global_buffer",
    "dynamic_shared_pointer",
    "sampler",
    "image",
    "pipe",
    "queue",
    "hidden_block_count_x",
    "hidden_block_count_y",
    "hidden_block_count_z",
    "hidden_group_size_x",
    "hidden_group_size_y",
    "hidden_group_size_z",
    "hidden_remainder_x",
    "hidden_remainder_y",
    "hidden_remainder_z",
    "hidden_global_offset_x",
    "hidden_global_offset_y",
    "hidden_global_offset_z",
    "hidden_grid_dims",
    "hidden_none",
    "hidden_printf_buffer",
    "hidden_hostcall_buffer",
    "hidden_heap_v1",
    "hidden_default_queue",
    "hidden_completion_action",
    "hidden_multigrid_sync_arg",
    "hidden_dynamic_lds_size",
    "hidden_private_base",
    "hidden_shared_base",
    "hidden_queue_ptr",
];

/// The mapping of a kernel argument.
pub const ARGUMENT: &[Key] = &[
    may(".name", Form::Text),
    may(".type_name", Form::Text),
    needs(".size", Form::Integer),
    needs(".offset", Form::Integer),
    needs(".value_kind", Form::OneOf(VALUE_KINDS)),
    may(".pointee_align", Form::Integer),
    may(".address_space", Form::OneOf(&["private", "global", "constant", "local", "generic", "region"])),
    may(".access", ACCESS),
    may(".actual_access", ACCESS),
    may(".is_const", Form::Boolean),
    may(".is_restrict", Form::Boolean),
    may(".is_volatile", Form::Boolean),
    may(".is_pipe", Form::Boolean),
];

/// The mapping of a kernel.
pub const KERNEL: &[Key] = &[
    needs(".name", Form::Text),
    needs(".symbol", Form::Text),
    may(".language", Form::OneOf(&["OpenCL C", "OpenCL C++", "HCC", "HIP", "OpenMP", "Assembler"])),
    may(".language_version", Form::Integers(2)),
    may(".args", Form::Mappings(ARGUMENT)),
    may(".reqd_workgroup_size", Form::Integers(3)),
    may(".workgroup_size_hint", Form::Integers(3)),
    may(".vec_type_hint", Form::Text),
    may(".device_enqueue_symbol", Form::Text),
    needs(".kernarg_segment_size", Form::Integer),
    needs(".group_segment_fixed_size", Form::Integer),
    needs(".private_segment_fixed_size", Form::Integer),
    may(".uses_dynamic_stack", Form::Boolean),
    may(".workgroup_processor_mode", Form::Integer),
    needs(".kernarg_segment_align", Form::Integer),
    needs(".wavefront_size", Form::Integer),
    needs(".sgpr_count", Form::Integer),
    needs(".vgpr_count", Form::Integer),
    needs(".max_flat_workgroup_size", Form::Integer),
    may(".sgpr_spill_count", Form::Integer),
    may(".vgpr_spill_count", Form::Integer),
    may(".uniform_work_group_size", Form::Integer),
];

/// The document.
pub const DOCUMENT: &[Key] = &[
    needs("amdhsa.version", Form::Integers(2)),
    may("amdhsa.printf", Form::Texts),
    needs("amdhsa.kernels", Form::Mappings(KERNEL)),
];

/// Checks a document and says what is wrong with it first. Text that reads as the wanted type is made that type;
/// keys that are in no table are left alone.
pub fn verify(document: &mut Value<'_>) -> Result<(), Error> {
    mapping(document, DOCUMENT, "")
}

fn wrong(path: &str, message: String) -> Error {
    let path = if path.is_empty() { "the document" } else { path };
    Error { message, place: Location::Path(path.into()) }
}

fn mapping(value: &mut Value<'_>, keys: &[Key], path: &str) -> Result<(), Error> {
    let kind = value.kind_name();
    let Value::Map(map) = value else { return Err(wrong(path, format!("a mapping is needed, not {kind}"))) };
    for key in keys {
        entry(map, key, path)?;
    }
    Ok(())
}

fn entry(map: &mut Map<'_>, key: &Key, path: &str) -> Result<(), Error> {
    match map.get_mut(key.name) {
        None if key.required => Err(wrong(path, format!("'{}' is missing", key.name))),
        None => Ok(()),
        Some(value) => form(value, key.form, &|| join(path, key.name)),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path} {name}") }
}

fn form(value: &mut Value<'_>, wanted: Form, path: &dyn Fn() -> String) -> Result<(), Error> {
    let elements = |value: &mut Value<'_>, each: Form| match value {
        Value::Array(elements) => elements
            .iter_mut()
            .enumerate()
            .try_for_each(|(i, e)| form(e, each, &|| format!("{}[{i}]", path()))),
        other => Err(wrong(&path(), format!("an array is needed, not {}", other.kind_name()))),
    };
    match wanted {
        Form::Mappings(keys) => match value {
            Value::Array(all) => all
                .iter_mut()
                .enumerate()
                .try_for_each(|(i, v)| mapping(v, keys, &format!("{}[{i}]", path()))),
            other => Err(wrong(&path(), format!("an array is needed, not {}", other.kind_name()))),
        },
        Form::Integers(count) => {
            if value.as_array().is_some_and(|a| a.len() != count) {
                return Err(wrong(&path(), format!("{count} integers are needed")));
            }
            elements(value, Form::Integer)
        }
        Form::Texts => elements(value, Form::Text),
        Form::Text | Form::OneOf(_) | Form::Integer | Form::Boolean => scalar(value, wanted, path),
    }
}

fn scalar(value: &mut Value<'_>, wanted: Form, path: &dyn Fn() -> String) -> Result<(), Error> {
    // Text may stand for what it reads as.
    if !matches!(wanted, Form::Text | Form::OneOf(_))
        && let Value::Str(text) = value
    {
        *value = Value::from_scalar(text.clone());
    }
    let what = match (wanted, &*value) {
        (Form::Text, Value::Str(_)) => return Ok(()),
        (Form::Integer, Value::Int(_) | Value::UInt(_)) => return Ok(()),
        (Form::Boolean, Value::Bool(_)) => return Ok(()),
        (Form::OneOf(texts), Value::Str(text)) if texts.contains(&text.as_ref()) => return Ok(()),
        (Form::OneOf(texts), Value::Str(text)) => {
            return Err(wrong(&path(), format!("'{text}' is none of {}", texts.join(", "))));
        }
        (Form::Integer, _) => "an integer",
        (Form::Boolean, _) => "a Boolean",
        _ => "a string",
    };
    Err(wrong(&path(), format!("{what} is needed, not {}", value.kind_name())))
}
