//! Finds a program like a shell does.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Search path of the C library where `PATH` is not set.
pub(crate) const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Returns the path of the program that `program` starts: itself if it contains a `/`, else the
/// first executable with this name in the folders of `$PATH`; `None` if no such program exists.
/// Links are not followed, so that the result is the path that was meant.
pub fn which(program: impl AsRef<OsStr>) -> Option<PathBuf> {
    let program = program.as_ref();
    if program.as_encoded_bytes().contains(&b'/') {
        return executable(Path::new(program)).then(|| PathBuf::from(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    which_in(program, &path, None)
}

/// Returns the first executable file of this name in the folders of `path`, a value of `PATH`;
/// relative ones are below `folder`.
pub(crate) fn which_in(name: &OsStr, path: &OsStr, folder: Option<&Path>) -> Option<PathBuf> {
    let base = folder.unwrap_or(Path::new(""));
    std::env::split_paths(path)
        .map(|dir| if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir })
        .map(|dir| dir.join(name))
        .find(|candidate| !name.is_empty() && executable(&base.join(candidate)))
}

fn executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_executable_wins() {
        let dir = tempfile::tempdir().unwrap();
        for (sub, mode) in [("a", 0o644), ("b", 0o755), ("c", 0o755)] {
            std::fs::create_dir(dir.path().join(sub)).unwrap();
            let tool = dir.path().join(sub).join("tool");
            std::fs::write(&tool, "").unwrap();
            std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths(["a", "b", "c"].map(|s| dir.path().join(s))).unwrap();
        let find = |name: &str, path| which_in(OsStr::new(name), path, Some(dir.path()));
        assert_eq!(find("tool", &path), Some(dir.path().join("b/tool")));
        assert_eq!(find("none", &path), None);
        assert_eq!(find("", &path), None);
        // Below the folder in which the program will run.
        assert_eq!(find("tool", OsStr::new("a:c")), Some(PathBuf::from("c/tool")));
        assert_eq!(which(dir.path().join("a/tool").to_str().unwrap()), None);
        assert!(which("sh").is_some());
    }
}
