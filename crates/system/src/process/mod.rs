//! Runs one program as a trial: in its own process group, with a limit on the captured output, a
//! metrics protocol read line by line, and a timeout. Nothing that it started is left alive
//! afterwards.
//!
//! A single loop over `poll(2)` does all of this without threads, so that a short command costs
//! little more than its own start. The program inherits CPUs, scheduling class and memory policy
//! from the calling thread.

pub(crate) mod capture;
pub mod container;
pub(crate) mod enter;
pub(crate) mod group_use;
pub mod guard;
pub(crate) mod hooks;
pub(crate) mod interrupt;
mod launcher;
pub(crate) mod leftovers;
pub(crate) mod mempolicy;
pub(crate) mod node_memory;
pub(crate) mod observation_points;
pub(crate) mod parent_death;
pub(crate) mod pause_detection;
pub(crate) mod personality;
pub(crate) mod sched_class;
pub(crate) mod setup;
mod start;
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
pub mod static_names;
pub mod taskstats;
pub mod tracing_copy;
pub(crate) mod wait4;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_model::{Exit, ResourceUse};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, waitid};

use crate::process::capture::{Capture, LineSplitter};
use crate::process::container::connection;
use crate::process::container::wire::{ContainedLaunch, ContainedResult};
use crate::process::group_use::GroupCounters;
use crate::process::interrupt::Interrupt;
use crate::process::launcher::Launcher;
use crate::process::setup::ProcessSetup;
use crate::process::start::{Area, Program};
use crate::process::taskstats::Taskstats;
use crate::process::wait4::{own_peak_memory, wait4};
use crate::read::clock::monotonic_ns;

/// Destination of the program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// A pipe; the beginning and the end of the output are kept.
    #[default]
    Keep,
    /// A pipe that is read to its end; nothing is kept.
    Discard,
    /// `/dev/null`, for which some programs do less work.
    Null,
    /// The same place as the caller's output.
    Inherit,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct ProgramSpec<'a> {
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// Environment variables on top of the inherited ones.
    pub env: &'a [(OsString, OsString)],
    /// Working directory; the caller's if `None`.
    pub cwd: Option<&'a Path>,
    /// File for standard input; `/dev/null` if `None`.
    pub stdin: Option<&'a Path>,
    /// Destination of the output.
    pub output: Output,
    /// True if the program gets a pipe on file descriptor 3 whose lines go to [`Sink::line`].
    pub protocol: bool,
    /// Folders of control groups that the program joins before it starts.
    pub groups: &'a [PathBuf],
    /// Descriptors that take the place of `stdin`, `output`, a new pipe for the protocol and
    /// `groups`, in this order.
    pub received: Option<&'a [OwnedFd]>,
    /// The settings with which the program runs in the trial's container; `None`: not in one.
    pub contained: Option<&'a ProcessSetup>,
    /// True if the calling thread has settings for the program, so that it must start it itself.
    pub inherits: bool,
}

/// Limits on a run of a program.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time after which the program is stopped.
    pub timeout: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Number of bytes kept of each output stream: half from the beginning, half from the end.
    pub keep_bytes: usize,
}

/// Receiver of events while the program runs.
pub trait Sink {
    /// Handles a line of the metrics protocol, without its newline; `t_ns` is its arrival
    /// (`CLOCK_MONOTONIC`).
    fn line(&mut self, line: &[u8], t_ns: u64);

    /// Returns the interval between calls of [`Sink::tick`]; `None` for no calls, so that nothing
    /// wakes up meanwhile.
    fn every(&self) -> Option<Duration> {
        None
    }

    /// Called at the interval of [`Sink::every`].
    fn tick(&mut self) {}

    /// True if [`Sink::output`] should be called.
    fn wants_output(&self) -> bool {
        false
    }

    /// Handles output that the program has just printed, if its output is kept.
    fn output(&mut self, _stream: Stream, _bytes: &[u8]) {}
}

/// Output stream of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// A sink that ignores every event.
impl Sink for () {
    fn line(&mut self, _line: &[u8], _t_ns: u64) {}
}

/// Reason why the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// The program exited on its own.
    Exited,
    /// The program exceeded its timeout and was killed.
    TimedOut,
    /// A signal to assay stopped the program.
    Interrupted,
    /// The kernel stopped the program because it accessed the terminal, and it was killed.
    WantsTerminal,
}

/// Result of running a program.
#[derive(Debug)]
pub struct ProcessResult {
    /// Exit status of the program.
    pub exit: Exit,
    pub end: ProcessEnd,
    /// Time just before the start, `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// Time at which the end was noticed, `CLOCK_MONOTONIC`.
    pub end_ns: u64,
    pub resources: ResourceUse,
    /// Number of processes that the program left behind, which were killed.
    pub leftovers: u32,
    /// Number of lines of the metrics protocol that were dropped because they were too long.
    pub dropped_lines: u64,
}

/// Errors of running a program.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The argument list is empty.
    #[error("there is no command to run; give a program and its arguments")]
    Empty,
    /// The program could not be started.
    #[error("cannot start `{program}`: {source}{}", hint(.source))]
    Start { program: String, source: io::Error },
    /// The file for standard input could not be opened.
    #[error("cannot open {path} for standard input: {source}")]
    Stdin { path: PathBuf, source: io::Error },
    /// A control group could not be joined.
    #[error("cannot join the control group {path}: {source}")]
    Group {
        /// The group's `cgroup.procs` file.
        path: PathBuf,
        source: io::Error,
    },
    /// The container ended, or its program could not be started.
    #[error("in its container: {0}")]
    Container(io::Error),
    /// A system call that the run needs failed.
    #[error("{what} while `{program}` ran: {source}")]
    System {
        /// Description of the failed step.
        what: &'static str,
        program: String,
        source: io::Error,
    },
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "; is it installed and on PATH, and does its folder exist?",
        io::ErrorKind::PermissionDenied => "; is it executable?",
        _ if source.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            "; it is a script without a first line such as #!/bin/sh, or for another machine"
        }
        _ => "",
    }
}

/// Runs programs, one at a time, with reusable buffers.
#[derive(Debug, Default)]
pub struct Runner {
    /// Kept standard output of the last program.
    pub stdout: Capture,
    /// Kept standard error of the last program.
    pub stderr: Capture,
    lines: LineSplitter,
    interrupt: Option<Interrupt>,
    /// Largest known resident set of this process in bytes.
    own_peak: u64,
    /// Reports on exiting tasks; `None` if the kernel has none or this user may not read them.
    exits: Option<Taskstats>,
    launcher: Option<Launcher>,
    /// Memory for starting programs, made for the first one.
    area: Option<Area>,
    /// True if there is a terminal that a program may ask for.
    terminal: bool,
    /// The pidfd of the last program. Closing it takes as long as reaping, so it is closed while
    /// the next program runs instead of between the two.
    reaped: Option<OwnedFd>,
}

struct Child {
    /// Leader of the program's process group; `None` in the trial's container.
    pid: Option<Pid>,
    /// Readable once the program has ended: its pidfd, or the connection to the container.
    end: OwnedFd,
    streams: [Option<OwnedFd>; 3],
    /// The program's descriptors. While this process holds them too, the exiting program is not
    /// interrupted by a wake-up of this process for the end of each pipe.
    _ends: Vec<OwnedFd>,
}

impl Child {
    /// Signals the program's process group. An error means that it has exited already.
    fn signal(&self, signal: Signal) {
        match self.pid {
            Some(pid) => drop(rustix::process::kill_process_group(pid, signal)),
            None => connection::signal(&self.end, signal),
        }
    }
}

impl Runner {
    /// Makes a runner that stops its program when `interrupt` fires. Also makes this process the
    /// subreaper, so that orphans of the program cannot escape.
    pub fn new(interrupt: Option<Interrupt>) -> Self {
        // Without it (kernels before 3.4), only the process group is killed.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Runner {
            interrupt,
            exits: Taskstats::listen().ok(),
            terminal: File::open("/dev/tty").is_ok(),
            ..Runner::default()
        }
    }

    /// True if the kernel reports the peak memory of each program to this process.
    pub fn knows_peak_memory(&self) -> bool {
        self.exits.is_some()
    }

    /// Starts programs through a small process from now on, whose memory is less than theirs. It
    /// ends with the calling thread, which must also run the programs.
    pub fn start_launcher(&mut self) {
        self.launcher = Launcher::start().ok();
    }

    /// Drops the output of the last program.
    pub fn forget(&mut self) {
        self.stdout.reset(0);
        self.stderr.reset(0);
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// If the program could not be started or waiting for it failed. A program that fails is not an
    /// error here.
    pub fn run(
        &mut self,
        program: &ProgramSpec<'_>,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> Result<ProcessResult, ProcessError> {
        let keep_bytes = if program.output == Output::Discard { 0 } else { limits.keep_bytes };
        self.stdout.reset(keep_bytes);
        self.stderr.reset(keep_bytes);
        self.lines.reset();
        let name =
            || program.argv.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
        let counters = GroupCounters::read(program.groups);
        // Reports on tasks that ended between two programs would fill the buffer.
        self.exits.as_mut().and_then(|exits| exits.peak_memory(0));
        leftovers::reap_ended();
        let (mut child, start_ns, launched) = self.spawn(program, limits)?;
        if child.pid.is_some() {
            guard::report_group(child.pid);
        }
        self.reaped = None;
        let end = self.watch(&mut child, start_ns, limits, sink);
        if end.is_err() {
            child.signal(Signal::KILL);
        }
        let system = |what, source| ProcessError::System { what, program: name(), source };
        let (start_ns, end_ns, exit, usage, leftovers) = if let Some(pid) = child.pid {
            let reaped = wait4(pid.as_raw_nonzero().get(), true);
            let (_, exit, usage) = reaped
                .and_then(|reaped| reaped.ok_or_else(|| io::Error::other("no child")))
                .map_err(|source| system("wait", source))?;
            let leftovers = leftovers::end_all(pid);
            guard::report_group(None);
            (start_ns, end.as_ref().map_or(start_ns, |end| end.1), exit, usage, leftovers)
        } else {
            let ContainedResult { start_ns, end_ns, exit, resources, leftovers } =
                connection::result(&child.end).map_err(ProcessError::Container)?;
            (start_ns, end_ns, exit, resources, leftovers)
        };
        let (end, _) = end.map_err(|source| system("poll", source))?;
        self.drain(&mut child, sink);
        self.reaped = Some(child.end);
        let peak_memory_bytes = match &self.launcher {
            Some(launcher) if launched => {
                usage.peak_memory_bytes.and_then(|counted| launcher.own_peak(counted))
            }
            _ => self.peak_memory(child.pid, usage.peak_memory_bytes),
        };
        let resources = ResourceUse {
            wall_s: (end_ns - start_ns) as f64 * 1e-9,
            peak_memory_bytes,
            group: counters.since(),
            ..usage
        };
        Ok(ProcessResult {
            exit,
            end,
            start_ns,
            end_ns,
            resources,
            leftovers,
            dropped_lines: self.lines.dropped(),
        })
    }

    /// Starts a program. Returns it with the time just before its start, and true if the launcher
    /// started it.
    fn spawn(
        &mut self,
        program: &ProgramSpec<'_>,
        limits: &Limits,
    ) -> Result<(Child, u64, bool), ProcessError> {
        let path = program.argv.first().ok_or(ProcessError::Empty)?;
        let shown = || path.to_string_lossy().into_owned();
        let system = |what, source| ProcessError::System { what, program: shown(), source };
        let (ends, streams) = match program.received {
            Some(received) => {
                let ends = received.iter().map(OwnedFd::try_clone).collect::<io::Result<_>>();
                (ends.map_err(|e| system("copy descriptors", e))?, [None, None, None])
            }
            None => descriptors(program)?,
        };
        if let Some(setup) = program.contained {
            let start_ns = monotonic_ns();
            let launch = ContainedLaunch {
                argv: program.argv.to_vec(),
                env: program.env.to_vec(),
                cwd: program.cwd.map(Path::to_owned),
                protocol: program.protocol,
                grace_ms: limits.grace.as_millis() as u64,
                setup: setup.clone(),
            };
            let end = connection::launch(&launch, &ends).map_err(ProcessError::Container)?;
            return Ok((Child { pid: None, end, streams, _ends: ends }, start_ns, false));
        }
        let (start_ns, pid, launched) = self
            .start(program, &ends)
            .map_err(|source| ProcessError::Start { program: shown(), source })?;
        let end = pidfd_open(pid, PidfdFlags::empty()).map_err(|e| {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
            let _ = wait4(pid.as_raw_nonzero().get(), true);
            system("open a pidfd (Linux 5.3 or newer is needed)", e.into())
        })?;
        Ok((Child { pid: Some(pid), end, streams, _ends: ends }, start_ns, launched))
    }

    /// Starts a program, through the launcher if there is one and the program needs no settings of
    /// this thread. Returns the time just before the start, the process, and true if the launcher
    /// started it.
    fn start(
        &mut self,
        program: &ProgramSpec<'_>,
        ends: &[OwnedFd],
    ) -> io::Result<(u64, Pid, bool)> {
        let &ProgramSpec { argv, env, cwd, protocol, .. } = program;
        let image = Program { argv, env, cwd, ends, protocol };
        if let Some(launcher) = self.launcher.as_mut().filter(|_| !program.inherits) {
            let started = launcher.launch(&image);
            if started.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::Other) {
                self.launcher = None;
            }
            return started.map(|(start_ns, pid)| (start_ns, pid, true));
        }
        let area = match &mut self.area {
            Some(area) => area,
            none => none.insert(Area::new()?),
        };
        area.store(&image)?;
        let start_ns = monotonic_ns();
        Ok((start_ns, area.start()?, false))
    }

    /// Returns the peak memory of a program as the kernel reported it at its exit. Without such
    /// reports, returns the value counted for its parent, unless assay's own peak is as large,
    /// because the kernel counts that into every program that assay starts. Assay's own peak never
    /// falls, so it is read again only if the known value does not decide.
    fn peak_memory(&mut self, program: Option<Pid>, counted: Option<u64>) -> Option<u64> {
        let peak = self.exits.as_mut().and_then(|exits| match program {
            Some(pid) => exits.peak_memory(pid.as_raw_nonzero().get().cast_unsigned()),
            None => exits.peak_memory_below(connection::program_parent()),
        });
        if peak.is_some() || program.is_none() {
            return peak.or(counted);
        }
        let more_than = |own: u64| counted.filter(|peak| *peak > own.saturating_add(MEMORY_SLACK));
        more_than(self.own_peak)?;
        self.own_peak = own_peak_memory();
        more_than(self.own_peak)
    }

    /// Waits for the end of the child while reading its output. Returns the reason for the end and
    /// the time when it was noticed; the child is not reaped yet.
    fn watch(
        &mut self,
        child: &mut Child,
        start_ns: u64,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> io::Result<(ProcessEnd, u64)> {
        let mut end = ProcessEnd::Exited;
        let mut deadline = start_ns.saturating_add(limits.timeout.as_nanos() as u64);
        let mut killed = false;
        let mut next_tick = sink.every().map(|e| start_ns + e.as_nanos() as u64);
        let looks = self.terminal && child.pid.is_some();
        let mut next_look = if looks { start_ns + FIRST_LOOK_NS } else { u64::MAX };
        loop {
            let now = monotonic_ns();
            if now >= next_look {
                next_look = now + (now - start_ns);
                if end == ProcessEnd::Exited && child.pid.is_some_and(stopped_by_terminal) {
                    child.signal(Signal::KILL);
                    (end, killed, deadline) = (ProcessEnd::WantsTerminal, true, u64::MAX);
                }
            }
            let fired =
                end == ProcessEnd::Exited && self.interrupt.as_ref().is_some_and(Interrupt::fired);
            if fired || now >= deadline {
                if !killed {
                    let (signal, why) = if end == ProcessEnd::Exited {
                        (Signal::TERM, None)
                    } else {
                        (Signal::KILL, Some(end))
                    };
                    child.signal(signal);
                    killed = signal == Signal::KILL;
                    end = why.unwrap_or(if fired {
                        ProcessEnd::Interrupted
                    } else {
                        ProcessEnd::TimedOut
                    });
                }
                let more = if child.pid.is_none() { CONTAINER_GRACE } else { Duration::ZERO };
                let grace = (limits.grace + more).as_nanos() as u64;
                deadline = if killed { u64::MAX } else { now + grace };
            }
            if let Some(at) = next_tick.filter(|at| now >= *at) {
                sink.tick();
                next_tick = sink.every().map(|e| at.max(now) + e.as_nanos() as u64);
            }
            let until = deadline.min(next_tick.unwrap_or(u64::MAX)).min(next_look);
            let (ended, ready) = self.poll(child, until.saturating_sub(now))?;
            if ended {
                return Ok((end, monotonic_ns()));
            }
            for (i, _) in ready.iter().enumerate().filter(|(_, r)| **r) {
                self.read_stream(child, i, sink);
            }
        }
    }

    fn poll(&self, child: &Child, timeout_ns: u64) -> io::Result<(bool, [bool; 3])> {
        let mut fds: [PollFd<'_>; 5] =
            std::array::from_fn(|_| PollFd::new(&child.end, PollFlags::IN));
        let mut used = 1;
        let mut slots = [usize::MAX; 3];
        for (slot, stream) in slots.iter_mut().zip(&child.streams) {
            if let Some(fd) = stream {
                fds[used] = PollFd::new(fd, PollFlags::IN);
                *slot = used;
                used += 1;
            }
        }
        if let Some(interrupt) = &self.interrupt
            && !interrupt.fired()
        {
            fds[used] = PollFd::from_borrowed_fd(interrupt.as_fd(), PollFlags::IN);
            used += 1;
        }
        let capped = timeout_ns.min(3_600_000_000_000);
        let timeout = Timespec {
            tv_sec: (capped / 1_000_000_000) as i64,
            tv_nsec: (capped % 1_000_000_000) as i64,
        };
        match rustix::event::poll(&mut fds[..used], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = slots.map(|s| s != usize::MAX && !fds[s].revents().is_empty());
        Ok((!fds[0].revents().is_empty(), ready))
    }

    /// Reads the available data of one stream; closes it at its end.
    fn read_stream(&mut self, child: &mut Child, index: usize, sink: &mut dyn Sink) {
        let Some(fd) = child.streams[index].as_ref() else { return };
        let open = match index {
            0 => self.stdout.read_from(fd),
            1 => self.stderr.read_from(fd),
            _ => self.lines.read_from(fd, &mut |line| sink.line(line, monotonic_ns())),
        };
        if sink.wants_output() {
            match index {
                0 => sink.output(Stream::Stdout, self.stdout.newest()),
                1 => sink.output(Stream::Stderr, self.stderr.newest()),
                _ => {}
            }
        }
        if !open {
            child.streams[index] = None;
        }
    }

    /// Reads the rest of the pipes. Nothing writes to them any more, so this terminates.
    fn drain(&mut self, child: &mut Child, sink: &mut dyn Sink) {
        for index in 0..3 {
            if let Some(fd) = &child.streams[index] {
                let _ = rustix::io::ioctl_fionbio(fd, true);
            }
            let mut before = u64::MAX;
            while child.streams[index].is_some() && before != self.seen(index) {
                before = self.seen(index);
                self.read_stream(child, index, sink);
            }
        }
        self.lines.finish(&mut |line| sink.line(line, monotonic_ns()));
    }

    fn seen(&self, index: usize) -> u64 {
        match index {
            0 => self.stdout.total(),
            1 => self.stderr.total(),
            _ => self.lines.total(),
        }
    }
}

/// Time of the first check whether the terminal stopped the program; each later check comes twice
/// as late, because the checks wake this process.
const FIRST_LOOK_NS: u64 = 1_000_000_000;

/// True if a child is stopped because its group, which is in the background, asked for the
/// terminal.
fn stopped_by_terminal(child: Pid) -> bool {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(child), options).ok().flatten();
    let signal = status.and_then(|s| s.stopping_signal());
    signal.is_some_and(|s| [Signal::TTIN, Signal::TTOU].iter().any(|t| t.as_raw() == s))
}

/// Tolerance in bytes. The kernel counts resident memory per CPU and adds up the parts late, so
/// that two readings of one process can differ by a few hundred KiB.
const MEMORY_SLACK: u64 = 2 << 20;

/// Extra time for a program in a container to end after SIGTERM, before the container is killed.
const CONTAINER_GRACE: Duration = Duration::from_secs(3);

/// Opens the descriptors of a program in the order of [`ProgramSpec::received`]. Returns them with
/// the other ends of its pipes.
fn descriptors(
    program: &ProgramSpec<'_>,
) -> Result<(Vec<OwnedFd>, [Option<OwnedFd>; 3]), ProcessError> {
    let name = || program.argv.first().map_or_else(String::new, |p| p.to_string_lossy().into());
    let system = |what| move |source| ProcessError::System { what, program: name(), source };
    let null = || {
        let opened = File::options().read(true).write(true).open("/dev/null");
        opened.map(OwnedFd::from).map_err(system("open /dev/null"))
    };
    let mut streams = [None, None, None];
    let mut pipe = |index: usize| {
        let (reader, writer) = io::pipe().map_err(system("make a pipe"))?;
        streams[index] = Some(OwnedFd::from(reader));
        Ok(OwnedFd::from(writer))
    };
    let mut ends = vec![match program.stdin {
        None => null()?,
        Some(file) => File::open(file)
            .map_err(|source| ProcessError::Stdin { path: file.to_owned(), source })?
            .into(),
    }];
    match program.output {
        Output::Keep | Output::Discard => ends.extend([pipe(0)?, pipe(1)?]),
        Output::Null => ends.extend([null()?, null()?]),
        Output::Inherit => {
            for fd in [io::stdout().as_fd(), io::stderr().as_fd()] {
                ends.push(fd.try_clone_to_owned().map_err(system("copy the output"))?);
            }
        }
    }
    if program.protocol {
        ends.push(pipe(2)?);
    }
    let groups = wait4::open_groups(program.groups);
    ends.extend(groups.map_err(|(path, source)| ProcessError::Group { path, source })?);
    Ok((ends, streams))
}
