//! What metadata of any version says about a kernel, in one form.

use super::msgpack::Reader;
use super::{Error, Value};
use std::borrow::Cow;

/// A kernel's metadata. Numbers that are not said are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel<'a> {
    /// Source name.
    pub name: Cow<'a, str>,
    /// Symbol of the descriptor, or of the kernel in version 2.
    pub symbol: Cow<'a, str>,
    /// Source language.
    pub language: Option<Cow<'a, str>>,
    /// Its version.
    pub language_version: Option<[u32; 2]>,
    /// `normal`, `init` or `fini`.
    pub kind: Option<Cow<'a, str>>,
    /// Arguments, in order.
    pub args: Vec<Argument<'a>>,
    /// The work-group size that a dispatch must have.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// The work-group size that a dispatch is likely to have.
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// OpenCL's `vec_type_hint`.
    pub vec_type_hint: Option<Cow<'a, str>>,
    /// Symbol for device-side enqueueing.
    pub device_enqueue_symbol: Option<Cow<'a, str>>,
    /// Bytes of arguments.
    pub kernarg_segment_size: Option<u64>,
    /// Alignment of the arguments in bytes.
    pub kernarg_segment_align: Option<u64>,
    /// LDS bytes of a work-group, dynamic ones not counted.
    pub group_segment_fixed_size: Option<u64>,
    /// Scratch bytes of a work-item.
    pub private_segment_fixed_size: Option<u64>,
    /// Whether more scratch may be needed.
    pub uses_dynamic_stack: bool,
    /// Lanes of a wave.
    pub wavefront_size: Option<u32>,
    /// Scalar registers, VCC and its like included.
    pub sgpr_count: Option<u32>,
    /// Vector registers, AccVGPRs included on gfx90a.
    pub vgpr_count: Option<u32>,
    /// Accumulation registers.
    pub agpr_count: Option<u32>,
    /// Spilled scalar registers.
    pub sgpr_spill_count: Option<u32>,
    /// Spilled vector registers.
    pub vgpr_spill_count: Option<u32>,
    /// Largest work-group.
    pub max_flat_workgroup_size: Option<u32>,
    /// Keys that are in no table, with their values.
    pub other: Vec<(Cow<'a, str>, Value<'a>)>,
}

/// A kernel argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Argument<'a> {
    /// Name in the source.
    pub name: Option<Cow<'a, str>>,
    /// Type in the source.
    pub type_name: Option<Cow<'a, str>>,
    /// Where it is among the arguments.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// What it is, in the words of version 3: `by_value`, `global_buffer`, `hidden_…`; Catalyst's `by_reference` is a
    /// structure of which the address of a copy is passed.
    pub value_kind: Cow<'a, str>,
    /// What a value or a pointer's target is made of, where older compilers say so: `f32`, `i8`, `struct`.
    pub value_type: Option<Cow<'a, str>>,
    /// `global`, `constant`, `local` …
    pub address_space: Option<Cow<'a, str>>,
    /// `read_only`, `write_only`, `read_write`.
    pub access: Option<Cow<'a, str>>,
    /// What the kernel really does.
    pub actual_access: Option<Cow<'a, str>>,
    /// Alignment of what a pointer to LDS points to.
    pub pointee_align: Option<u64>,
    /// Bytes of what is passed by reference.
    pub pointee_size: Option<u64>,
    /// `const`.
    pub is_const: bool,
    /// `restrict`.
    pub is_restrict: bool,
    /// `volatile`.
    pub is_volatile: bool,
    /// `pipe`.
    pub is_pipe: bool,
}

/// Reads the kernels of a version 3 or later note, one after the other, so that the document need not be kept.
pub fn from_msgpack<'a>(bytes: &'a [u8], all: &mut Vec<Kernel<'a>>) -> Result<(), Error> {
    let mut reader = Reader::new(bytes);
    for _ in 0..reader.enter_map()? {
        let key = reader.next_value()?;
        if key.as_str() == Some("amdhsa.kernels") {
            for _ in 0..reader.enter_array()? {
                all.push(kernel(reader.next_value()?));
            }
        } else {
            reader.next_value()?;
        }
    }
    Ok(())
}

/// The kernels of a version 3 or later document.
pub fn from_document<'a>(document: &Value<'a>) -> Vec<Kernel<'a>> {
    let kernels = document.get("amdhsa.kernels").and_then(Value::as_array).unwrap_or(&[]);
    kernels.iter().cloned().map(kernel).collect()
}

fn text<'a>(value: Value<'a>) -> Option<Cow<'a, str>> {
    match value {
        Value::Str(s) => Some(s),
        Value::Array(_) | Value::Map(_) | Value::Nil => None,
        scalar => Some(Cow::Owned(scalar.scalar_text(false).into_owned())),
    }
}

fn number(value: &Value<'_>) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}

fn numbers<const N: usize>(value: &Value<'_>) -> Option<[u32; N]> {
    let all: Vec<u32> = value.as_array()?.iter().map(number).collect::<Option<_>>()?;
    all.try_into().ok()
}

fn kernel(value: Value<'_>) -> Kernel<'_> {
    let mut k = Kernel::default();
    let Value::Map(map) = value else { return k };
    for (key, value) in map.into_entries() {
        let Value::Str(key) = key else { continue };
        match key.as_ref() {
            ".name" => k.name = text(value).unwrap_or_default(),
            ".symbol" => k.symbol = text(value).unwrap_or_default(),
            ".language" => k.language = text(value),
            ".language_version" => k.language_version = numbers(&value),
            ".kind" => k.kind = text(value),
            ".args" => {
                if let Value::Array(args) = value {
                    k.args = args.into_iter().map(argument).collect();
                }
            }
            ".reqd_workgroup_size" => k.reqd_workgroup_size = numbers(&value),
            ".workgroup_size_hint" => k.workgroup_size_hint = numbers(&value),
            ".vec_type_hint" => k.vec_type_hint = text(value),
            ".device_enqueue_symbol" => k.device_enqueue_symbol = text(value),
            ".kernarg_segment_size" => k.kernarg_segment_size = value.as_u64(),
            ".kernarg_segment_align" => k.kernarg_segment_align = value.as_u64(),
            ".group_segment_fixed_size" => k.group_segment_fixed_size = value.as_u64(),
            ".private_segment_fixed_size" => k.private_segment_fixed_size = value.as_u64(),
            ".uses_dynamic_stack" => k.uses_dynamic_stack = value.as_bool() == Some(true),
            ".wavefront_size" => k.wavefront_size = number(&value),
            ".sgpr_count" => k.sgpr_count = number(&value),
            ".vgpr_count" => k.vgpr_count = number(&value),
            ".agpr_count" => k.agpr_count = number(&value),
            ".sgpr_spill_count" => k.sgpr_spill_count = number(&value),
            ".vgpr_spill_count" => k.vgpr_spill_count = number(&value),
            ".max_flat_workgroup_size" => k.max_flat_workgroup_size = number(&value),
            _ => k.other.push((key, value)),
        }
    }
    k
}

fn argument(value: Value<'_>) -> Argument<'_> {
    let mut a = Argument::default();
    let Value::Map(map) = value else { return a };
    for (key, value) in map.into_entries() {
        let truth = value.as_bool() == Some(true);
        match key.as_str().unwrap_or("") {
            ".name" => a.name = text(value),
            ".type_name" => a.type_name = text(value),
            ".offset" => a.offset = value.as_u64().unwrap_or(0),
            ".size" => a.size = value.as_u64().unwrap_or(0),
            ".value_kind" => a.value_kind = text(value).unwrap_or_default(),
            ".value_type" => a.value_type = text(value),
            ".address_space" => a.address_space = text(value),
            ".access" => a.access = text(value),
            ".actual_access" => a.actual_access = text(value),
            ".pointee_align" => a.pointee_align = value.as_u64(),
            ".is_const" => a.is_const = truth,
            ".is_restrict" => a.is_restrict = truth,
            ".is_volatile" => a.is_volatile = truth,
            ".is_pipe" => a.is_pipe = truth,
            _ => {}
        }
    }
    a
}

/// `HiddenGlobalOffsetX` as later versions spell it, `hidden_global_offset_x`.
fn snake_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    for c in text.replace("MultiGrid", "Multigrid").chars() {
        if c.is_ascii_uppercase() {
            if !out.is_empty() {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}

/// The kernels of a version 2 document. Argument offsets, which it does not state, follow from sizes and alignments.
pub fn from_v2(document: &Value<'static>) -> Vec<Kernel<'static>> {
    let kernels = document.get("Kernels").and_then(Value::as_array).unwrap_or(&[]);
    kernels.iter().map(v2_kernel).collect()
}

fn v2_kernel(value: &Value<'static>) -> Kernel<'static> {
    let string = |v: &Value<'static>, key: &str| v.get(key).cloned().and_then(text);
    let empty = Value::Nil;
    let code = value.get("CodeProps").unwrap_or(&empty);
    let attrs = value.get("Attrs").unwrap_or(&empty);
    let wide = |key: &str| code.get(key).and_then(Value::as_u64);
    let narrow = |key: &str| code.get(key).and_then(number);
    let mut offset = 0u64;
    let args = value.get("Args").and_then(Value::as_array).unwrap_or(&[]);
    let args = args.iter().map(|a| {
        let number = |key: &str| a.get(key).and_then(Value::as_u64);
        let truth = |key: &str| a.get(key).and_then(Value::as_bool) == Some(true);
        let word = |key: &str| string(a, key).map(|w| Cow::Owned(snake_case(&w)));
        let align = number("Align").filter(|n| n.is_power_of_two()).unwrap_or(1);
        let size = number("Size").unwrap_or(0);
        offset = offset.checked_next_multiple_of(align).unwrap_or(offset);
        let at = offset;
        offset = offset.saturating_add(size);
        Argument {
            name: string(a, "Name"),
            type_name: string(a, "TypeName"),
            offset: at,
            size,
            value_kind: word("ValueKind").unwrap_or_default(),
            value_type: string(a, "ValueType").map(|t| Cow::Owned(t.to_ascii_lowercase())),
            address_space: word("AddrSpaceQual"),
            access: word("AccQual").filter(|w| w != "default"),
            actual_access: word("ActualAccQual").filter(|w| w != "default"),
            pointee_align: number("PointeeAlign"),
            pointee_size: None,
            is_const: truth("IsConst"),
            is_restrict: truth("IsRestrict"),
            is_volatile: truth("IsVolatile"),
            is_pipe: truth("IsPipe"),
        }
    });
    Kernel {
        name: string(value, "Name").unwrap_or_default(),
        symbol: string(value, "SymbolName").unwrap_or_default(),
        language: string(value, "Language"),
        language_version: value.get("LanguageVersion").and_then(numbers),
        kind: None,
        args: args.collect(),
        reqd_workgroup_size: attrs.get("ReqdWorkGroupSize").and_then(numbers),
        workgroup_size_hint: attrs.get("WorkGroupSizeHint").and_then(numbers),
        vec_type_hint: string(attrs, "VecTypeHint"),
        device_enqueue_symbol: string(attrs, "RuntimeHandle"),
        kernarg_segment_size: wide("KernargSegmentSize"),
        kernarg_segment_align: wide("KernargSegmentAlign"),
        group_segment_fixed_size: wide("GroupSegmentFixedSize"),
        private_segment_fixed_size: wide("PrivateSegmentFixedSize"),
        uses_dynamic_stack: code.get("IsDynamicCallStack").and_then(Value::as_bool) == Some(true),
        wavefront_size: narrow("WavefrontSize"),
        sgpr_count: narrow("NumSGPRs"),
        vgpr_count: narrow("NumVGPRs"),
        agpr_count: None,
        sgpr_spill_count: narrow("NumSpilledSGPRs"),
        vgpr_spill_count: narrow("NumSpilledVGPRs"),
        max_flat_workgroup_size: narrow("MaxFlatWorkGroupSize"),
        other: Vec::new(),
    }
}
