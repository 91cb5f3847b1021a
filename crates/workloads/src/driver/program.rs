//! Programs on this machine: finding them, reading their version, and quoting the end of their
//! output.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_model::Fact;
use assay_system::{Unavailable, sha256_file};

use crate::WorkloadError;
use crate::error::Result;

/// Returns the file for a program's name: the name itself if it has a `/` (relative to `cwd`), else
/// the first executable with that name on `PATH`. `None`: there is no such executable file.
pub(crate) fn find_program(name: &OsStr, cwd: &Path) -> Option<PathBuf> {
    let is_path = name.as_encoded_bytes().contains(&b'/');
    if is_path { assay_system::which(cwd.join(name)) } else { assay_system::which(name) }
}

/// Returns the error for a program that was not found, with a remedy. It distinguishes a file that
/// exists but is not executable.
pub(crate) fn not_found(what: String, name: &OsStr, cwd: &Path) -> WorkloadError {
    // Removes `./` from the middle of the path, as a person would write it.
    let file: PathBuf = cwd.join(name).components().collect();
    if name.as_encoded_bytes().contains(&b'/') && file.is_file() {
        let shown = file.display();
        return WorkloadError::NotExecutable { what, remedy: format!("chmod +x {shown}") };
    }
    let line = name.as_encoded_bytes().iter().any(|b| b" \t<>|&;".contains(b));
    let remedy = if line {
        "write its words separately, or use a shell (`--shell`) if it is a line for one; `--stdin \
         FILE` is what `< FILE` is"
    } else if file.is_dir() && name.as_encoded_bytes().contains(&b'/') {
        "it is a folder: give a program in it"
    } else {
        "install it, or give its path"
    };
    WorkloadError::Missing { what, remedy: remedy.into() }
}

/// Finds a program, by name or path, that a workload needs: `what` names it and `remedy` tells
/// where to get it.
///
/// # Errors
/// Fails if there is no such executable file.
pub(crate) fn need(
    name: impl AsRef<OsStr>,
    what: impl Into<String>,
    remedy: impl Into<String>,
) -> Result<PathBuf> {
    let missing = || WorkloadError::Missing { what: what.into(), remedy: remedy.into() };
    find_program(name.as_ref(), Path::new(".")).ok_or_else(missing)
}

/// Creates a fact, known or with the reason why it is unknown.
pub(crate) fn fact(known: Result<String, impl Into<String>>) -> Fact {
    known.map_or_else(Fact::unknown, Fact::known)
}

/// Returns the SHA-256 of a file as a fact.
pub(crate) fn digest(path: &Path) -> Fact {
    fact(sha256_file(path).map_err(|e| format!("read {}: {e}", path.display())))
}

/// Returns path, version (the first line that it prints for the argument `ask`) and SHA-256 of a
/// program as facts named `name.*`.
pub(crate) fn facts(name: &str, program: &Result<PathBuf>, ask: &str) -> BTreeMap<String, Fact> {
    let of = |read: &dyn Fn(&Path) -> Fact| match program {
        Ok(path) => read(path),
        Err(e) => Fact::unknown(e.to_string()),
    };
    BTreeMap::from([
        (format!("{name}.path"), of(&|path| Fact::known(path.display().to_string()))),
        (format!("{name}.version"), of(&|path| fact(version_line(path, &[ask.into()])))),
        (format!("{name}.sha256"), of(&digest)),
    ])
}

/// Returns the facts that `read` finds for parameters; `name` is unknown for invalid ones.
pub(crate) fn facts_of<P>(
    name: &str,
    params: Result<P>,
    read: impl FnOnce(P) -> BTreeMap<String, Fact>,
) -> BTreeMap<String, Fact> {
    params.map_or_else(|e| [(name.to_owned(), Fact::unknown(e.to_string()))].into(), read)
}

/// Appends both output streams of a command to the file `log`.
///
/// # Errors
/// Fails if the file cannot be created or opened.
pub(crate) fn log_to(command: &mut Command, log: &Path) -> Result<()> {
    let file = File::options().create(true).append(true).open(log);
    let both = file.and_then(|file| Ok((file.try_clone()?, file)));
    let (out, err) = both.map_err(WorkloadError::io("open", log))?;
    command.stdout(out).stderr(err);
    Ok(())
}

/// Returns the first line, on either stream, that a program prints for its version.
///
/// # Errors
/// Fails if the program cannot be started or prints nothing.
pub(crate) fn version_line(program: &Path, args: &[OsString]) -> Result<String, Unavailable> {
    let shown = program.display();
    let out = Command::new(program)
        .args(args)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("start {shown}: {e}"))?;
    [&out.stdout, &out.stderr]
        .iter()
        .find_map(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            text.lines().map(str::trim).find(|l| !l.is_empty()).map(str::to_owned)
        })
        .ok_or_else(|| format!("{shown} printed no version").into())
}

/// Returns a port that is free now on `host`, an address of this machine.
///
/// # Errors
/// Fails if no port is free or `host` is not an address of this machine.
pub(crate) fn free_port(host: &str) -> Result<u16> {
    let port = TcpListener::bind((host, 0)).and_then(|l| l.local_addr()).map(|a| a.port());
    port.map_err(|e| WorkloadError::step("finding a free port", format!("{host}: {e}")))
}

/// Returns the last five lines of a program's output.
pub(crate) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(5)..].join("; ");
    if last.is_empty() { "it printed nothing".into() } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_by_name_and_by_path() {
        let here = Path::new("/");
        let sh = find_program(OsStr::new("sh"), here).unwrap();
        assert!(sh.is_absolute());
        assert_eq!(find_program(sh.as_os_str(), here).as_deref(), Some(sh.as_path()));
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("plain"), "").unwrap();
        assert_eq!(find_program(OsStr::new("./plain"), dir.path()), None);
        assert_eq!(find_program(OsStr::new("no-such-program-anywhere"), here), None);
        assert_eq!(find_program(OsStr::new(""), here), None);
    }

    #[test]
    fn the_first_line_is_the_version() {
        let echo = find_program(OsStr::new("sh"), Path::new("/")).unwrap();
        let args = ["-c", "echo; echo ' tool 1.2 '; echo more"].map(OsString::from);
        assert_eq!(version_line(&echo, &args), Ok("tool 1.2".into()));
        let silent = ["-c", "exit 0"].map(OsString::from);
        assert!(version_line(&echo, &silent).unwrap_err().reason.contains("no version"));
    }
}
