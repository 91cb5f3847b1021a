//! Describes compilers and language runtimes on the path and their reported versions. This starts
//! programs, in parallel and each with a time limit, so it is separate from the rest of the
//! description.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use assay_model::Fact;

use crate::Unavailable;
use crate::read::command_output::output_within;
use crate::read::which::which;

/// Programs and the arguments that make them print their version.
const TOOLS: [(&str, &[&str]); 13] = [
    ("gcc", &["--version"]),
    ("g++", &["--version"]),
    ("gfortran", &["--version"]),
    ("clang", &["--version"]),
    ("ld", &["--version"]),
    ("rustc", &["--version"]),
    ("cargo", &["--version"]),
    ("go", &["version"]),
    ("java", &["-version"]),
    ("mvn", &["--version"]),
    ("python3", &["--version"]),
    ("perl", &["--version"]),
    ("node", &["--version"]),
];

/// Time limit; on an idle machine none of the programs takes a second.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns `toolchain.NAME.path` (links resolved) and `toolchain.NAME.version` (the first line of
/// output) of each known compiler and runtime on `$PATH` that is `used`; nothing for missing ones.
/// Takes as long as the slowest program, at most 10 s.
pub fn describe_toolchains(used: impl Fn(&str) -> bool) -> BTreeMap<String, Fact> {
    let wanted = TOOLS.iter().filter(|(name, _)| used(name));
    let found: Vec<_> =
        wanted.filter_map(|(name, args)| Some((*name, *args, which(name)?))).collect();
    let mut facts = BTreeMap::new();
    thread::scope(|scope| {
        let asked: Vec<_> = found
            .iter()
            .map(|(name, args, path)| {
                (*name, path, scope.spawn(|| first_line(path, args, None, LIMIT)))
            })
            .collect();
        for (name, path, answer) in asked {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            facts.insert(
                format!("toolchain.{name}.path"),
                Fact::known(real.to_string_lossy().into_owned()),
            );
            let version = match answer.join() {
                Ok(Ok(line)) => Fact::known(line),
                Ok(Err(reason)) => Fact::unknown(reason),
                Err(_) => Fact::unknown("asking it ended in a fault of assay"),
            };
            facts.insert(format!("toolchain.{name}.version"), version);
        }
    });
    facts
}

/// Returns the version that a program reports when it is started in `folder` with `args`.
///
/// # Errors
/// The program cannot be started, prints nothing, or takes more than 10 s.
pub fn version(program: &Path, args: &[&str], folder: &Path) -> Result<String, Unavailable> {
    Ok(first_line(program, args, Some(folder), LIMIT)?)
}

/// Returns the first non-empty line that a program prints, looking at standard output first.
fn first_line(
    program: &Path,
    args: &[&str],
    folder: Option<&Path>,
    limit: Duration,
) -> Result<String, String> {
    let shown = program.display();
    let mut command = Command::new(program);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    // Otherwise rustup and go might download the version that a file in this folder names.
    command.args(args).env("RUSTUP_AUTO_INSTALL", "0").env("GOTOOLCHAIN", "local");
    let output = output_within(&mut command, limit, || false)
        .map_err(|e| format!("`{shown}` cannot be started: {e}"))?
        .ok_or_else(|| {
            format!("`{shown}` did not print its version within {} s", limit.as_secs())
        })?;
    [output.stdout, output.stderr]
        .iter()
        .flat_map(|stream| String::from_utf8_lossy(stream).lines().map(plain).collect::<Vec<_>>())
        .find(|l| !l.is_empty() && !l.starts_with("Picked up "))
        .map(|l| l.chars().take(200).collect())
        .ok_or_else(|| format!("`{shown} {}` printed nothing", args.join(" ")))
}

/// Removes the escape sequences (ESC `[` ... letter) with which some programs color a line.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest);
    }
    out.push_str(rest);
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_wherever_it_is_printed() {
        let sh = Path::new("/bin/sh");
        let ask = |script: &str| first_line(sh, &["-c", script], None, Duration::from_secs(20));
        assert_eq!(ask("echo; echo one; echo two").unwrap(), "one");
        assert_eq!(ask("echo err >&2").unwrap(), "err");
        assert_eq!(ask(r"printf '\033[1mbold\033[0;1m 3\033[m\n'").unwrap(), "bold 3");
        assert!(ask("true").unwrap_err().contains("printed nothing"));
        assert!(
            first_line(Path::new("/none"), &[], None, LIMIT)
                .unwrap_err()
                .contains("cannot be started")
        );
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let sh = Path::new("/bin/sh");
        let answer = first_line(sh, &["-c", "exec sleep 60"], None, Duration::from_millis(50));
        assert!(answer.unwrap_err().contains("did not print its version"));
    }

    #[test]
    fn what_is_found_has_a_path_and_a_version() {
        let facts = describe_toolchains(|name| name == "rustc");
        if which("rustc").is_none() {
            println!("skipped: because rustc is not on the path");
            return;
        }
        assert!(facts["toolchain.rustc.path"].value().is_some());
        assert!(facts["toolchain.rustc.version"].value().unwrap().contains("rustc"));
    }
}
