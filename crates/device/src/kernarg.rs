//! Argument blocks: what a caller gives, and the hidden arguments that a runtime adds (AMDGPU guide, "Code Object
//! Kernel Argument Metadata", for versions 2 to 5).

use crate::kernel::{Argument, Kernel};
use std::fmt;
use std::ops::Range;
use wavemill_object::demangle;
use wavemill_wave::GroupShared;

/// A value for one visible argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Address of a buffer.
    Pointer(u64),
    /// Bytes passed as they are.
    Bytes(Vec<u8>),
    /// So many bytes of LDS; the argument is their address.
    Local(u32),
    /// Address of an image, a sampler, a pipe or a queue, and which of these it is, in the metadata's word.
    Object(&'static str, u64),
}

impl Value {
    fn what(&self) -> &'static str {
        match self {
            Value::Pointer(_) => "a buffer",
            Value::Bytes(_) => "a value",
            Value::Local(_) => "local memory",
            Value::Object(kind, _) => kind,
        }
    }
}

/// Why arguments do not fit a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentError {
    /// Which argument, counted from 0; `None` for their number.
    pub index: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(i) => write!(f, "argument {i}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ArgumentError {}

/// What hidden arguments depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hidden {
    /// Grid in work-items.
    pub grid: [u32; 3],
    /// Work-group in work-items.
    pub size: [u32; 3],
    /// Grid dimensions.
    pub dimensions: u16,
    /// Address of the queue.
    pub queue: u64,
    /// Where global ids start.
    pub global_offset: [u64; 3],
    /// Address of the printf buffer.
    pub printf_buffer: u64,
    /// Address of the hostcall buffer.
    pub hostcall_buffer: u64,
    /// Address of the device library's heap.
    pub heap: u64,
    /// Address of the queue that kernels enqueue other kernels to.
    pub default_queue: u64,
    /// Address of what kernels that it enqueues call their parent.
    pub completion_action: u64,
}

impl Hidden {
    /// Whether an argument of this kind is more than null.
    pub fn serves(kind: &str) -> bool {
        let some = Hidden {
            grid: [3; 3],
            size: [2; 3],
            dimensions: 1,
            queue: 1,
            global_offset: [1; 3],
            printf_buffer: 1,
            hostcall_buffer: 1,
            heap: 1,
            default_queue: 1,
            completion_action: 1,
        };
        kind == "hidden_none" || some.value(kind, 1) != 0
    }

    /// The value of a hidden argument, where local arguments have so many bytes of LDS. What needs a host service that is
    /// not there is null.
    pub fn value(&self, kind: &str, dynamic_lds: u32) -> u64 {
        let (base, dimension) = match kind.strip_suffix(['x', 'y', 'z']).and_then(|b| b.strip_suffix('_')) {
            Some(base) => (base, usize::from(kind.as_bytes()[kind.len() - 1] - b'x')),
            None => (kind, 0),
        };
        let (grid, size) = (self.grid[dimension], self.size[dimension].max(1));
        match base {
            "hidden_global_offset" => self.global_offset[dimension],
            "hidden_block_count" => (grid / size).into(),
            "hidden_group_size" => size.into(),
            "hidden_remainder" => (grid % size).into(),
            "hidden_grid_dims" => self.dimensions.into(),
            "hidden_private_base" => GroupShared::PRIVATE_BASE >> 32,
            "hidden_shared_base" => GroupShared::SHARED_BASE >> 32,
            "hidden_queue_ptr" => self.queue,
            "hidden_dynamic_lds_size" => dynamic_lds.into(),
            "hidden_printf_buffer" => self.printf_buffer,
            "hidden_hostcall_buffer" => self.hostcall_buffer,
            "hidden_heap_v1" => self.heap,
            "hidden_default_queue" => self.default_queue,
            "hidden_completion_action" => self.completion_action,
            // Multigrid synchronisation of HIP: there is only one kernel.
            _ => 0,
        }
    }
}

/// An argument block and the LDS it needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// LDS of the work-group in bytes: static, and what `Local` arguments take.
    pub lds: u32,
    /// Pointers into the block itself, to copies of what is passed by reference: where they are, how long, where to.
    references: Vec<(usize, usize, usize)>,
}

impl Block {
    /// The bytes as they are at an address, whose own pointers are then right.
    pub fn placed(&self, address: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for &(at, size, to) in &self.references {
            let pointer = address.wrapping_add(to as u64).to_le_bytes();
            bytes[at..at + size].copy_from_slice(&pointer[..size]);
        }
        bytes
    }
}

/// What is passed by reference is aligned to this, which is enough for every type.
const REFERENCE_ALIGN: u64 = 128;

/// Lays arguments out. `lds` is the LDS in use before: what the kernel has itself.
pub fn build(kernel: &Kernel, values: &[Value], hidden: &Hidden, lds: u32) -> Result<Block, ArgumentError> {
    if kernel.kernarg_bytes > MAX_BYTES {
        let message = format!(
            "kernel {} wants {} bytes of arguments",
            demangle::shown(&kernel.name),
            kernel.kernarg_bytes
        );
        return Err(ArgumentError { index: None, message });
    }
    let mut block = Block { bytes: vec![0; kernel.kernarg_bytes as usize], lds, references: Vec::new() };
    match &kernel.args {
        Some(_) => place_by_metadata(kernel, values, &mut block)?,
        None => place_by_rule(kernel, values, &mut block)?,
    }
    if kernel.first_argument >= 36 {
        place_sizes(hidden, &mut block);
    }
    let dynamic = block.lds - lds;
    for argument in kernel.args.iter().flatten().filter(|a| a.is_hidden()) {
        let value = hidden.value(&argument.kind, dynamic);
        let size = (argument.size as usize).min(8);
        put(&mut block.bytes, argument.offset as usize, &value.to_le_bytes()[..size]);
    }
    if kernel.args.is_some() {
        place_references(kernel, values, &mut block);
    }
    Ok(block)
}

/// Where in the block the copies lie of what is passed by reference: behind all arguments, in their order.
pub fn copies(kernel: &Kernel) -> impl Iterator<Item = Range<u64>> + '_ {
    let ends = kernel.args.iter().flatten().map(|a| u64::from(a.offset) + u64::from(a.size));
    let mut end = ends.fold(kernel.kernarg_bytes.into(), u64::max);
    kernel.visible_args().filter(|a| a.kind == "by_reference").map(move |a| {
        let start = end.next_multiple_of(REFERENCE_ALIGN);
        end = start + u64::from(a.pointee_size);
        start..end
    })
}

/// Puts copies of what is passed by reference behind the arguments.
fn place_references(kernel: &Kernel, values: &[Value], block: &mut Block) {
    let given = kernel.visible_args().zip(values).filter(|(a, _)| a.kind == "by_reference");
    for ((argument, value), copy) in given.zip(copies(kernel)) {
        if let Value::Bytes(bytes) = value {
            let to = copy.start as usize;
            put(&mut block.bytes, to, bytes);
            block.references.push((argument.offset as usize, (argument.size as usize).min(8), to));
        }
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, value: &[u8]) {
    // Metadata may place arguments beyond the size it states; a block that holds them all is what the kernel reads.
    if bytes.len() < at + value.len() {
        bytes.resize(at + value.len(), 0);
    }
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// No kernel has more bytes of arguments than this.
const MAX_BYTES: u32 = 1 << 20;
/// Arguments beyond this offset are no arguments.
const MAX_OFFSET: u32 = 1 << 16;

fn place_by_metadata(kernel: &Kernel, values: &[Value], block: &mut Block) -> Result<(), ArgumentError> {
    let visible: Vec<&Argument> = kernel.visible_args().collect();
    if visible.len() != values.len() {
        let names: Vec<String> = visible.iter().map(|a| describe(a)).collect();
        let takes = match visible.len() {
            0 => "no arguments".to_owned(),
            1 => format!("1 argument ({})", names[0]),
            n => format!("{n} arguments ({})", names.join(", ")),
        };
        let message =
            format!("kernel {} takes {takes}, {} given", demangle::shown(&kernel.name), values.len());
        return Err(ArgumentError { index: None, message });
    }
    for (i, (argument, value)) in visible.iter().zip(values).enumerate() {
        let fail = |message: String| Err(ArgumentError { index: Some(i), message });
        if argument.offset > MAX_OFFSET || argument.size > MAX_OFFSET {
            return fail(format!(
                "the metadata places it at byte {}, {} bytes",
                argument.offset, argument.size
            ));
        }
        let wrong = || fail(format!("{} is given, {} is wanted", value.what(), describe(argument)));
        let at = argument.offset as usize;
        let pointer = |p: u64| {
            let size = (argument.size as usize).min(8);
            let fits = size == 8 || p >> (8 * size) == 0;
            match fits {
                true => Ok(p.to_le_bytes()[..size].to_vec()),
                false => {
                    fail(format!("address {p:#x} does not fit into its {size} bytes")).map(|()| Vec::new())
                }
            }
        };
        match (argument.kind.as_str(), value) {
            ("global_buffer", Value::Pointer(p)) => put(&mut block.bytes, at, &pointer(*p)?),
            ("image" | "sampler" | "pipe" | "queue", Value::Object(kind, p)) if argument.kind == *kind => {
                put(&mut block.bytes, at, &pointer(*p)?);
            }
            ("by_reference", Value::Bytes(b)) => {
                if b.len() != argument.pointee_size as usize {
                    return fail(format!("{} bytes are given, {} is wanted", b.len(), describe(argument)));
                }
                // The copy comes behind all arguments.
                put(&mut block.bytes, at, &[0; 8][..(argument.size as usize).min(8)]);
            }
            // A pointer in a structure or an integer of its size; and a number for a pointer, such as null.
            ("by_value", Value::Pointer(p)) if argument.size == 8 => {
                put(&mut block.bytes, at, &p.to_le_bytes())
            }
            ("by_value" | "global_buffer", Value::Bytes(b)) => {
                if b.len() != argument.size as usize {
                    return fail(format!("{} bytes are given, {} is wanted", b.len(), describe(argument)));
                }
                put(&mut block.bytes, at, b);
            }
            ("dynamic_shared_pointer", Value::Local(bytes)) => {
                let address = u64::from(local(block, *bytes, argument.pointee_align, i)?);
                // LLVM passes 32 bits, Catalyst a whole pointer.
                put(&mut block.bytes, at, &address.to_le_bytes()[..(argument.size as usize).min(8)]);
            }
            (
                "global_buffer"
                | "by_value"
                | "by_reference"
                | "dynamic_shared_pointer"
                | "image"
                | "sampler"
                | "pipe"
                | "queue",
                _,
            ) => return wrong(),
            (other, _) => return fail(format!("Wavemill cannot pass arguments of kind {other}")),
        }
    }
    Ok(())
}

/// Takes LDS for a pointer to it.
fn local(block: &mut Block, bytes: u32, align: u32, index: usize) -> Result<u32, ArgumentError> {
    let align = if align.is_power_of_two() { align.clamp(1, 4096) } else { 16 };
    let address = block.lds.checked_next_multiple_of(align);
    let end = address.and_then(|a| a.checked_add(bytes));
    match (address, end) {
        (Some(address), Some(end)) => {
            block.lds = end;
            Ok(address)
        }
        _ => Err(ArgumentError { index: Some(index), message: format!("{bytes} bytes of LDS are too many") }),
    }
}

/// Without metadata: each argument at the next multiple of its size, as C would lay out a structure; that structure begins at
/// the first argument, wherever it is.
fn place_by_rule(kernel: &Kernel, values: &[Value], block: &mut Block) -> Result<(), ArgumentError> {
    let room = block.bytes.len();
    let first = kernel.first_argument as usize;
    let mut at = first;
    for (i, value) in values.iter().enumerate() {
        let bytes = match value {
            Value::Pointer(p) => p.to_le_bytes().to_vec(),
            Value::Bytes(b) => b.clone(),
            Value::Local(n) => local(block, *n, 16, i)?.to_le_bytes().to_vec(),
            Value::Object(_, p) => p.to_le_bytes().to_vec(),
        };
        at = first + (at - first).next_multiple_of(bytes.len().next_power_of_two().clamp(1, 16));
        if at + bytes.len() > room {
            let message = format!(
                "it would end at byte {}, but kernel {} has {room} bytes of arguments (and no metadata that names them)",
                at + bytes.len(),
                demangle::shown(&kernel.name)
            );
            return Err(ArgumentError { index: Some(i), message });
        }
        put(&mut block.bytes, at, &bytes);
        at += bytes.len();
    }
    Ok(())
}

/// What kernels for no operating system find in front of their arguments: numbers of work-groups, sizes of the grid and of the
/// work-group, in three dimensions (LLVM's `SI::KernelInputOffsets`).
fn place_sizes(h: &Hidden, block: &mut Block) {
    let groups: [u32; 3] = std::array::from_fn(|d| h.grid[d].div_ceil(h.size[d].max(1)));
    let words = groups.into_iter().chain(h.grid).chain(h.size);
    for (i, word) in words.enumerate() {
        put(&mut block.bytes, 4 * i, &word.to_le_bytes());
    }
}

/// An argument in words.
pub fn describe(a: &Argument) -> String {
    let name = a.name.as_deref().map(|n| format!("`{n}`: ")).unwrap_or_default();
    let ty = a.type_name.as_deref().unwrap_or_default();
    let kind = match a.kind.as_str() {
        "global_buffer" => "buffer".to_owned(),
        "by_value" => format!("value of {} bytes", a.size),
        "by_reference" => format!("structure of {} bytes", a.pointee_size),
        "dynamic_shared_pointer" => "local memory".to_owned(),
        other => other.to_owned(),
    };
    if ty.is_empty() { format!("{name}{kind}") } else { format!("{name}{ty} ({kind})") }
}
