//! The location of PostgreSQL's programs, and the user that its server runs as.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::WorkloadError;
use crate::declare::wrong;
use crate::driver::program::find_program;

/// Folder in which Debian installs each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The programs of one version of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// Program that creates a cluster.
    pub initdb: PathBuf,
    /// Program of the server.
    pub postgres: PathBuf,
    /// Program of the client.
    pub psql: PathBuf,
}

impl Programs {
    /// Finds the programs in the folder `bin`; without it, those of Debian's newest version, else
    /// those on PATH.
    ///
    /// # Errors
    /// Fails if a program is missing.
    pub fn find(bin: Option<&Path>) -> Result<Self, WorkloadError> {
        let bin = bin.map(Path::to_owned).or_else(newest);
        let find = |name: &str, package: &str| {
            let found = match &bin {
                Some(bin) => find_program(bin.join(name).as_os_str(), Path::new("/")),
                None => find_program(name.as_ref(), Path::new("/")),
            };
            found.ok_or_else(|| WorkloadError::Missing {
                what: match &bin {
                    Some(bin) => format!("`{name}` of PostgreSQL, in {},", bin.display()),
                    None => format!("`{name}` of PostgreSQL"),
                },
                remedy: format!(
                    "install the Debian package {package}, or give its folder as `server.bin`"
                ),
            })
        };
        Ok(Programs {
            initdb: find("initdb", "postgresql")?,
            postgres: find("postgres", "postgresql")?,
            psql: find("psql", "postgresql-client")?,
        })
    }
}

/// Returns the folder of Debian's newest server.
fn newest() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN).ok()?.flatten();
    let with_number = versions.filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let bin = entry.path().join("bin");
        bin.join("postgres").is_file().then_some((number, bin))
    });
    with_number.max().map(|(_, bin)| bin)
}

/// A user of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

impl User {
    /// Returns the user that the server runs as; `None`: the user who runs assay, if that is not
    /// root.
    ///
    /// # Errors
    /// Fails if there is no such user or it is root.
    pub fn find(name: &str) -> Result<Option<Self>, WorkloadError> {
        if !rustix::process::geteuid().is_root() {
            if name.is_empty() {
                return Ok(None);
            }
            return Err(WorkloadError::Param(
                "`server.user` is for root, who may run programs as another user; leave it out"
                    .into(),
            ));
        }
        let names = if name.is_empty() { vec!["postgres", "nobody"] } else { vec![name] };
        let found = names.iter().find_map(|name| {
            let number = |option: &str| id(option, name);
            Some(User { name: (*name).to_owned(), uid: number("-u")?, gid: number("-g")? })
        });
        match found {
            Some(user) if user.uid == 0 => Err(wrong(format!(
                "`server.user`: {} is root, which cannot run PostgreSQL",
                user.name
            ))),
            Some(user) => Ok(Some(user)),
            None => Err(wrong(format!(
                "`server.user`: there is no user {}",
                names.join(" and no user ")
            ))),
        }
    }

    /// Returns true if the user may enter `dir`.
    pub fn may_enter(&self, dir: &Path) -> bool {
        let mut command = Command::new("test");
        command.arg("-x").arg(dir).uid(self.uid).gid(self.gid).current_dir("/");
        command.stdin(Stdio::null()).status().is_ok_and(|s| s.success())
    }
}

/// Returns a number that id(1) prints for a user.
fn id(option: &str, name: &str) -> Option<u32> {
    let out = Command::new("id").args([option, "--", name]).stdin(Stdio::null()).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_names_its_package() {
        let empty = tempfile::tempdir().unwrap();
        let error = Programs::find(Some(empty.path())).unwrap_err().to_string();
        assert!(error.contains("Debian package postgresql"), "{error}");
    }

    #[test]
    fn root_is_distinguished() {
        if rustix::process::geteuid().is_root() {
            assert!(User::find("root").unwrap_err().to_string().contains("cannot run"));
            assert!(User::find("no-such-user-here").unwrap_err().to_string().contains("no user"));
            let user = User::find("").unwrap().unwrap();
            assert!(user.uid > 0 && user.may_enter(Path::new("/")));
            let closed = tempfile::tempdir().unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(closed.path(), mode).unwrap();
            assert!(!user.may_enter(closed.path()));
        } else {
            assert_eq!(User::find("").unwrap(), None);
            assert!(User::find("nobody").is_err());
        }
    }
}
