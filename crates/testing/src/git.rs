//! Runs git without the configuration of the system and the user, with a fixed identity.

use std::path::Path;
use std::process::Command;

/// Returns a `git` command that runs in `dir` and ignores the configuration of the system and the
/// user; the caller adds arguments.
pub fn git_command(dir: &Path) -> Command {
    let mut git = Command::new("git");
    for setting in [
        "user.name=A",
        "user.email=a@example.org",
        "init.defaultBranch=main",
        "protocol.file.allow=always",
        "commit.gpgsign=false",
    ] {
        git.args(["-c", setting]);
    }
    git.current_dir(dir).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    git
}

/// Returns the output of `git` without its final line break.
///
/// # Panics
/// git cannot be run, or fails.
pub fn git(dir: &Path, arguments: &[&str]) -> String {
    let ran = git_command(dir).args(arguments).output();
    let output = ran.unwrap_or_else(|e| panic!("git {arguments:?}: {e}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
