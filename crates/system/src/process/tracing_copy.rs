//! Capabilities of the tracers, see capabilities(7). A copy of assay has them as file capabilities,
//! so that the program that starts benchmarks has none: the kernel and glibc take variables such as
//! `LD_LIBRARY_PATH` and a stack of more than 8 MiB away from a program with file capabilities.
#![allow(unsafe_code)] // std considers setting a variable unsafe

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, access};
use rustix::process::{DumpableBehavior, Resource, geteuid, getrlimit, set_dumpable_behavior};
use rustix::process::{Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Capabilities that `assay io`, `assay profile` and `assay syscalls` use.
const NEEDED: [(&str, CapabilitySet); 4] = [
    ("CAP_BPF", CapabilitySet::BPF),
    ("CAP_PERFMON", CapabilitySet::PERFMON),
    ("CAP_SYS_PTRACE", CapabilitySet::SYS_PTRACE),
    ("CAP_SYSLOG", CapabilitySet::SYSLOG),
];
/// The copy, in the folder above the program's.
const COPY: &str = "libexec/assay/assay";
/// Exists if the Debian package is installed.
const PACKAGE: &str = "/usr/share/doc/assay/copyright";
/// Environment variable with the soft limit of the stack.
const STACK: &str = "ASSAY_STACK_LIMIT";

/// Replaces this process by the copy if it is installed for this user. In the copy, makes the
/// capabilities effective and restores the environment and the stack limit.
///
/// # Errors
/// The copy is of another build or cannot be started, or a step in the copy failed.
pub fn enter() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    if geteuid().is_root() {
        return Ok(());
    }
    let stack = getrlimit(Resource::Stack);
    let given = NEEDED.iter().any(|(_, one)| sets.permitted.contains(*one));
    // A mount option may withhold the capabilities from the copy.
    if given || std::env::var_os(STACK).is_some() {
        sets.effective = sets.permitted;
        set_capabilities(None, sets)?;
        set_dumpable_behavior(DumpableBehavior::Dumpable)?;
        for line in std::fs::read("/proc/self/environ")?.split(|b| *b == 0) {
            let Some(at) = line.iter().position(|b| *b == b'=').filter(|at| *at > 0) else {
                continue;
            };
            let (name, value) =
                (OsStr::from_bytes(&line[..at]), OsStr::from_bytes(&line[at + 1..]));
            if name == STACK {
                let current = value.to_str().and_then(|value| value.parse().ok());
                setrlimit(Resource::Stack, Rlimit { current, ..stack })?;
                // SAFETY: the process has one thread.
                unsafe { std::env::remove_var(name) };
            } else if std::env::var_os(name).is_none() {
                // SAFETY: as above.
                unsafe { std::env::set_var(name, value) };
            }
        }
        return Ok(());
    }
    let program = std::env::current_exe()?;
    let copy = copy_of(&program);
    if access(&copy, Access::EXEC_OK).is_err() {
        return Ok(());
    }
    if copy.metadata()?.len() != program.metadata()?.len() {
        let command = grant(&program, &copy);
        let text = format!("{} is of another build; renew it: {command}", copy.display());
        return Err(io::Error::other(text));
    }
    let limit = stack.current.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let error = Command::new(&copy)
        .arg0("assay")
        .args(std::env::args_os().skip(1))
        .env(STACK, limit)
        .exec();
    Err(io::Error::new(error.kind(), format!("cannot start {}: {error}", copy.display())))
}

/// Returns the capabilities that this process lacks for the tracers.
pub fn missing() -> Vec<&'static str> {
    let own = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    NEEDED.iter().filter(|(_, one)| !own.contains(*one)).map(|(name, _)| *name).collect()
}

/// Returns the command that grants the missing capabilities, or the reason why none can.
pub fn remedy() -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("assay"));
    if geteuid().is_root() || program.ends_with(COPY) {
        return "the container or service, or the mount option nosuid, withholds them".to_owned();
    }
    let copy = copy_of(&program);
    if access(&copy, Access::EXEC_OK).is_ok() {
        "only `assay io`, `assay profile` and `assay syscalls` get them".to_owned()
    } else if copy.exists() {
        "sudo usermod --append --groups assay $USER, then log in again".to_owned()
    } else {
        grant(&program, &copy)
    }
}

fn grant(program: &Path, copy: &Path) -> String {
    if program == Path::new("/usr/bin/assay") && Path::new(PACKAGE).exists() {
        return "sudo dpkg-reconfigure assay".to_owned();
    }
    let (program, copy) = (program.display(), copy.display());
    format!(
        "sudo install -D {program} {copy} && \
         sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog=p {copy}"
    )
}

fn copy_of(program: &Path) -> PathBuf {
    let folder = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    folder.join(COPY)
}
