//! Kills programs that a killed assay left running. A separate process waits for the end of a pipe
//! from assay, which comes however assay ends, and then kills every program that assay started: by
//! the process group that assay noted last, by an environment variable, and by descent. If the
//! guard was killed as well, the next start of assay does the same. The note is in shared memory,
//! so that a trial does not wake the guard.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{pread, pwrite};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group, set_child_subreaper};

/// Environment variable of programs with the guard's process id, in ten digits so that its length
/// is constant.
pub const VARIABLE: &str = "ASSAY_GUARD";

/// The hidden verb that runs the guard.
pub const VERB: &str = "__guard";

/// Maximum time that killed processes may take to exit.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Connection to the guard; `None` if it could not be started.
static GUARD: OnceLock<Option<Guard>> = OnceLock::new();

struct Guard {
    id: u32,
    group: OwnedFd,
    open: io::PipeWriter,
}

/// Starts the guard, once; `exe` is assay. Without the guard, programs are killed only as long as
/// assay lives.
///
/// # Errors
/// If the guard could not be started.
pub fn start(exe: &Path) -> io::Result<()> {
    let mut error = None;
    GUARD.get_or_init(|| launch(exe).map_err(|e| error = Some(e)).ok());
    error.map_or(Ok(()), Err)
}

/// Starts the guard through a shell that exits at once, so that the guard is not a child of assay;
/// between two trials assay must have no children.
fn launch(exe: &Path) -> io::Result<Guard> {
    let (reader, writer) = io::pipe()?;
    let group = memfd_create("assay-guard", MemfdFlags::CLOEXEC)?;
    let note = group.try_clone()?;
    // A shell gives background processes no standard input, unless through another descriptor.
    let script = format!("exec 3<&0; \"$0\" {VERB} <&3 3<&- >&2 2>/dev/null & echo $!");
    // assay adopts the orphans of programs, but not the guard.
    let _ = set_child_subreaper(None);
    let output = Command::new("/bin/sh")
        .args(["-c", &script])
        .arg(exe)
        .env_remove(VARIABLE)
        .current_dir("/")
        .process_group(0)
        .stdin(reader)
        .stderr(note)
        .output();
    let _ = set_child_subreaper(Some(getpid()));
    let printed = output?.stdout;
    let text = String::from_utf8_lossy(&printed);
    let id = text.trim().parse().map_err(|_| io::Error::other("the shell did not start it"))?;
    Ok(Guard { id, group, open: writer })
}

/// Returns the variable for a program's environment; `None` without a guard.
pub fn variable() -> Option<(OsString, OsString)> {
    let guard = GUARD.get()?.as_ref()?;
    Some((VARIABLE.into(), format!("{:010}", guard.id).into()))
}

/// Reports the running process group to the guard; `None` if it has ended.
pub fn report_group(group: Option<Pid>) {
    let Some(Some(guard)) = GUARD.get() else { return };
    let id = group.map_or(0, |pid| pid.as_raw_nonzero().get());
    let _ = pwrite(&guard.group, &id.to_ne_bytes(), 0);
}

/// Tells the guard that assay ends by itself and has ended its programs, so that the guard does not
/// search all processes while the next command looks for other work.
pub fn dismiss() {
    if let Some(Some(guard)) = GUARD.get() {
        let _ = (&guard.open).write_all(b".");
    }
}

/// Runs the guard: waits until assay is gone and, unless it was dismissed, kills the programs that
/// assay left running.
pub fn serve() {
    let _ = rustix::process::setsid();
    if io::copy(&mut io::stdin(), &mut io::sink()).is_ok_and(|bytes| bytes > 0) {
        return;
    }
    let mut group = [0; 4];
    let _ = pread(io::stdout(), &mut group, 0);
    let own = std::process::id();
    end(Pid::from_raw(i32::from_ne_bytes(group)), |_, guard| guard == own);
}

/// A program that a killed assay left running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayProgram {
    pub pid: i32,
    /// Command line of the program.
    pub command: String,
}

/// Returns the programs whose assay and guard are both gone.
pub fn strays() -> Vec<StrayProgram> {
    let command = |pid: i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned()
    };
    let marked = marked(&is_stray);
    marked.into_iter().map(|pid| StrayProgram { pid, command: command(pid) }).collect()
}

/// Kills such programs and returns them.
pub fn end_strays() -> Vec<StrayProgram> {
    let found = strays();
    if !found.is_empty() {
        end(None, is_stray);
    }
    found
}

/// True if the guard of a program is gone, and its assay too. A guard in a container has another
/// process id there, and a guard may be killed alone.
fn is_stray(pid: i32, guard: u32) -> bool {
    let name = |pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let own = name(getpid().as_raw_nonzero().get());
    let mut parents = std::iter::successors(stat(pid), |(_, parent)| stat(*parent));
    !is_guard(guard) && !parents.any(|(_, parent)| name(parent) == own)
}

/// True if this process is a guard.
fn is_guard(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|b| *b == 0).nth(1) == Some(VERB.as_bytes())
}

/// Kills a group, the marked processes and their descendants until none is left.
fn end(group: Option<Pid>, whose: impl Fn(i32, u32) -> bool) {
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

/// Returns the processes whose environment names a guard, if `whose` is true for both.
fn marked(whose: &dyn Fn(i32, u32) -> bool) -> Vec<i32> {
    let name = format!("{VARIABLE}=");
    processes()
        .filter(|pid| {
            let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut words = variables.split(|b| *b == 0);
            let value = words.find_map(|v| v.strip_prefix(name.as_bytes()));
            let id = value.and_then(|v| std::str::from_utf8(v).ok()?.parse().ok());
            id.is_some_and(|guard| whose(*pid, guard))
        })
        .collect()
}

fn processes() -> impl Iterator<Item = i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// Returns state and parent of a process. These fields follow the name in parentheses, which may
/// contain any character.
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
