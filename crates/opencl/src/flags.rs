//! Bits of `cl_mem_flags`.

/// Kernels read and write.
pub const READ_WRITE: u64 = 1;
/// Kernels write only.
pub const WRITE_ONLY: u64 = 1 << 1;
/// Kernels read only.
pub const READ_ONLY: u64 = 1 << 2;
/// The program's memory is the object's.
pub const USE_HOST_PTR: u64 = 1 << 3;
/// Memory that the host reaches.
pub const ALLOC_HOST_PTR: u64 = 1 << 4;
/// It begins with a copy.
pub const COPY_HOST_PTR: u64 = 1 << 5;
/// The host writes only.
pub const HOST_WRITE_ONLY: u64 = 1 << 7;
/// The host reads only.
pub const HOST_READ_ONLY: u64 = 1 << 8;
/// The host does neither.
pub const HOST_NO_ACCESS: u64 = 1 << 9;
/// One kernel reads and writes, for image formats.
pub const KERNEL_READ_AND_WRITE: u64 = 1 << 12;
/// What kernels may do.
pub const DEVICE: u64 = READ_WRITE | WRITE_ONLY | READ_ONLY;
/// What the host may do.
pub const HOST: u64 = HOST_WRITE_ONLY | HOST_READ_ONLY | HOST_NO_ACCESS;
/// Where it lies.
pub const POINTER: u64 = USE_HOST_PTR | ALLOC_HOST_PTR | COPY_HOST_PTR;
