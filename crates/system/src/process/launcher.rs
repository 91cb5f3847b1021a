//! Starts programs from a process of about a megabyte. The kernel counts the peak memory of the
//! image that called `exec` into that of the program (`ru_maxrss`), so a small program that assay
//! started itself would show assay's memory.
//!
//! The launcher is a copy of this process that has dropped its heap. It shares the descriptors, the
//! working folder and a page of orders with this process, and its programs are children of this
//! process (`CLONE_PARENT`). A start costs two wake-ups more than a direct one, 10 us or less.
#![allow(unsafe_code)] // a copy of this process, and programs made from it, have no safe interface

use std::ffi::{c_int, c_long, c_void};
use std::io;
use std::ptr::null;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libc::syscall;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::process::leftovers;
use crate::process::start::{Area, Image, Program, STACK, reap, start};
use crate::read::clock::monotonic_ns;

/// Values of the futex [`StartOrder::state`].
const IDLE: u32 = 0;
const GIVEN: u32 = 1;
const QUIT: u32 = 2;

/// Waiting time without sleeping for the start of a program, which saves one wake-up.
const SPIN: Duration = Duration::from_micros(200);

/// Tolerance of the launcher's peak: the start of a program touches a few pages more, and the
/// kernel counts memory per CPU and adds up the parts late.
const SLACK: u64 = 256 << 10;

/// Smallest mapping that the launcher drops.
const LARGE: usize = 64 << 10;

/// A program to start, and the result; at the start of the area.
#[repr(C)]
struct StartOrder {
    image: Image,
    /// Futex on which both sides wait.
    state: AtomicU32,
    /// Process id of the program, or a negative error number.
    pid: AtomicI32,
    /// The launcher's own peak memory in KiB.
    peak: AtomicU64,
    owner: i32,
    /// CPUs of the thread that started the launcher.
    cpus: CpuSet,
    /// Memory to drop: start and length.
    drop: [(usize, usize); 64],
}

/// A running launcher. It ends with the thread that started it, or when dropped.
#[derive(Debug)]
pub(crate) struct Launcher {
    pid: Pid,
    area: Area,
}

impl Launcher {
    /// Starts a launcher for programs of the calling thread.
    ///
    /// # Errors
    /// If the kernel refuses the memory or the process.
    pub fn start() -> io::Result<Self> {
        let cpus = sched_getaffinity(None)?;
        let area = Area::new()?;
        // SAFETY: the mapping is new, large enough and aligned to pages, and zeros are a valid
        // order.
        let order = unsafe { &mut *area.memory.cast::<StartOrder>() };
        order.owner = rustix::process::getpid().as_raw_nonzero().get();
        order.cpus = cpus;
        for (place, region) in order.drop.iter_mut().zip(droppable()) {
            *place = region;
        }
        // SAFETY: the copy runs `serve` on a stack of its own in the area and never returns. It has
        // no exit signal, so that waiting for any child does not find it.
        let pid = unsafe {
            let flags = libc::CLONE_FILES | libc::CLONE_FS;
            libc::clone(serve, area.memory.byte_add(2 * STACK), flags, area.memory)
        };
        let pid = Pid::from_raw(pid.max(0)).ok_or_else(io::Error::last_os_error)?;
        leftovers::spare(pid.as_raw_nonzero().get().cast_unsigned());
        Ok(Launcher { pid, area })
    }

    /// Returns the peak memory that the kernel counted for a program, if it is the program's own.
    pub fn own_peak(&self, counted: u64) -> Option<u64> {
        // SAFETY: only an atomic field is used.
        let order = unsafe { &*self.area.memory.cast::<StartOrder>() };
        let own = order.peak.load(Ordering::Relaxed) * 1024;
        Some(counted).filter(|peak| *peak > own + SLACK)
    }

    /// Starts a program in a process group of its own, as a child of this process, on the CPUs of
    /// the thread that started the launcher. Returns the time just before the start, too.
    ///
    /// # Errors
    /// If the program could not be started; of the kind `Other` if the launcher is gone.
    pub fn launch(&mut self, program: &Program<'_>) -> io::Result<(u64, Pid)> {
        self.area.store(program)?;
        // SAFETY: the launcher uses the order only after it was given.
        let order = unsafe { &mut *self.area.memory.cast::<StartOrder>() };
        order.image.cpus = Some(order.cpus);
        let start_ns = monotonic_ns();
        // On this CPU it runs as soon as this thread waits, without waking another CPU.
        let mut here = CpuSet::new();
        here.set(sched_getcpu());
        let _ = sched_setaffinity(Some(self.pid), &here);
        let order = &*order;
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
        Ok((start_ns, self.area.started(order.pid.load(Ordering::Relaxed))?))
    }

    fn lives(&self) -> bool {
        rustix::process::test_kill_process(self.pid).is_ok() && reap_now(self.pid).is_none()
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // SAFETY: only an atomic field is used.
        let order = unsafe { &*self.area.memory.cast::<StartOrder>() };
        order.state.store(QUIT, Ordering::Release);
        wake(&order.state);
        reap(self.pid);
        leftovers::no_longer_spared(self.pid);
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
    let order = area.cast::<StartOrder>();
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
                    let pid = start(area, libc::CLONE_PARENT);
                    // The first start touches most pages, so its peak counts too.
                    let mut usage: libc::rusage = std::mem::zeroed();
                    syscall(libc::SYS_getrusage, libc::RUSAGE_SELF, &raw mut usage);
                    (*order).peak.store(usage.ru_maxrss as u64, Ordering::Relaxed);
                    (*order).pid.store(pid, Ordering::Relaxed);
                    (*order).state.store(IDLE, Ordering::Release);
                    wake(&(*order).state);
                }
                _ => _ = sleep_while(&(*order).state, IDLE),
            }
        }
    }
}
