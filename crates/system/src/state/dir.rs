//! The folder in which assay stores data that must survive a crash.

use std::path::PathBuf;

/// Returns the state folder: `$ASSAY_STATE`, else `/var/lib/assay` for root, else `assay` in
/// `$XDG_STATE_HOME` or, if that is not set, in `~/.local/state`. The folder may not exist yet.
pub fn state_dir() -> PathBuf {
    let root = rustix::process::geteuid().is_root();
    choose(root, |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from))
}

fn choose(root: bool, var: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    if let Some(dir) = var("ASSAY_STATE") {
        return dir;
    }
    if root {
        return PathBuf::from("/var/lib/assay");
    }
    // The XDG specification demands that a relative path is ignored.
    if let Some(dir) = var("XDG_STATE_HOME").filter(|d| d.is_absolute()) {
        return dir.join("assay");
    }
    var("HOME").unwrap_or_else(|| PathBuf::from("/")).join(".local/state/assay")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_places() {
        let vars = |set: &'static [(&str, &str)]| {
            move |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| PathBuf::from(v))
        };
        let all: &[_] = &[("ASSAY_STATE", "/s"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(choose(true, vars(all)), PathBuf::from("/s"));
        assert_eq!(choose(true, vars(&[("HOME", "/h")])), PathBuf::from("/var/lib/assay"));
        assert_eq!(choose(false, vars(&all[1..])), PathBuf::from("/x/assay"));
        assert_eq!(choose(false, vars(&all[2..])), PathBuf::from("/h/.local/state/assay"));
        let relative: &[_] = &[("XDG_STATE_HOME", "x"), ("HOME", "/h")];
        assert_eq!(choose(false, vars(relative)), PathBuf::from("/h/.local/state/assay"));
    }
}
