//! The copies from the parent's side: all are prepared, released at the same time, and waited for.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use assay_model::Exit;
use assay_system::ExitedChild;
use assay_system::clock::monotonic_ns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::Failure;
use crate::driver::side_by_side::COPY;
use crate::driver::side_by_side::spec::{
    CopySpec, CopyStart, ReplicaMessage, ReplicasSpec, WORD, go_pipe, ready_pipe,
};

/// Time from the release until the first copy starts, in which every copy reads the start time.
const START_NS: u64 = 3_000_000;
/// Additional time for each copy.
const START_EACH_NS: u64 = 50_000;
/// Interval in seconds at which a waiting parent checks for copies that have ended.
const LOOK_S: i64 = 1;
/// Maximum number of lines of a failed copy's standard error in the failure, from its last
/// `TAIL_BYTES`.
const TAIL_LINES: usize = 10;
const TAIL_BYTES: u64 = 4096;

/// Times and resource usage of one copy.
#[derive(Debug, Clone, Copy)]
pub struct ReplicaTimes {
    /// Time at which it woke to become the program, ns of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// Time at which the parent noticed its end, ns of `CLOCK_MONOTONIC`.
    pub end_ns: u64,
    /// Resources that the kernel accounted to it; its memory includes assay's own image.
    pub used: ExitedChild,
}

/// Times and resource usage of all copies.
pub struct ReplicaResults {
    /// Common start time of all copies, ns of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// Results of the copies, in their order.
    pub copies: Vec<ReplicaTimes>,
}

/// The running copies. Dropping it ends those that still run.
struct Replicas<'a> {
    spec: &'a ReplicasSpec,
    children: Vec<Child>,
    /// For each copy, true if it was reaped.
    reaped: Vec<bool>,
}

impl Drop for Replicas<'_> {
    fn drop(&mut self) {
        for (child, reaped) in self.children.iter_mut().zip(&self.reaped) {
            if !reaped {
                // Normally the copy has ended already, and both calls do nothing.
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// Runs the copies. Calls `steady` with their start time.
///
/// # Errors
/// Returns a [`Failure`] after the copies were ended.
pub fn run(spec: &ReplicasSpec, steady: impl FnOnce(u64)) -> Result<ReplicaResults, Failure> {
    let mut ready = pipe(&ready_pipe(&spec.dir))?;
    let mut go = pipe(&go_pipe(&spec.dir))?;
    let killed_before = oom_kills();
    let mut crew = Replicas { spec, children: Vec::new(), reaped: vec![false; spec.copies.len()] };
    for index in 0..spec.copies.len() {
        let child = start(spec, index)?;
        crew.children.push(child);
    }
    let mut here = 0;
    while here < spec.copies.len() {
        crew.hear(&mut ready)?;
        here += 1;
    }
    let start_ns = monotonic_ns() + START_NS + START_EACH_NS * spec.copies.len() as u64;
    steady(start_ns);
    for _ in &spec.copies {
        go.write_all(&start_ns.to_le_bytes())
            .map_err(Failure::file("write", &go_pipe(&spec.dir)))?;
    }
    crew.wait(&mut ready, start_ns, killed_before)
}

/// Creates a named pipe, opened for reading and writing so that open(2) does not block.
fn pipe(path: &std::path::Path) -> Result<File, Failure> {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .map_err(Failure::file("make the pipe", path))?;
    File::options().read(true).write(true).open(path).map_err(Failure::file("open", path))
}

fn start(spec: &ReplicasSpec, index: usize) -> Result<Child, Failure> {
    let copy = &spec.copies[index];
    // The copy inherits its environment and standard input.
    let own = CopySpec { env: Vec::new(), stdin: None, ..copy.clone() };
    let json = serde_json::to_string(&CopyStart { index, copy: own, dir: spec.dir.clone() })?;
    let create = |name: &str| {
        let path = copy.dir.join(name);
        File::create(&path).map_err(Failure::file("create", &path))
    };
    let stdin = match &copy.stdin {
        Some(path) => File::open(path).map_err(Failure::file("open", path))?.into(),
        None => Stdio::null(),
    };
    // This link leads to the running program even if its file was replaced.
    Command::new("/proc/self/exe")
        .args(["__work", COPY, &json])
        .envs(copy.env.iter().map(|(k, v)| (k, v)))
        .current_dir(&copy.dir)
        .stdin(stdin)
        .stdout(create("stdout")?)
        .stderr(create("stderr")?)
        .spawn()
        .map_err(|e| copy_failed(spec, index, format!("it did not start: {e}")))
}

impl Replicas<'_> {
    /// Waits for the next message, and checks for copies that ended without one.
    fn hear(&mut self, ready: &mut File) -> Result<ReplicaMessage, Failure> {
        loop {
            let mut fds = [PollFd::new(&*ready, PollFlags::IN)];
            let limit = Timespec { tv_sec: LOOK_S, tv_nsec: 0 };
            let polled = poll(&mut fds, Some(&limit))
                .map_err(Failure::file("wait for", &ready_pipe(&self.spec.dir)))?;
            if polled > 0 {
                let mut bytes = [0; WORD];
                ready
                    .read_exact(&mut bytes)
                    .map_err(Failure::file("read", &ready_pipe(&self.spec.dir)))?;
                return Ok(ReplicaMessage::from_bytes(bytes));
            }
            for (index, child) in self.children.iter_mut().enumerate() {
                if let Ok(Some(status)) = child.try_wait() {
                    let what = format!(
                        "it ended before its start ({status}){}",
                        last_stderr(&self.spec.copies[index])
                    );
                    return Err(copy_failed(self.spec, index, what));
                }
            }
        }
    }

    fn wait(
        &mut self,
        ready: &mut File,
        start_ns: u64,
        killed_before: Option<u64>,
    ) -> Result<ReplicaResults, Failure> {
        let mut done: Vec<Option<ReplicaTimes>> = vec![None; self.children.len()];
        for _ in 0..self.children.len() {
            let ended =
                assay_system::wait_any().map_err(Failure::file("wait for", &self.spec.dir))?;
            let end_ns = monotonic_ns();
            let Some(index) = self.children.iter().position(|c| c.id() as i32 == ended.pid) else {
                continue;
            };
            self.reaped[index] = true;
            if ended.exit != Exit::Code(0) {
                return Err(self.failure(index, ended.exit, killed_before));
            }
            done[index] = Some(ReplicaTimes { began_ns: 0, end_ns, used: ended });
        }
        // All copies have reported their start, because they could not have ended otherwise.
        for _ in 0..self.children.len() {
            let word = self.hear(ready)?;
            if let Some(Some(done)) = done.get_mut(word.index as usize) {
                done.began_ns = word.began_ns;
            }
        }
        Ok(ReplicaResults { start_ns, copies: done.into_iter().flatten().collect() })
    }

    fn failure(&self, index: usize, exit: Exit, killed_before: Option<u64>) -> Failure {
        let copy = &self.spec.copies[index];
        let how = match exit {
            Exit::Code(code) => format!("ended with exit code {code}"),
            Exit::Signal(signal) => format!("was ended by signal {signal}"),
        };
        let killed = killed_before.zip(oom_kills()).is_some_and(|(a, b)| b > a);
        let hint = match exit {
            // A shell returns 128 plus the signal of its command.
            Exit::Signal(9) | Exit::Code(137) if killed => {
                "; the kernel meanwhile killed processes for lack of memory"
            }
            _ => "",
        };
        let (number, copies) = (index + 1, self.spec.copies.len());
        let (cpus, stderr) = (cpus(copy), last_stderr(copy));
        let message = format!("copy {number} of {copies} (CPUs {cpus}) {how}{hint}{stderr}");
        Failure::Copy { index, message }
    }
}

/// Returns the failure of a copy that could not be started or did not reach its start.
fn copy_failed(spec: &ReplicasSpec, index: usize, what: String) -> Failure {
    Failure::program(format_args!("copy {} of {}", index + 1, spec.copies.len()), what)
}

/// Formats the CPUs of a copy: `0,2`, or `of the trial`.
pub fn cpus(copy: &CopySpec) -> String {
    if copy.cpus.is_empty() {
        return "of the trial".into();
    }
    copy.cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Returns the last lines of a copy's standard error with an introduction; empty if it printed
/// nothing.
fn last_stderr(copy: &CopySpec) -> String {
    let path = copy.dir.join("stderr");
    let tail = crate::driver::step::tail(&path, 0, TAIL_BYTES, TAIL_LINES).unwrap_or_default();
    if tail.is_empty() {
        return String::new();
    }
    // On one line, because the record has the last line of this process's output.
    format!("; the end of its standard error: {}", tail.lines().collect::<Vec<_>>().join(" | "))
}

/// Returns the number of processes that the kernel has killed since boot for lack of memory.
fn oom_kills() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|l| l.strip_prefix("oom_kill ")?.trim().parse().ok())
}
