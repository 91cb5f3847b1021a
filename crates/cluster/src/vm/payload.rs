//! The disk that assay attaches to a virtual machine: its program, the kits of the experiment, and
//! the script that starts the agent.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::failed;
use crate::ClusterError;

/// Script that the guest's service manager starts; it powers off the machine at its end.
const SCRIPT: &str = include_str!("guest.sh");
/// Space for the file system's own blocks, in bytes.
const OWN: u64 = 24 << 20;

/// The payload disk's image file.
#[derive(Debug)]
pub struct Payload {
    pub path: PathBuf,
}

impl Payload {
    /// Creates the disk in the folder `work`, with the program `exe` and the kit folders `kits`.
    ///
    /// # Errors
    /// A file cannot be read, or the disk cannot be written.
    pub fn make(work: &Path, exe: &Path, kits: &[PathBuf]) -> Result<Self, ClusterError> {
        let tree = work.join("payload");
        let fault = |what: &str| {
            let what = what.to_owned();
            move |e: io::Error| failed(format!("{what}: {e}"))
        };
        fs::create_dir_all(tree.join("bin")).map_err(fault("create assay's disk"))?;
        fs::create_dir_all(tree.join("kits")).map_err(fault("create assay's disk"))?;
        let mut bytes =
            copy(exe, &tree.join("bin/assay")).map_err(fault("copy assay's program"))?;
        for kit in kits {
            let to = tree.join("kits").join(kit.file_name().unwrap_or_default());
            bytes += copy(kit, &to).map_err(fault(&format!("copy the kit {}", kit.display())))?;
        }
        fs::write(tree.join("guest"), SCRIPT).map_err(fault("write the script of the guest"))?;
        let path = work.join("payload.img");
        let mebibytes = (bytes + bytes / 8 + OWN) >> 20;
        let made = Command::new("mke2fs")
            .args(["-q", "-t", "ext4", "-m", "0", "-d"])
            .arg(&tree)
            .arg(&path)
            .arg(format!("{mebibytes}M"))
            .env("PATH", path_with_sbin())
            .stdin(Stdio::null())
            .output();
        let _ = fs::remove_dir_all(&tree);
        match made {
            Err(e) => Err(failed(format!("cannot start mke2fs: {e} (Debian package e2fsprogs)"))),
            Ok(output) if !output.status.success() => {
                let said = crate::output::last_words(&String::from_utf8_lossy(&output.stderr));
                Err(failed(format!("cannot create assay's disk in {}: {said}", work.display())))
            }
            Ok(_) => Ok(Payload { path }),
        }
    }
}

/// Returns PATH with the folders of system programs, which many users lack.
fn path_with_sbin() -> std::ffi::OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/sbin:/sbin");
    path
}

/// Copies a file or folder and makes it readable for all; returns its size in bytes, rounded up to
/// blocks. Symbolic links are followed.
fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    if !from.is_dir() {
        let bytes = fs::copy(from, to)?;
        let mode = fs::metadata(from)?.permissions().mode() | 0o444;
        fs::set_permissions(to, fs::Permissions::from_mode(mode & 0o777))?;
        return Ok(bytes.next_multiple_of(4096));
    }
    fs::create_dir_all(to)?;
    let mut bytes = 4096;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        bytes += copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(bytes)
}
