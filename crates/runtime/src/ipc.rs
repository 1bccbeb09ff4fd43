//! Memory that several processes share: it lies in a file without a name, which others open through `/proc`. Such files
//! are sealed: nobody can cut them off under a process that has them mapped. Whatever is not one of them is refused before
//! it is opened.

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use wavemill_device::mapping::Mapping;

/// Content is copied in pieces of this size; those that are all zero are left out.
const PIECE: usize = 1 << 16;

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    Memory,
    Signal,
}

impl Content {
    /// The name that the kernel shows, by which other processes know the file.
    fn name(self) -> &'static str {
        match self {
            Content::Memory => "wavemill-memory",
            Content::Signal => "wavemill-signal",
        }
    }
}

/// A file for so much memory.
pub(crate) fn file(len: u64, content: Content) -> io::Result<File> {
    let file = nameless(content)?;
    file.set_len(len)?;
    seal(&file)?;
    Ok(file)
}

#[cfg(target_os = "linux")]
mod seals {
    use rustix::fs::SealFlags;

    /// The size stays as it is.
    pub(super) const ALL: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
}

#[cfg(target_os = "linux")]
fn nameless(content: Content) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create(content.name(), MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?.into())
}

#[cfg(target_os = "linux")]
fn seal(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fcntl_add_seals(file, seals::ALL)?)
}

#[cfg(not(target_os = "linux"))]
fn seal(_: &File) -> io::Result<()> {
    Ok(())
}

/// Elsewhere a file that loses its name at once. Other processes have no `/proc` to find it through, so that sharing it
/// fails there, with the system's words.
#[cfg(not(target_os = "linux"))]
fn nameless(_: Content) -> io::Result<File> {
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
pub(crate) fn share(map: &Mapping) -> io::Result<File> {
    let len = map.len();
    let file = file(len as u64, Content::Memory)?;
    let mut piece = vec![0; PIECE];
    for at in (0..len).step_by(PIECE) {
        let part = &mut piece[..PIECE.min(len - at)];
        // SAFETY: inside the mapping, which nobody has references to.
        unsafe { std::ptr::copy_nonoverlapping(map.as_mut_ptr().add(at), part.as_mut_ptr(), part.len()) };
        if part.iter().any(|b| *b != 0) {
            file.write_all_at(part, at as u64)?;
        }
    }
    // SAFETY: the mapping is ours, and its content is in the file.
    unsafe { map_at(&file, map.as_mut_ptr() as u64, len) }?;
    Ok(file)
}

/// The file that another process shares. A handle may be forged, and opening a file can have effects: only what says that
/// it is such a file is opened, and then it must be one.
#[cfg(target_os = "linux")]
pub(crate) fn open(pid: u32, file: i32, content: Content) -> io::Result<File> {
    let foreign = || io::Error::other("this is not what another process shares");
    let path = format!("/proc/{pid}/fd/{file}");
    let expected = format!("/memfd:{} (deleted)", content.name());
    if std::fs::read_link(&path)?.as_os_str() != expected.as_str() {
        return Err(foreign());
    }
    let file = File::options().read(true).write(true).open(path)?;
    let sealed = rustix::fs::fcntl_get_seals(&file).is_ok_and(|s| s.contains(seals::ALL));
    if sealed { Ok(file) } else { Err(foreign()) }
}

/// Whether a file is one of those that hold memory.
#[cfg(target_os = "linux")]
pub(crate) fn is_ours(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    let expected = format!("/memfd:{} (deleted)", Content::Memory.name());
    let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    link.is_ok_and(|l| l.as_os_str() == expected.as_str())
        && rustix::fs::fcntl_get_seals(file).is_ok_and(|s| s.contains(seals::ALL))
}

/// Elsewhere nobody can tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_ours(_: &File) -> bool {
    false
}

/// Elsewhere there is no way to another process's files.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open(_: u32, _: i32, _: Content) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Maps memory that another process shares.
pub(crate) fn attach(pid: u32, number: i32, len: u64) -> io::Result<Mapping> {
    let file = open(pid, number, Content::Memory)?;
    if len == 0 || file.metadata()?.len() < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let map = Mapping::new(len)?;
    // SAFETY: new memory, in whose middle the file comes to lie.
    unsafe { map_at(&file, map.start(), map.len()) }?;
    Ok(map)
}
