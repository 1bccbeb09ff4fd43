//! Memory that several processes share: it lies in a file without a name, which others open through `/proc`.

use memmap2::{MmapOptions, MmapRaw};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Content is copied in pieces of this size; those that are all zero are left out.
const PIECE: usize = 1 << 16;

/// A file for so much memory.
pub(crate) fn file(len: u64) -> io::Result<File> {
    let file = nameless()?;
    file.set_len(len)?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn nameless() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("wavemill", MemfdFlags::CLOEXEC)?.into())
}

/// Elsewhere a file that loses its name at once. Other processes have no `/proc` to find it through, so that sharing it
/// fails there, with the system's words.
#[cfg(not(target_os = "linux"))]
fn nameless() -> io::Result<File> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("wavemill-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// Maps a file's first bytes at a certain address, in place of what is there.
///
/// # Safety
/// The addresses must be mapped memory of the caller's, whose content nobody needs any more.
pub(crate) unsafe fn map_at(file: &File, address: u64, len: usize) -> io::Result<()> {
    let flags = MapFlags::SHARED | MapFlags::FIXED;
    // SAFETY: the caller's promise.
    unsafe { mmap(address as *mut _, len, ProtFlags::READ | ProtFlags::WRITE, flags, file, 0) }?;
    Ok(())
}

/// Maps zeroed memory of this process alone at a certain address.
///
/// # Safety
/// As for [`map_at`].
pub(crate) unsafe fn map_zeros_at(address: u64, len: usize) -> io::Result<()> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: the caller's promise.
    unsafe { mmap_anonymous(address as *mut _, len, ProtFlags::READ | ProtFlags::WRITE, flags) }?;
    Ok(())
}

/// Puts memory into a file, at the same addresses. What is written to it at the same time may be lost.
pub(crate) fn share(map: &MmapRaw) -> io::Result<File> {
    let len = map.len();
    let file = file(len as u64)?;
    let mut piece = vec![0; PIECE];
    for at in (0..len).step_by(PIECE) {
        let part = &mut piece[..PIECE.min(len - at)];
        // SAFETY: inside the mapping, which nobody has references to.
        unsafe { std::ptr::copy_nonoverlapping(map.as_ptr().add(at), part.as_mut_ptr(), part.len()) };
        if part.iter().any(|b| *b != 0) {
            file.write_all_at(part, at as u64)?;
        }
    }
    // SAFETY: the mapping is ours, and its content is in the file.
    unsafe { map_at(&file, map.as_mut_ptr() as u64, len) }?;
    Ok(file)
}

/// The file that another process shares.
pub(crate) fn open(pid: u32, file: i32) -> io::Result<File> {
    File::options().read(true).write(true).open(format!("/proc/{pid}/fd/{file}"))
}

/// Maps memory that another process shares.
pub(crate) fn attach(pid: u32, number: i32, len: u64) -> io::Result<MmapRaw> {
    let file = open(pid, number)?;
    if file.metadata()?.len() < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    MmapOptions::new().len(len as usize).map_raw(&file)
}
