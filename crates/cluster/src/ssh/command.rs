//! The commands that run on a host, and the program of assay that they start.

use std::path::{Path, PathBuf};

use assay_model::ExecutionPlace;

use crate::ClusterError;

/// First word of a line that the remote shell prints for the collector.
pub(super) const MARK: &str = "assay-agent";
/// Folder of the copied programs under the cache folder of the user on the host.
const FOLDER: &str = "${XDG_CACHE_HOME:-$HOME/.cache}/assay/agents";
/// Variable that names a folder with programs for other architectures.
const AGENTS: &str = "ASSAY_AGENTS";

/// Program of assay that the agents of a run execute.
#[derive(Debug, Clone)]
pub enum AgentProgram {
    /// Installed on every host at this path.
    Installed(String),
    /// Copied from this machine once per content and architecture. The program of another
    /// architecture is looked up when a host has one.
    Copied(PathBuf),
}

/// A program in the form in which one host is asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sought {
    /// Installed at this path.
    At(String),
    /// In the folder of copied programs, under this name.
    Copy(String),
}

impl Sought {
    /// Returns the program in `file` under the name that its content has on hosts.
    pub(super) fn copy_of(file: &Path) -> Result<Self, ClusterError> {
        let sum = assay_system::sha256_file(file)
            .map_err(|source| ClusterError::Program { path: file.to_owned(), source })?;
        Ok(Sought::Copy(format!("assay-{}", &sum[..sum.len().min(24)])))
    }
}

impl AgentProgram {
    /// Returns the program as a host is asked for it first.
    ///
    /// # Errors
    /// The program of this machine cannot be read.
    pub(crate) fn sought(&self) -> Result<Sought, ClusterError> {
        match self {
            AgentProgram::Installed(path) => Ok(Sought::At(path.clone())),
            AgentProgram::Copied(own) => Sought::copy_of(own),
        }
    }

    /// Returns the program of an experiment's place; `own` is this program.
    pub fn for_place(place: &ExecutionPlace, own: &Path) -> Self {
        match &place.program {
            Some(path) => AgentProgram::Installed(path.clone()),
            None => AgentProgram::Copied(own.to_owned()),
        }
    }

    /// Returns the file to copy to a machine of this architecture (as `uname -m` prints it).
    ///
    /// # Errors
    /// There is no program for the architecture.
    pub(super) fn file(&self, host: &str, machine: &str) -> Result<PathBuf, ClusterError> {
        let own = match self {
            AgentProgram::Copied(own) if machine == std::env::consts::ARCH => {
                return Ok(own.clone());
            }
            AgentProgram::Copied(own) => own,
            AgentProgram::Installed(path) => {
                return Err(ClusterError::SetUp {
                    who: format!("host {host}"),
                    why: format!("there is no program `{path}` (`where.program`)"),
                });
            }
        };
        let name = format!("assay-{machine}");
        let folder = std::env::var_os(AGENTS).map(PathBuf::from);
        let beside = folder.or_else(|| own.parent().map(Path::to_owned)).unwrap_or_default();
        let file = beside.join(&name);
        if file.is_file() {
            return Ok(file);
        }
        Err(ClusterError::SetUp {
            who: format!("host {host}"),
            why: format!(
                "it is {machine}, and this assay is for {}; put the program of assay {} for \
                 {machine} at {}, or install it there and name its path as `where.program`",
                std::env::consts::ARCH,
                env!("CARGO_PKG_VERSION"),
                file.display()
            ),
        })
    }
}

/// Quotes a text for a POSIX shell. The result has no backslash, which shells treat differently.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}

/// Returns the command line that makes any login shell run `script`.
fn by_sh(script: &str) -> String {
    format!("sh -c {}", quoted(script))
}

/// Returns the command that starts the agent. It first prints [`MARK`], the token, and `ready` with
/// the version of the program, or `missing` with the machine's architecture. If the agent is
/// killed, its shell restores the settings that it changed.
pub(super) fn agent(sought: &Sought, token: &str, name: &str, folder: Option<&str>) -> String {
    let path = match sought {
        Sought::At(path) => quoted(path),
        Sought::Copy(file) => format!("\"{FOLDER}/{file}\""),
    };
    let folder = folder.map_or_else(String::new, |f| format!("cd {} || exit 1; ", quoted(f)));
    by_sh(&format!(
        "a={path}; {folder}if test -x \"$a\"; then v=$(\"$a\" --version); \
         echo {MARK} {token} ready $v; \"$a\" __agent {node} {token}; \
         s=$?; if test $s -gt 128; then \"$a\" doctor --restore >&2; fi; exit $s; fi; \
         echo {MARK} {token} missing $(uname -m)",
        node = quoted(name),
    ))
}

/// Returns the command that writes its standard input as the program `file`. It is complete or not
/// there; older programs that no one executes are removed.
pub(super) fn copy(file: &str, bytes: u64) -> String {
    by_sh(&format!(
        "umask 077; d=\"{FOLDER}\"; t=\"$d/.{file}.$$\"; mkdir -p \"$d\" && cat >\"$t\" && \
         test $(wc -c <\"$t\") -eq {bytes} && chmod 700 \"$t\" && mv \"$t\" \"$d/{file}\" || \
         {{ rm -f \"$t\"; exit 1; }}; find \"$d\" -type f -mtime +30 ! -name {file} \
         -exec rm -f {{}} +"
    ))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn run(line: &str, home: &Path, input: &Path) -> (String, bool) {
        let output = Command::new("sh")
            .args(["-c", line])
            .env("HOME", home)
            .env_remove("XDG_CACHE_HOME")
            .stdin(std::fs::File::open(input).unwrap())
            .output()
            .unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
    }

    #[test]
    fn a_program_is_copied_once_and_started() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("program");
        let script = "#!/bin/sh\nif test \"$1\" = --version; then echo assay 9; exit; fi\n\
                      echo $1 $2; pwd\n";
        std::fs::write(&program, script).unwrap();
        let sought = Sought::Copy("it's-1".replace('\'', ""));
        let start = agent(&sought, "t0", "o'brien", Some("/tmp"));
        let (said, _) = run(&start, home.path(), &program);
        assert!(said.starts_with("assay-agent t0 missing "), "{said}");
        let length = script.len() as u64;
        assert!(!run(&copy("its-1", length + 1), home.path(), &program).1, "a cut copy");
        assert!(run(&start, home.path(), &program).0.contains("missing"));
        assert!(run(&copy("its-1", length), home.path(), &program).1);
        let (said, _) = run(&start, home.path(), &program);
        assert_eq!(said, "assay-agent t0 ready assay 9\n__agent o'brien\n/tmp\n");
    }

    #[test]
    fn another_architecture_needs_its_program() {
        let own = std::env::current_exe().unwrap();
        let copied = AgentProgram::Copied(own.clone());
        assert_eq!(copied.file("a", std::env::consts::ARCH).unwrap(), own);
        let why = copied.file("a", "riscv64").unwrap_err().to_string();
        assert!(why.starts_with("host a: it is riscv64") && why.contains("assay-riscv64"), "{why}");
    }
}
