//! Git as a user without settings has it.

use std::path::Path;
use std::process::Command;

/// A `git` in a folder that takes nothing from the machine's settings; arguments are to follow.
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
    git.current_dir(dir).env("GIT_CONFIG_NOSYSTEM", "1");
    git
}

/// What `git` prints, without the end of the line.
///
/// # Panics
/// It cannot be run, or fails.
pub fn git(dir: &Path, arguments: &[&str]) -> String {
    let ran = git_command(dir).args(arguments).output();
    let output = ran.unwrap_or_else(|e| panic!("git {arguments:?}: {e}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
