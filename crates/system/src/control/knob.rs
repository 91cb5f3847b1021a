//! A setting that is a file: read, journaled, written, read back, restored.

use std::fs::OpenOptions;
use std::io::{self, Write};

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::{Control, ControlSession, ControlSpec, setting_path};
use crate::describe::selected;
use crate::error::{ControlError, Result};
use crate::read::root::one_line;

/// One file of `/proc/sys` or `/sys` that holds a level.
pub struct Knob<'a> {
    /// The control that the file belongs to.
    pub control: &'a dyn Control,
    pub key: &'a str,
    /// Path of the file on the system.
    pub file: String,
}

impl Knob<'_> {
    /// Returns the setting as an experiment writes it.
    pub fn path(&self) -> String {
        setting_path(self.control.spec().name, self.key)
    }

    /// Reads the current level: the selected word if the file lists several.
    pub fn read(&self, root: &Root) -> Result<String> {
        match root.text(&self.file) {
            Ok(text) => Ok(one_line(selected(&text))),
            Err(e) => Err(ControlError::NotHere { path: self.path(), reason: e.to_string() }),
        }
    }

    /// Reads the current level as a value.
    pub fn current(&self, root: &Root) -> Result<Scalar> {
        Ok(Scalar::parse(&self.read(root)?))
    }

    /// Checks that the file can be read (otherwise it could not be restored) and written. Opening a
    /// file for writing changes nothing and needs exactly the permissions that writing needs.
    pub fn check(&self, root: &Root) -> Result<()> {
        self.read(root)?;
        self.check_write(root)
    }

    /// Checks that the file can be written.
    pub fn check_write(&self, root: &Root) -> Result<()> {
        let opened = OpenOptions::new().write(true).open(root.path(&self.file));
        let reason = match opened {
            Ok(_) => return Ok(()),
            Err(e) => match e.kind() {
                io::ErrorKind::PermissionDenied if rustix::process::geteuid().is_root() => {
                    let file = &self.file;
                    format!("root cannot write to `{file}`: read-only, or of another namespace")
                }
                io::ErrorKind::PermissionDenied => {
                    format!("this user cannot write to `{}`; run as root", self.file)
                }
                io::ErrorKind::ReadOnlyFilesystem => {
                    format!("`{}` is on a file system that is mounted read-only", self.file)
                }
                _ => format!("`{}` cannot be opened for writing: {e}", self.file),
            },
        };
        Err(ControlError::NotHere { path: self.path(), reason })
    }

    /// Journals the current level, sets a new one and reads it back. If the file already has the
    /// level, it is neither journaled nor written.
    pub fn change(&self, session: &mut ControlSession<'_>, level: &str) -> Result<()> {
        let old = self.read(session.root)?;
        if same(&old, level) {
            return Ok(());
        }
        session.record(self.control, self.key, &old, level)?;
        self.set(session.root, level)
    }

    /// Sets a level and reads it back.
    pub fn set(&self, root: &Root, level: &str) -> Result<()> {
        self.write(root, level)?;
        let got = self.read(root)?;
        if same(&got, level) {
            return Ok(());
        }
        Err(ControlError::NotTaken { path: self.path(), asked: level.to_owned(), got })
    }

    /// Writes a level in one call, as the kernel requires.
    pub fn write(&self, root: &Root, level: &str) -> Result<()> {
        let write = || {
            let mut file = OpenOptions::new().write(true).open(root.path(&self.file))?;
            if !root.is_system() {
                file.set_len(0)?; // a plain file of a fake tree would keep a longer old value
            }
            file.write_all(format!("{level}\n").as_bytes())
        };
        write().map_err(|source| ControlError::Io {
            path: self.path(),
            doing: format!("writing `{level}` to `{}`", self.file),
            source,
        })
    }
}

/// Returns the level of a setting whose file accepts any line of text; booleans become 1 and 0.
pub(crate) fn line_level(spec: &ControlSpec, setting: &Setting) -> Result<String> {
    let text = match &setting.value {
        Scalar::Bool(b) => i32::from(*b).to_string(),
        other => one_line(&other.to_text()),
    };
    if text.is_empty() || text.contains('\0') {
        return Err(spec.not_a_level(setting));
    }
    Ok(text)
}

/// True if two texts are the same level, ignoring white space and treating `Y` and `N`, as the
/// kernel shows its own switches, as 1 and 0.
pub(crate) fn same(a: &str, b: &str) -> bool {
    fn plain(word: &str) -> &str {
        match word {
            "Y" => "1",
            "N" => "0",
            other => other,
        }
    }
    a.split_whitespace().map(plain).eq(b.split_whitespace().map(plain))
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn levels_that_are_one() {
        assert!(same("4096\t131072 6291456\n", "4096 131072 6291456"));
        assert!(same("Y", "1") && same("0", "N"));
        assert!(!same("1", "10") && !same("1 2", "1"));
    }
}
