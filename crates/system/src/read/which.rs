//! Finds a program like a shell does.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the path of the program that `program` starts: itself if it contains a `/`, else the
/// first executable with this name in the folders of `$PATH`; `None` if no such program exists.
/// Links are not followed, so that the result is the path that was meant.
pub fn which(program: &str) -> Option<PathBuf> {
    find(program, std::env::var_os("PATH").unwrap_or_default().as_os_str())
}

fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    if program.is_empty() {
        return None;
    }
    if program.contains('/') {
        return executable(Path::new(program)).then(|| PathBuf::from(program));
    }
    std::env::split_paths(path)
        .map(|dir| if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir })
        .map(|dir| dir.join(program))
        .find(|candidate| executable(candidate))
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
        assert_eq!(find("tool", &path), Some(dir.path().join("b/tool")));
        assert_eq!(find("none", &path), None);
        assert_eq!(find("", &path), None);
        let direct = dir.path().join("a/tool");
        assert_eq!(find(direct.to_str().unwrap(), &path), None);
        assert!(which("sh").is_some());
    }
}
