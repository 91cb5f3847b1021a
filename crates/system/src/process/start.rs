//! Starts programs without copying this process: a new process shares this one's memory until it
//! becomes the program (`vfork`), and prepares itself by system calls alone. `std` does so too, but
//! not for a program that joins control groups or gets a fourth descriptor.
#![allow(unsafe_code)] // a process that shares this one's memory has no safe interface

use std::ffi::{OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};

use libc::syscall;
use rustix::process::Pid;
use rustix::thread::CpuSet;

use crate::process::guard;
use crate::read::which::{DEFAULT_PATH, which_in};

/// Size of the shared memory. The kernel takes at most 6 MiB of arguments and environment.
const SIZE: usize = 8 << 20;
/// Size of each stack.
pub(crate) const STACK: usize = 128 << 10;
/// Offset of the texts: the program's data and two stacks come before.
const TEXTS: usize = 3 * STACK;

/// A program to start.
pub(crate) struct Program<'a> {
    pub argv: &'a [OsString],
    /// Environment variables on top of this process's.
    pub env: &'a [(OsString, OsString)],
    pub cwd: Option<&'a Path>,
    /// Standard input, output, error, the protocol's pipe if `protocol`, and `cgroup.procs` files.
    pub ends: &'a [OwnedFd],
    pub protocol: bool,
}

/// A program as the new process reads it, at the start of the [`Area`].
#[repr(C)]
pub(crate) struct Image {
    /// Error number of a failed step between the start and `exec`.
    error: AtomicI32,
    /// CPUs of the program; `None` for those of the starting thread.
    pub cpus: Option<CpuSet>,
    /// Standard input, output and error, and the metrics protocol's pipe or -1.
    fds: [c_int; 4],
    groups: *const c_int,
    group_count: usize,
    path: *const c_char,
    cwd: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
}

/// Memory for a program's data and for the stacks of the processes that start it, at the same
/// address in all of them.
#[derive(Debug)]
pub(crate) struct Area {
    pub memory: *mut c_void,
    /// Programs that were found: name, search path, and file.
    found: Vec<(OsString, OsString, PathBuf)>,
}

// SAFETY: the area is used by the thread that has the handle, and by a process that it waits for.
unsafe impl Send for Area {}

impl Area {
    /// Maps the memory; pages that are not touched cost nothing.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a new mapping, which nothing else uses.
        let area = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(null_mut(), SIZE, access, kind, -1, 0)
        };
        if area == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Area { memory: area, found: Vec::new() })
    }

    /// Stores a program to start.
    ///
    /// # Errors
    /// If it is not found, or if its texts are too long or contain a zero byte.
    pub fn store(&mut self, program: &Program<'_>) -> io::Result<()> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        let (streams, rest) = program.ends.split_at_checked(3).ok_or_else(invalid)?;
        let (protocol, groups) =
            rest.split_at_checked(usize::from(program.protocol)).ok_or_else(invalid)?;
        let own: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let guard = guard::variable();
        let variables = own.iter().chain(program.env).chain(&guard);
        let variables: Vec<[&[u8]; 3]> =
            variables.map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()]).collect();
        // Changes replace this process's variables, and earlier changes.
        let last = |(i, v): &(usize, &[&[u8]; 3])| {
            variables[own.len().max(i + 1)..].iter().all(|w| w[0] != v[0])
        };
        let environment = variables.iter().enumerate().filter(last).map(|(_, v)| v.as_slice());
        let search = variables.iter().rfind(|v| v[0] == b"PATH").map(|v| OsStr::from_bytes(v[2]));

        let name = program.argv.first().ok_or_else(invalid)?;
        let path = self.find(name, search, program.cwd)?;
        let mut texts = Texts { area: self.memory, used: TEXTS };
        let path = texts.put(&[path.as_os_str().as_bytes()])?;
        let cwd = match program.cwd {
            Some(cwd) => texts.put(&[cwd.as_os_str().as_bytes()])?,
            None => null(),
        };
        let words: Vec<[&[u8]; 1]> = program.argv.iter().map(|word| [word.as_bytes()]).collect();
        let argv = texts.list(words.iter().map(<[_; 1]>::as_slice))?;
        let envp = texts.list(environment)?;
        let joined = texts.reserve(size_of_val(groups))?.cast::<c_int>();
        for (i, group) in groups.iter().enumerate() {
            // SAFETY: the space was reserved for all of them.
            unsafe { joined.add(i).write(group.as_raw_fd()) };
        }
        let mut fds = [-1; 4];
        for (fd, end) in fds.iter_mut().zip(streams.iter().chain(protocol)) {
            *fd = end.as_raw_fd();
        }
        let image = Image {
            error: AtomicI32::new(0),
            cpus: None,
            fds,
            groups: joined.cast_const(),
            group_count: groups.len(),
            path,
            cwd,
            argv,
            envp,
        };
        // SAFETY: the area is larger and aligned to pages, and no other process uses it now.
        unsafe { self.memory.cast::<Image>().write(image) };
        Ok(())
    }

    /// Returns the file of a program. One that was found in an absolute folder is not searched for
    /// before each trial.
    fn find(
        &mut self,
        name: &OsStr,
        search: Option<&OsStr>,
        cwd: Option<&Path>,
    ) -> io::Result<PathBuf> {
        if name.as_bytes().contains(&b'/') {
            return Ok(name.into());
        }
        let path = search.unwrap_or(OsStr::new(DEFAULT_PATH));
        let known = self.found.iter().find(|(n, p, _)| n == name && p == path);
        if let Some((_, _, file)) = known {
            return Ok(file.clone());
        }
        let file =
            which_in(name, path, cwd).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
        if file.is_absolute() {
            self.found.push((name.to_owned(), path.to_owned(), file.clone()));
        }
        Ok(file)
    }

    /// Starts the stored program in a process group of its own. It has the settings of this thread.
    ///
    /// # Errors
    /// If the program could not be started.
    pub fn start(&mut self) -> io::Result<Pid> {
        // SAFETY: the sets are live locals. The new process runs `execute` on a stack of its own,
        // with all signals blocked, and this thread continues when it has ended or become the
        // program.
        let pid = unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut own: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut own);
            let pid = start(self.memory, 0);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const own, null_mut());
            pid
        };
        self.started(pid)
    }

    /// Returns the process that [`start`] returned, or the error with which it failed.
    pub fn started(&self, pid: c_int) -> io::Result<Pid> {
        let pid = Pid::from_raw(pid.max(0)).ok_or_else(|| io::Error::from_raw_os_error(-pid))?;
        // SAFETY: the program was stored, and its process uses the area no more.
        match unsafe { (*self.memory.cast::<Image>()).error.load(Ordering::Relaxed) } {
            0 => Ok(pid),
            error => {
                reap(pid);
                Err(io::Error::from_raw_os_error(error))
            }
        }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`, whose other users have ended.
        unsafe { libc::munmap(self.memory, SIZE) };
    }
}

/// Texts in the area.
struct Texts {
    area: *mut c_void,
    used: usize,
}

impl Texts {
    /// Reserves space, aligned to 8 bytes.
    fn reserve(&mut self, bytes: usize) -> io::Result<*mut c_void> {
        let start = self.used.next_multiple_of(8);
        let end = start.checked_add(bytes).filter(|end| *end <= SIZE);
        self.used = end.ok_or_else(|| io::Error::from_raw_os_error(libc::E2BIG))?;
        // SAFETY: the result is within the area.
        Ok(unsafe { self.area.byte_add(start) })
    }

    /// Adds a text in parts.
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<*const c_char> {
        if parts.iter().any(|part| part.contains(&0)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it contains a zero byte"));
        }
        let place = self.reserve(parts.iter().map(|part| part.len()).sum::<usize>() + 1)?;
        let mut end = place.cast::<u8>();
        // SAFETY: the space was reserved for the parts and a zero.
        unsafe {
            for part in parts {
                end.copy_from_nonoverlapping(part.as_ptr(), part.len());
                end = end.add(part.len());
            }
            end.write(0);
        }
        Ok(place.cast::<c_char>().cast_const())
    }

    /// Adds texts and a list of their addresses that ends with a null pointer.
    fn list<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a [&'a [u8]]> + Clone,
    ) -> io::Result<*const *const c_char> {
        let bytes = (texts.clone().count() + 1) * size_of::<*const c_char>();
        let list = self.reserve(bytes)?.cast::<*const c_char>();
        let mut end = list;
        for text in texts {
            let text = self.put(text)?;
            // SAFETY: the list has space for each text and the end.
            end = unsafe {
                end.write(text);
                end.add(1)
            };
        }
        // SAFETY: as above.
        unsafe { end.write(null()) };
        Ok(list.cast_const())
    }
}

/// Waits for the end of a child with any exit signal.
pub(crate) fn reap(pid: Pid) {
    // SAFETY: nothing is written through the null pointer.
    while unsafe { libc::waitpid(pid.as_raw_nonzero().get(), null_mut(), libc::__WALL) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Starts the program of an area. Returns its process id, or a negative error number.
///
/// # Safety
/// The area holds a program, and all signals of the calling thread are blocked.
pub(crate) unsafe fn start(area: *mut c_void, flags: c_int) -> c_int {
    let flags = flags | libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is within the area and ends where the next begins.
    unsafe {
        let pid = libc::clone(execute, area.byte_add(3 * STACK), flags, area);
        if pid < 0 { -*libc::__errno_location() } else { pid }
    }
}

/// Gives signals that have a handler their default action, as `exec` would, since the handlers are
/// assay's; SIGPIPE, which Rust ignores, too.
///
/// # Safety
/// Only in a process that will become a program or starts one.
unsafe fn default_signals() {
    for signal in 1..32 {
        // The kernel's `sigaction`, which begins with the handler.
        let (mut known, default) = ([0u64; 4], [0u64; 4]);
        // SAFETY: the pointers are to live locals of at least the size of the kernel's type.
        unsafe {
            syscall(libc::SYS_rt_sigaction, signal, null::<u64>(), known.as_mut_ptr(), 8usize);
            let ignored = known[0] == libc::SIG_IGN as u64 && signal != libc::SIGPIPE;
            if !ignored && known[0] != libc::SIG_DFL as u64 {
                syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), null::<u64>(), 8usize);
            }
        }
    }
}

/// A new process that becomes the program; it shares the memory of its creator until then.
extern "C" fn execute(area: *mut c_void) -> c_int {
    // SAFETY: the creator waits until this process has ended or become the program; the calls get
    // live values.
    unsafe {
        let image = &*area.cast::<Image>();
        let (zero, none) = (b'0', 0u64);
        default_signals();
        let mut failed = syscall(libc::SYS_setpgid, 0, 0) < 0;
        if let Some(cpus) = &image.cpus {
            let (size, set) = (size_of::<CpuSet>(), std::ptr::from_ref(cpus));
            failed = failed || syscall(libc::SYS_sched_setaffinity, 0, size, set) < 0;
        }
        for i in 0..image.group_count {
            // 0 means the process that writes.
            let procs = *image.groups.add(i);
            failed = failed || syscall(libc::SYS_write, procs, &raw const zero, 1usize) != 1;
        }
        failed = failed || (!image.cwd.is_null() && syscall(libc::SYS_chdir, image.cwd) < 0);
        // Descriptors of this process are above 2. The protocol comes last, because its number may
        // be that of another.
        for (target, source) in (0..).zip(&image.fds) {
            if !failed && *source == target {
                failed = syscall(libc::SYS_fcntl, target, libc::F_SETFD, 0) < 0;
            } else if !failed && *source >= 0 {
                failed = syscall(libc::SYS_dup3, *source, target, 0) < 0;
            }
        }
        if !failed {
            let mask = &raw const none;
            syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, mask, null::<u64>(), 8usize);
            syscall(libc::SYS_execve, image.path, image.argv, image.envp);
        }
        image.error.store(*libc::__errno_location(), Ordering::Relaxed);
        syscall(libc::SYS_exit, 127);
    }
    127
}
