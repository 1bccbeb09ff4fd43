//! `run --sandbox`: what a stranger's file could make of a mistake of ours is confined by the kernel. Landlock leaves the
//! files that the command line names, seccomp the system calls that running a kernel takes, and rlimits bound the rest.
//! SECURITY.md says what this is for.

use std::path::{Path, PathBuf};

/// When `run` confines itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum When {
    /// Where the file is from elsewhere.
    Auto,
    /// Always; an error where the kernel cannot.
    Always,
    /// Never.
    Never,
}

/// Files that stay within reach.
#[derive(Default, Debug)]
pub struct Reach {
    /// Files, and directories with all below them, that may be read.
    pub read: Vec<PathBuf>,
    /// Directories in which files may be written.
    pub write: Vec<PathBuf>,
}

impl Reach {
    /// A file that will be read; a source may name others below its directory.
    pub fn reads(&mut self, file: &Path) {
        let directory = file.parent().filter(|_| super::source::is_source(file, b""));
        let path = directory.unwrap_or(file);
        self.read.push(if path.as_os_str().is_empty() { ".".into() } else { path.to_path_buf() });
    }

    /// A file that will be written.
    pub fn writes(&mut self, file: &Path) {
        let directory = file.parent().filter(|p| !p.as_os_str().is_empty());
        self.write.push(directory.unwrap_or(Path::new(".")).to_path_buf());
    }
}

/// Is the file from elsewhere: not below the current directory, or marked by who downloaded it (freedesktop.org's
/// `user.xdg.origin.url`, which curl and browsers set)?
pub fn from_elsewhere(file: &Path) -> bool {
    // Standard input is the user's.
    let here = file == Path::new("-") || wavemill_asm::parser::files::lies_below(file, Path::new(""));
    !here || platform::downloaded(file)
}

/// Confines this process from now on: to the files in reach and to as much memory. Other threads must not run yet. The
/// answer says what the kernel could not do.
pub fn enter(reach: &Reach, memory: u64) -> Result<Vec<&'static str>, String> {
    platform::enter(reach, memory)
}

#[cfg(target_os = "linux")]
mod platform {
    use super::Reach;
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
        Scope, path_beneath_rules,
    };
    use rustix::process::{Resource, Rlimit, setrlimit};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule,
    };
    use std::collections::BTreeMap;
    use std::path::Path;

    /// The newest rules that Landlock may know; older kernels do what they can.
    const LANDLOCK: ABI = ABI::V6;

    /// Addresses beside the memory that kernels get: for arenas, stacks and what is reserved and never touched.
    const ADDRESSES: u64 = 64 << 30;

    /// Requests that put input into a terminal (`asm-generic/ioctls.h`, ioctl_tty(2)); C libraries differ in their type.
    const TIOCSTI: u64 = 0x5412;
    const TIOCLINUX: u64 = 0x541c;

    pub(super) fn downloaded(file: &Path) -> bool {
        let mut value = [0u8; 0];
        // Its length is enough.
        rustix::fs::getxattr(file, "user.xdg.origin.url", &mut value[..]).is_ok()
    }

    pub(super) fn enter(reach: &Reach, memory: u64) -> Result<Vec<&'static str>, String> {
        let mut missing = Vec::new();
        limits(memory)?;
        if !files(reach).map_err(|e| format!("Landlock: {e}"))? {
            missing.push("Landlock, which confines it to its files");
        }
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            missing.push("a seccomp filter for this processor");
        } else {
            let filters = filters().map_err(|e| format!("seccomp: {e}"))?;
            if filters.iter().any(|f| seccompiler::apply_filter_all_threads(f).is_err()) {
                missing.push("seccomp, which confines its system calls");
            }
        }
        Ok(missing)
    }

    fn limits(memory: u64) -> Result<(), String> {
        let most = |n: u64| Rlimit { current: Some(n), maximum: Some(n) };
        let wanted = [
            (Resource::Core, most(0)),
            (Resource::Nofile, most(256)),
            (Resource::As, most(memory.saturating_mul(2).saturating_add(ADDRESSES))),
        ];
        wanted.into_iter().try_for_each(|(resource, limit)| {
            // What is tighter already stays.
            let now = rustix::process::getrlimit(resource).maximum;
            if now.is_some_and(|n| limit.maximum.is_some_and(|m| n < m)) {
                return Ok(());
            }
            setrlimit(resource, limit).map_err(|e| format!("setrlimit: {e}"))
        })
    }

    /// True when Landlock confines the process, at least in part.
    fn files(reach: &Reach) -> Result<bool, landlock::RulesetError> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let write: BitFlags<AccessFs> = AccessFs::WriteFile | AccessFs::MakeReg | AccessFs::Truncate;
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?
            .add_rules(path_beneath_rules(&reach.read, read))?
            .add_rules(path_beneath_rules(&reach.write, write))?
            .restrict_self()?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }

    /// What running a kernel takes: memory, threads, time, and files within reach. All else fails.
    fn filters() -> Result<[BpfProgram; 2], seccompiler::BackendError> {
        let plain = [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_readv,
            libc::SYS_writev,
            libc::SYS_pread64,
            libc::SYS_pwrite64,
            libc::SYS_lseek,
            libc::SYS_openat,
            libc::SYS_close,
            libc::SYS_fstat,
            libc::SYS_newfstatat,
            libc::SYS_statx,
            libc::SYS_readlinkat,
            // realpath asks so whether what comes before `..` is there.
            libc::SYS_faccessat,
            libc::SYS_faccessat2,
            libc::SYS_getcwd,
            libc::SYS_getdents64,
            libc::SYS_fcntl,
            libc::SYS_dup,
            libc::SYS_ppoll,
            libc::SYS_mmap,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_mprotect,
            // Memory for code.
            libc::SYS_memfd_create,
            libc::SYS_ftruncate,
            libc::SYS_fallocate,
            libc::SYS_madvise,
            libc::SYS_brk,
            libc::SYS_futex,
            libc::SYS_membarrier,
            libc::SYS_set_robust_list,
            libc::SYS_rseq,
            libc::SYS_sigaltstack,
            libc::SYS_rt_sigaction,
            libc::SYS_rt_sigprocmask,
            libc::SYS_rt_sigreturn,
            libc::SYS_restart_syscall,
            libc::SYS_gettid,
            libc::SYS_getpid,
            libc::SYS_tgkill,
            libc::SYS_exit,
            libc::SYS_exit_group,
            libc::SYS_sched_yield,
            libc::SYS_sched_getaffinity,
            libc::SYS_nanosleep,
            libc::SYS_clock_nanosleep,
            libc::SYS_clock_gettime,
            libc::SYS_clock_getres,
            libc::SYS_gettimeofday,
            libc::SYS_getrandom,
            libc::SYS_prlimit64,
            libc::SYS_getrusage,
            libc::SYS_sysinfo,
            libc::SYS_uname,
            libc::SYS_clone3,
        ];
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = plain.iter().map(|&n| (n, Vec::new())).collect();
        #[cfg(target_arch = "x86_64")]
        rules.extend(
            [libc::SYS_poll, libc::SYS_readlink, libc::SYS_open, libc::SYS_stat].map(|n| (n, Vec::new())),
        );
        let argument = |index: u8, op: SeccompCmpOp, value: u64| {
            SeccompCondition::new(index, SeccompCmpArgLen::Qword, op, value)
                .and_then(|c| SeccompRule::new(vec![c]))
        };
        // What puts text into a terminal's input as if somebody had typed it stays out.
        let other =
            |request: u64| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, request);
        let harmless = [other(TIOCSTI)?, other(TIOCLINUX)?];
        rules.insert(libc::SYS_ioctl, vec![SeccompRule::new(harmless.to_vec())?]);
        // Threads, no processes.
        let thread = libc::CLONE_THREAD as u64;
        rules.insert(libc::SYS_clone, vec![argument(0, SeccompCmpOp::MaskedEq(thread), thread)?]);
        rules.insert(libc::SYS_prctl, vec![argument(0, SeccompCmpOp::Eq, libc::PR_SET_NAME as u64)?]);
        let rest = SeccompAction::Errno(libc::EPERM as u32);
        let arch = std::env::consts::ARCH.try_into()?;
        let allowed = SeccompFilter::new(rules, rest, SeccompAction::Allow, arch)?;
        // The flags of clone3 are in memory, where a filter cannot look; where it does not exist, libraries use clone. Of
        // two filters the one that refuses counts.
        let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        let absent = SeccompAction::Errno(libc::ENOSYS as u32);
        let absent = SeccompFilter::new(clone3, SeccompAction::Allow, absent, arch)?;
        Ok([absent.try_into()?, allowed.try_into()?])
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::Reach;
    use std::path::Path;

    pub(super) fn downloaded(_: &Path) -> bool {
        false
    }

    pub(super) fn enter(_: &Reach, _: u64) -> Result<Vec<&'static str>, String> {
        Ok(vec!["a sandbox on this system"])
    }
}
