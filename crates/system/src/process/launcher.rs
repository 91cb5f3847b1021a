//! Starts programs from a process of about a megabyte. The kernel counts the peak memory of the
//! image that called `exec` into that of the program (`ru_maxrss`), so a small program that assay
//! started itself would show assay's memory.
//!
//! The launcher is a copy of this process that has dropped its heap. It shares the descriptors, the
//! working folder and a page of orders with this process, and its programs are children of this
//! process (`CLONE_PARENT`). A start costs two wake-ups more than a direct one, 10 us or less.
#![allow(unsafe_code)] // a copy of this process, and programs made from it, have no safe interface

use std::collections::BTreeMap;
use std::ffi::{OsString, c_char, c_int, c_long, c_void};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libc::syscall;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::process::leftovers;

/// Shared memory: orders, the stacks of the launcher and of a starting program, texts.
const AREA: usize = 1 << 20;
const STACK: usize = 128 << 10;
const TEXTS: usize = 3 * STACK;

/// Values of the futex [`Order::state`].
const IDLE: u32 = 0;
const GIVEN: u32 = 1;
const QUIT: u32 = 2;

/// Largest number of control groups that a program can join.
const GROUPS: usize = 13;

/// Waiting time without sleeping for the start of a program, which saves one wake-up.
const SPIN: Duration = Duration::from_micros(200);

/// Tolerance of the launcher's peak: the start of a program touches a few pages more, and the
/// kernel counts memory per CPU and adds up the parts late.
const SLACK: u64 = 256 << 10;

/// Smallest mapping that the launcher drops.
const LARGE: usize = 64 << 10;

/// A program to start, and the result.
#[repr(C)]
struct Order {
    /// Futex on which both sides wait.
    state: AtomicU32,
    /// Process id of the program, or a negative error number.
    pid: AtomicI32,
    /// Error number of a failed step between the start and `exec`.
    error: AtomicI32,
    /// The launcher's own peak memory in KiB.
    peak: AtomicU64,
    owner: i32,
    /// Standard input, output and error, and the metrics protocol's pipe or -1.
    fds: [c_int; 4],
    groups: [c_int; GROUPS],
    group_count: usize,
    cpus: CpuSet,
    path: *const c_char,
    cwd: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    /// Memory to drop: start and length.
    drop: [(usize, usize); 64],
}

/// A running launcher. It ends with the thread that started it, or when dropped.
#[derive(Debug)]
pub(crate) struct Launcher {
    pid: Pid,
    area: *mut c_void,
}

// SAFETY: the area is used by this handle and the launcher's process alone.
unsafe impl Send for Launcher {}

/// A program for the launcher.
pub(crate) struct LaunchedProgram<'a> {
    /// Path of the file; relative to `cwd`.
    pub path: &'a OsString,
    pub argv: &'a [OsString],
    /// Variables of this process and of the program, as `NAME=VALUE`.
    pub env: Vec<OsString>,
    pub cwd: Option<&'a std::path::Path>,
    /// Standard input, output, error, the protocol's pipe if `protocol`, and `cgroup.procs` files.
    pub ends: &'a [OwnedFd],
    pub protocol: bool,
}

impl Launcher {
    /// Starts a launcher for programs of the calling thread.
    ///
    /// # Errors
    /// If the kernel refuses the memory or the process.
    pub fn start() -> io::Result<Self> {
        let cpus = sched_getaffinity(None)?;
        // SAFETY: a new mapping, which nothing else uses.
        let area = unsafe {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
            libc::mmap(null_mut(), AREA, access, kind | libc::MAP_ANONYMOUS, -1, 0)
        };
        if area == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: zeros are a valid order, and the mapping is large enough and aligned to pages.
        let order = unsafe { &mut *area.cast::<Order>() };
        order.owner = rustix::process::getpid().as_raw_nonzero().get();
        order.cpus = cpus;
        for (place, region) in order.drop.iter_mut().zip(droppable()) {
            *place = region;
        }
        // SAFETY: the copy runs `serve` on a stack of its own in the area and never returns. It has
        // no exit signal, so that waiting for any child does not find it.
        let pid = unsafe {
            let flags = libc::CLONE_FILES | libc::CLONE_FS;
            libc::clone(serve, area.byte_add(2 * STACK), flags, area)
        };
        let Some(pid) = Pid::from_raw(pid.max(0)) else {
            let error = io::Error::last_os_error();
            // SAFETY: the mapping from above, which has no user.
            unsafe { libc::munmap(area, AREA) };
            return Err(error);
        };
        leftovers::spare(pid.as_raw_nonzero().get().cast_unsigned());
        Ok(Launcher { pid, area })
    }

    /// Returns the peak memory that the kernel counted for a program, if it is the program's own.
    pub fn own_peak(&self, counted: u64) -> Option<u64> {
        // SAFETY: only an atomic field is used.
        let order = unsafe { &*self.area.cast::<Order>() };
        let own = order.peak.load(Ordering::Relaxed) * 1024;
        Some(counted).filter(|peak| *peak > own + SLACK)
    }

    /// Starts a program in a process group of its own, as a child of this process. Returns `None`
    /// for one that the launcher cannot start, such as one with too long arguments.
    ///
    /// # Errors
    /// If the program could not be started.
    pub fn launch(&mut self, program: &LaunchedProgram<'_>) -> Option<io::Result<Pid>> {
        let (streams, rest) = program.ends.split_at_checked(3)?;
        let (protocol, groups) = rest.split_at_checked(usize::from(program.protocol))?;
        let mut texts = Texts { area: self.area, used: TEXTS };
        let path = texts.put(program.path.as_bytes())?;
        let cwd = match program.cwd {
            Some(cwd) => texts.put(cwd.as_os_str().as_bytes())?,
            None => null(),
        };
        let argv = texts.list(program.argv)?;
        let envp = texts.list(&program.env)?;
        if groups.len() > GROUPS {
            return None;
        }
        // SAFETY: the launcher reads the order only after it was given.
        let order = unsafe { &mut *self.area.cast::<Order>() };
        (order.path, order.cwd, order.argv, order.envp) = (path, cwd, argv, envp);
        order.fds[3] = protocol.first().map_or(-1, AsRawFd::as_raw_fd);
        order.fds.iter_mut().zip(streams).for_each(|(fd, end)| *fd = end.as_raw_fd());
        order.groups.iter_mut().zip(groups).for_each(|(fd, end)| *fd = end.as_raw_fd());
        order.group_count = groups.len();
        Some(self.order().and_then(|(pid, error)| match error {
            0 => Ok(pid),
            error => {
                reap(pid);
                Err(io::Error::from_raw_os_error(error))
            }
        }))
    }

    /// Gives the order and waits until its program runs or has failed. Returns its process id and
    /// the error number.
    fn order(&mut self) -> io::Result<(Pid, i32)> {
        // SAFETY: only fields that are atomic are used while the launcher may use the order.
        let order = unsafe { &*self.area.cast::<Order>() };
        order.error.store(0, Ordering::Relaxed);
        // On this CPU it runs as soon as this thread waits, without waking another CPU.
        let mut here = CpuSet::new();
        here.set(sched_getcpu());
        let _ = sched_setaffinity(Some(self.pid), &here);
        order.state.store(GIVEN, Ordering::Release);
        wake(&order.state);
        let begun = Instant::now();
        while order.state.load(Ordering::Acquire) == GIVEN {
            if begun.elapsed() < SPIN {
                std::thread::yield_now();
            } else if !sleep_while(&order.state, GIVEN) && !self.lives() {
                return Err(io::Error::other("the launcher of programs was killed"));
            }
        }
        let pid = order.pid.load(Ordering::Relaxed);
        let started = Pid::from_raw(pid.max(0)).ok_or_else(|| io::Error::from_raw_os_error(-pid));
        Ok((started?, order.error.load(Ordering::Relaxed)))
    }

    fn lives(&self) -> bool {
        rustix::process::test_kill_process(self.pid).is_ok() && reap_now(self.pid).is_none()
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // SAFETY: only an atomic field is used.
        let order = unsafe { &*self.area.cast::<Order>() };
        order.state.store(QUIT, Ordering::Release);
        wake(&order.state);
        reap(self.pid);
        leftovers::no_longer_spared(self.pid);
        // SAFETY: the mapping made at the start; its other user has ended.
        unsafe { libc::munmap(self.area, AREA) };
    }
}

/// Texts in the shared memory, which both processes have at the same addresses.
struct Texts {
    area: *mut c_void,
    used: usize,
}

impl Texts {
    /// Reserves space; `None` if there is not enough.
    fn reserve(&mut self, bytes: usize) -> Option<*mut c_void> {
        let start = self.used.next_multiple_of(8);
        self.used = start.checked_add(bytes).filter(|end| *end <= AREA)?;
        // SAFETY: the result is within the area.
        Some(unsafe { self.area.byte_add(start) })
    }

    /// Adds a text; `None` if it contains a zero byte.
    fn put(&mut self, text: &[u8]) -> Option<*const c_char> {
        if text.contains(&0) {
            return None;
        }
        let place = self.reserve(text.len() + 1)?.cast::<u8>();
        // SAFETY: the space was reserved for the text and a zero.
        unsafe {
            place.copy_from_nonoverlapping(text.as_ptr(), text.len());
            place.add(text.len()).write(0);
        }
        Some(place.cast())
    }

    /// Adds texts and a list of their addresses that ends with a null pointer.
    fn list(&mut self, texts: &[OsString]) -> Option<*const *const c_char> {
        let list = self.reserve((texts.len() + 1) * size_of::<*const c_char>())?;
        let list = list.cast::<*const c_char>();
        for (i, text) in texts.iter().enumerate() {
            let text = self.put(text.as_bytes())?;
            // SAFETY: the list has space for each text.
            unsafe { list.add(i).write(text) };
        }
        // SAFETY: the list has space for the end.
        unsafe { list.add(texts.len()).write(null()) };
        Some(list)
    }
}

/// Returns large private mappings that the launcher does not need, or reads from their files again:
/// memory without a file, code and constants. The surroundings of thread-local variables remain,
/// since the C library puts error numbers there, and so do relocated addresses.
fn droppable() -> Vec<(usize, usize)> {
    // SAFETY: the function has no conditions.
    let local = unsafe { libc::__errno_location() } as usize & !0xffff;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let region = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (from, to) = words.first()?.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        let drops = match words.get(1..)? {
            ["rw-p", _, _, "0", ..] => true,
            [_, _, _, "0", ..] => false,
            ["r-xp", ..] | ["r--p", "00000000", ..] => true,
            _ => false,
        };
        Some((address(from)?, address(to)?)).filter(|_| drops)
    };
    let parts = |(from, to): (usize, usize)| {
        let low = local.saturating_sub(STACK);
        [(from, to.min(low)), (from.max(local + STACK), to)]
    };
    let found = maps.lines().filter_map(region).flat_map(parts);
    found.filter(|(from, to)| to.saturating_sub(*from) >= LARGE).map(|(f, t)| (f, t - f)).collect()
}

/// Returns the environment of a program: this process's variables with `changes` on top.
pub(crate) fn environment(changes: impl Iterator<Item = (OsString, OsString)>) -> Vec<OsString> {
    let all: BTreeMap<OsString, OsString> = std::env::vars_os().chain(changes).collect();
    let pair = |(name, value): (OsString, OsString)| {
        OsString::from_vec([name.as_bytes(), b"=", value.as_bytes()].concat())
    };
    all.into_iter().map(pair).collect()
}

/// Waits for the end of a child with any exit signal.
fn reap(pid: Pid) {
    // SAFETY: nothing is written through the null pointer.
    while unsafe { libc::waitpid(pid.as_raw_nonzero().get(), null_mut(), libc::__WALL) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Returns the status of a child that has ended.
fn reap_now(pid: Pid) -> Option<c_int> {
    let mut status = 0;
    let options = libc::__WALL | libc::WNOHANG;
    // SAFETY: the pointer is to a live local.
    let reaped = unsafe { libc::waitpid(pid.as_raw_nonzero().get(), &raw mut status, options) };
    (reaped != 0).then_some(status)
}

fn wake(word: &AtomicU32) {
    // SAFETY: the word is a live futex.
    unsafe { syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Sleeps while the word has the value, for at most a second; returns false if the time is over.
fn sleep_while(word: &AtomicU32, value: u32) -> bool {
    let limit = libc::timespec { tv_sec: 1, tv_nsec: 0 };
    // SAFETY: the word is a live futex and the limit a live local.
    unsafe {
        syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const limit) == 0
            || *libc::__errno_location() != libc::ETIMEDOUT
    }
}

/// The launcher's process. It must not allocate, because its heap and the locks of other threads
/// are not valid here. It makes every system call by one function of the C library, since each
/// function would bring pages into memory.
extern "C" fn serve(area: *mut c_void) -> c_int {
    let order = area.cast::<Order>();
    // SAFETY: the area is shared with the process that made this copy, which changes fields that
    // are not atomic only while the state is not `GIVEN`; the calls get live locals of the kernel's
    // types.
    unsafe {
        syscall(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if syscall(libc::SYS_getppid) != c_long::from((*order).owner) {
            return 1;
        }
        let all = u64::MAX;
        syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const all, null::<u64>(), 8usize);
        default_signals();
        let (path, access) = (c"/proc/self/clear_refs", libc::O_WRONLY | libc::O_CLOEXEC);
        let file = syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), access);
        for (start, length) in &(*order).drop {
            if *length > 0 {
                syscall(libc::SYS_madvise, *start, *length, libc::MADV_DONTNEED);
            }
        }
        // Sets the peak to the present size.
        let present = b'5';
        syscall(libc::SYS_write, file, &raw const present, 1usize);
        syscall(libc::SYS_close, file);
        loop {
            match (*order).state.load(Ordering::Acquire) {
                QUIT => return 0,
                GIVEN => {
                    let mut usage: libc::rusage = std::mem::zeroed();
                    syscall(libc::SYS_getrusage, libc::RUSAGE_SELF, &raw mut usage);
                    (*order).peak.store(usage.ru_maxrss as u64, Ordering::Relaxed);
                    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PARENT;
                    let stack = area.byte_add(3 * STACK);
                    let pid = libc::clone(execute, stack, flags | libc::SIGCHLD, area);
                    let pid = if pid < 0 { -*libc::__errno_location() } else { pid };
                    (*order).pid.store(pid, Ordering::Relaxed);
                    (*order).state.store(IDLE, Ordering::Release);
                    wake(&(*order).state);
                }
                _ => _ = sleep_while(&(*order).state, IDLE),
            }
        }
    }
}

/// Gives signals that this process handles their default action, as `exec` would, since the
/// handlers are assay's; SIGPIPE, which Rust ignores, too.
///
/// # Safety
/// Only in the launcher's process.
unsafe fn default_signals() {
    for signal in 1..=64 {
        // The kernel's `sigaction`, which begins with the handler.
        let (mut known, default) = ([0u64; 4], [0u64; 4]);
        // SAFETY: the pointers are to live locals of at least the size of the kernel's type.
        unsafe {
            syscall(libc::SYS_rt_sigaction, signal, null::<u64>(), known.as_mut_ptr(), 8usize);
            if known[0] != libc::SIG_IGN as u64 || signal == libc::SIGPIPE {
                syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), null::<u64>(), 8usize);
            }
        }
    }
}

/// A new process that becomes the program; it shares the launcher's memory until then.
extern "C" fn execute(area: *mut c_void) -> c_int {
    let order = area.cast::<Order>();
    // SAFETY: the launcher waits until this process has ended or become the program, and the
    // process that gave the order until the launcher answers; the calls get live values.
    unsafe {
        let (zero, none) = (b'0', 0u64);
        let cpus = &raw const (*order).cpus;
        let mut failed = syscall(libc::SYS_setpgid, 0, 0) < 0
            || syscall(libc::SYS_sched_setaffinity, 0, size_of::<CpuSet>(), cpus) < 0;
        let groups = &(*order).groups;
        for procs in groups.iter().take((*order).group_count) {
            // 0 means the process that writes.
            failed = failed || syscall(libc::SYS_write, *procs, &raw const zero, 1usize) != 1;
        }
        let cwd = (*order).cwd;
        failed = failed || (!cwd.is_null() && syscall(libc::SYS_chdir, cwd) < 0);
        // Descriptors of this process are above 2. The protocol comes last, because its number may
        // be that of another.
        for (target, source) in (0..).zip(&(*order).fds) {
            if !failed && *source == target {
                failed = syscall(libc::SYS_fcntl, target, libc::F_SETFD, 0) < 0;
            } else if !failed && *source >= 0 {
                failed = syscall(libc::SYS_dup3, *source, target, 0) < 0;
            }
        }
        if !failed {
            let mask = &raw const none;
            syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, mask, null::<u64>(), 8usize);
            syscall(libc::SYS_execve, (*order).path, (*order).argv, (*order).envp);
        }
        (*order).error.store(*libc::__errno_location(), Ordering::Relaxed);
        syscall(libc::SYS_exit, 127);
    }
    127
}
