//! Ends what a killed assay leaves running. A process of its own waits for the end of a pipe from assay, which comes
//! however assay ends, and then kills every program that assay started: by the group that assay noted last, by a
//! variable in the environment, and by descent. If it was killed as well, the next start of assay does the same.
//! The note is in memory that both share, so that a trial does not wake the guard.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{pread, pwrite};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, set_child_subreaper};

/// In the environment of programs: the guard's process id, in ten digits, so that the length is always the same.
pub const VARIABLE: &str = "ASSAY_GUARD";

/// The hidden verb that runs the guard.
pub const VERB: &str = "__guard";

/// How long killed processes may take to go.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What tells the guard; `None`: it could not be started.
static GUARD: OnceLock<Option<Guard>> = OnceLock::new();

struct Guard {
    id: u32,
    group: OwnedFd,
    _open: io::PipeWriter,
}

/// Starts the guard, once; `exe` is assay. Without it programs are ended only as long as assay lives.
///
/// # Errors
/// Why it could not be started.
pub fn start(exe: &Path) -> io::Result<()> {
    let mut error = None;
    GUARD.get_or_init(|| launch(exe).map_err(|e| error = Some(e)).ok());
    error.map_or(Ok(()), Err)
}

/// The shell ends at once, so that the guard is no child of assay, of which there are none between two trials.
fn launch(exe: &Path) -> io::Result<Guard> {
    let _ = set_child_subreaper(None);
    let (reader, writer) = io::pipe()?;
    let group = memfd_create("assay-guard", MemfdFlags::CLOEXEC)?;
    // A shell gives what it starts in the background no standard input, unless by another descriptor.
    let script = format!("exec 3<&0; \"$0\" {VERB} <&3 3<&- >&2 2>/dev/null & echo $!");
    let output = Command::new("/bin/sh")
        .args(["-c", &script])
        .arg(exe)
        .env_remove(VARIABLE)
        .current_dir("/")
        .process_group(0)
        .stdin(reader)
        .stderr(group.try_clone()?)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let id = text.trim().parse().map_err(|_| io::Error::other("the shell did not start it"))?;
    Ok(Guard { id, group, _open: writer })
}

/// The variable for a program's environment; `None` without a guard.
pub fn variable() -> Option<(OsString, OsString)> {
    let guard = GUARD.get()?.as_ref()?;
    Some((VARIABLE.into(), format!("{:010}", guard.id).into()))
}

/// Tells the guard the process group that runs now; `None`: it has ended.
pub fn tell(group: Option<Pid>) {
    let Some(Some(guard)) = GUARD.get() else { return };
    let id = group.map_or(0, |pid| pid.as_raw_nonzero().get());
    let _ = pwrite(&guard.group, &id.to_ne_bytes(), 0);
}

/// The guard: waits until assay is gone and ends what it left.
pub fn serve() {
    let _ = rustix::process::setsid();
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    let mut group = [0; 4];
    let _ = pread(io::stdout(), &mut group, 0);
    let own = std::process::id();
    end(Pid::from_raw(i32::from_ne_bytes(group)), |guard| guard == own);
}

/// A program that a killed assay left running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Its process id.
    pub pid: i32,
    /// Its command line.
    pub command: String,
}

/// The programs of which both assay and its guard are gone.
pub fn strays() -> Vec<Stray> {
    let command = |pid: i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned()
    };
    let marked = marked(&|guard| !is_guard(guard));
    marked.into_iter().map(|pid| Stray { pid, command: command(pid) }).collect()
}

/// Ends them, and returns which there were.
pub fn end_strays() -> Vec<Stray> {
    let found = strays();
    if !found.is_empty() {
        end(None, |guard| !is_guard(guard));
    }
    found
}

/// Whether this process is a guard.
fn is_guard(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|b| *b == 0).nth(1) == Some(VERB.as_bytes())
}

/// Kills a group, the marked processes and their descendants until none is left.
fn end(group: Option<Pid>, whose: impl Fn(u32) -> bool) {
    let began = Instant::now();
    let mut known: BTreeSet<i32> = group.iter().map(|pid| pid.as_raw_nonzero().get()).collect();
    loop {
        known.extend(marked(&whose));
        known.extend(descendants(&known));
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let mut left = false;
        for pid in known.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            left |= kill_process(pid, Signal::KILL).is_ok() && !is_zombie(pid);
        }
        if !left || began.elapsed() > TIMEOUT {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
        known.retain(|pid| Path::new("/proc").join(pid.to_string()).exists());
    }
}

/// The processes in whose environment the guard is one of these.
fn marked(whose: &dyn Fn(u32) -> bool) -> Vec<i32> {
    let name = format!("{VARIABLE}=");
    processes()
        .filter(|pid| {
            let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut words = variables.split(|b| *b == 0);
            let value = words.find_map(|v| v.strip_prefix(name.as_bytes()));
            let id = value.and_then(|v| std::str::from_utf8(v).ok()?.parse().ok());
            id.is_some_and(whose)
        })
        .collect()
}

fn processes() -> impl Iterator<Item = i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// State and parent of a process: after the name in parentheses, which may have any character in it.
fn stat(pid: i32) -> Option<(String, i32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_whitespace();
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn is_zombie(pid: Pid) -> bool {
    stat(pid.as_raw_nonzero().get()).is_none_or(|(state, _)| state == "Z")
}

fn descendants(of: &BTreeSet<i32>) -> BTreeSet<i32> {
    let parents: Vec<(i32, i32)> =
        processes().filter_map(|pid| Some((pid, stat(pid)?.1))).collect();
    let mut found = of.clone();
    loop {
        let before = found.len();
        let children = parents.iter().filter(|(_, parent)| found.contains(parent)).map(|p| p.0);
        found.extend(children.collect::<Vec<_>>());
        if found.len() == before {
            return found;
        }
    }
}
