//! The root below which system files are read: `/`, or a folder with the same layout, so that tests
//! can give a fake machine to all code that reads `/proc` and `/sys`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use assay_model::Fact;

/// Maximum number of bytes read as text. No such file of `/proc` or `/sys` is larger; more would be
/// cut off.
const MAX_TEXT: u64 = 4 << 20;

/// The root of the file tree that describes a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    prefix: PathBuf,
}

impl Root {
    /// Returns the root of this machine, `/`.
    pub fn system() -> Self {
        Root { prefix: PathBuf::from("/") }
    }

    /// Returns a root with `proc`, `sys` and so on below it.
    pub fn at(prefix: impl Into<PathBuf>) -> Self {
        Root { prefix: prefix.into() }
    }

    /// True for this machine, where system calls describe the same system as the files.
    pub fn is_system(&self) -> bool {
        self.prefix == Path::new("/")
    }

    /// Returns the real path of a system path, such as `/proc/stat`, below this root.
    pub fn path(&self, path: &str) -> PathBuf {
        self.prefix.join(path.trim_start_matches('/'))
    }

    /// Reads the text of a file, without surrounding white space. Bytes that are not UTF-8 are
    /// replaced.
    ///
    /// # Errors
    /// If the file does not exist or may not be read.
    pub fn text(&self, path: &str) -> Result<String, Unreadable> {
        let read = || {
            // Lists of `/proc/sys` end after their first read, however little it asked for.
            let mut bytes = Vec::with_capacity(16 << 10);
            File::open(self.path(path))?.take(MAX_TEXT).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|source| Unreadable { path: path.to_owned(), source })?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Reads the text of a file as a number.
    ///
    /// # Errors
    /// As for [`Root::text`]; other text is [`io::ErrorKind::InvalidData`].
    pub fn number<T: std::str::FromStr>(&self, path: &str) -> Result<T, Unreadable> {
        let text = self.text(path)?;
        text.parse().map_err(|_| Unreadable {
            path: path.to_owned(),
            source: io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "it holds `{}`, which is not a number",
                    text.chars().take(40).collect::<String>()
                ),
            ),
        })
    }

    /// Reads the text of a file as a fact; line breaks and other white space become single spaces.
    pub fn fact(&self, path: &str) -> Fact {
        match self.text(path) {
            Ok(text) => Fact::known(one_line(&text)),
            Err(e) => Fact::unknown(e.to_string()),
        }
    }

    /// True if the file or folder exists.
    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Returns the names in a folder, in natural order (`cpu2` before `cpu10`); empty if it cannot
    /// be read.
    pub fn names(&self, dir: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(dir)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|e| Some(e.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        names
    }

    /// Returns the last part of a symbolic link's target.
    ///
    /// # Errors
    /// If the path does not exist or is not a link.
    pub fn link_name(&self, path: &str) -> Result<String, Unreadable> {
        let target = fs::read_link(self.path(path))
            .map_err(|source| Unreadable { path: path.to_owned(), source })?;
        Ok(target.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned()))
    }
}

fn natural(name: &str) -> (String, u64, &str) {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (stem, number) = name.split_at(name.len() - digits);
    (stem.to_owned(), number.parse().unwrap_or(0), name)
}

/// Replaces each run of white space, including newlines, by one space.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Error for a system file that could not be read, with a message for users.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` {}", why(source))]
pub struct Unreadable {
    /// Path of the file on the system.
    pub path: String,
    pub source: io::Error,
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "is not there on this kernel or machine".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read by this user".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn reads_below_the_prefix_and_says_what_is_missing() {
        let machine = FakeMachine::new();
        machine.put("/proc/a", " 4\t8 \n16\n");
        machine.put("/proc/n", "12\n");
        let root = machine.root();
        assert_eq!(root.fact("/proc/a"), Fact::known("4 8 16"));
        assert_eq!(root.number::<u32>("/proc/n").unwrap(), 12);
        assert!(root.number::<u32>("/proc/a").unwrap_err().to_string().contains("not a number"));
        assert_eq!(
            root.fact("/proc/none"),
            Fact::unknown("`/proc/none` is not there on this kernel or machine")
        );
        assert!(!root.is_system() && Root::system().is_system());
    }

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let machine = FakeMachine::new();
        for name in ["cpu10", "cpu2", "cpu0", "online"] {
            machine.put(name, "");
        }
        assert_eq!(machine.root().names("/"), ["cpu0", "cpu2", "cpu10", "online"]);
    }
}
