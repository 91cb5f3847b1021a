//! ZFS pools on files, driven by the kernel's module or by a zfs-fuse daemon that runs for one
//! trial.

use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::leftovers;
use crate::{Root, Unavailable};

use super::device::Device;
use super::level::{Driver, Raid, StorageLevel};
use super::place::MOUNT;
use super::tools::{self, VARIABLE};

/// Socket of the zfs-fuse daemon; there can be only one per machine.
pub(super) const SOCKET: &str = "/var/run/zfs/zfs_socket";
/// List of pools that a daemon would open when it starts.
const CACHE: &str = "/var/lib/zfs/zpool.cache";
/// File in the storage's folder that names the driver of its pool.
const POOL: &str = "pool";
/// Maximum time that the daemon may take to start.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Checks that such a pool is possible on this machine.
pub(super) fn check(root: &Root, driver: Driver) -> Result<(), Unavailable> {
    if driver == Driver::Kernel {
        let known = root.text("/proc/filesystems").unwrap_or_default();
        if !known.split_whitespace().any(|word| word == "zfs") {
            return Err(
                "this kernel has no module of ZFS (none is loaded: `/proc/filesystems` does not \
                 list it); install the Debian package zfs-dkms and load it with `modprobe zfs`, or \
                 use zfs-fuse"
                    .to_owned()
                    .into(),
            );
        }
        return Ok(());
    }
    if !root.exists("/dev/fuse") {
        return Err("`/dev/fuse` is missing; load it with `modprobe fuse`".to_owned().into());
    }
    if root.is_system() && listens() {
        return Err(format!(
            "a daemon of zfs-fuse runs already (it listens on `{SOCKET}`), and there can be only \
             one; stop it with `service zfs-fuse stop`"
        )
        .into());
    }
    if root.exists(CACHE) {
        return Err(format!(
            "a daemon of zfs-fuse would open the pools that `{CACHE}` lists, which assay did not \
             create; export them first (`zpool export NAME`)"
        )
        .into());
    }
    Ok(())
}

/// True if a daemon accepts connections.
pub(super) fn listens() -> bool {
    UnixStream::connect(SOCKET).is_ok()
}

/// Removes the socket of a daemon that has exited.
pub(super) fn forget_socket(root: &Root) -> Result<(), Unavailable> {
    if root.is_system() && listens() {
        return Err(format!("a daemon of zfs-fuse still listens on `{SOCKET}`").into());
    }
    let path = root.path(SOCKET);
    match fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("cannot remove `{}`: {e}", path.display()).into());
        }
        _ => {}
    }
    // The daemon also created the folder; it stays if another daemon has files in it.
    if let Some(dir) = path.parent() {
        let _ = fs::remove_dir(dir);
    }
    Ok(())
}

/// Returns the pool's name, which is that of the folder.
fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// True if a pool was created in the folder, or was about to be.
pub(super) fn is_pool(folder: &Path) -> bool {
    folder.join(POOL).exists()
}

/// Creates the pool and mounts it. Returns the daemon's process id if there is one.
///
/// # Errors
/// The failed step. [`crate::controls::storage::removal::take_away`] removes everything created
/// before the error.
pub(super) fn make(
    folder: &Path,
    driver: Driver,
    raid: Option<Raid>,
    level: &StorageLevel,
    devices: &[Device],
) -> Result<Option<u32>, Unavailable> {
    let marker = folder.join(POOL);
    let word = if driver == Driver::Kernel { "kernel" } else { "fuse" };
    fs::write(&marker, word).map_err(|e| format!("`{}`: {e}", marker.display()))?;
    let daemon = if driver == Driver::Fuse { Some(start(folder, level)?) } else { None };
    let mut arguments: Vec<String> =
        ["create", "-f", "-o", "cachefile=none", "-O", "atime=off", "-O"].map(str::to_owned).into();
    // In the notation of the property: `gzip-9`.
    let compress = level.compress.as_deref().unwrap_or("off").replace(':', "-");
    arguments.push(format!("compression={compress}"));
    arguments.extend(["-m".to_owned(), folder.join(MOUNT).to_string_lossy().into_owned()]);
    arguments.push(name(folder));
    arguments.extend(match raid {
        Some(Raid::Mirror) => Some("mirror".to_owned()),
        Some(Raid::Parity) => Some("raidz".to_owned()),
        Some(Raid::Stripe | Raid::Five) | None => None,
    });
    arguments.extend(devices.iter().map(|d| format!("/dev/{}", d.name)));
    tools::run(folder, "zpool", arguments)?;
    Ok(daemon)
}

/// Starts the daemon and waits until it accepts connections.
fn start(folder: &Path, level: &StorageLevel) -> Result<u32, String> {
    let program = tools::find("zfs-fuse").ok_or("there is no program `zfs-fuse`")?;
    let log_file = folder.join("zfs-fuse.log");
    let log = || File::options().create(true).append(true).open(&log_file);
    let output = log().and_then(|a| Ok((a, log()?)));
    let (out, err) = output.map_err(|e| format!("`{}`: {e}", log_file.display()))?;
    let mut command = Command::new(program);
    command.args(["--no-daemon", "--no-kstat-mount"]);
    if let Some(arc) = level.arc {
        command.args(["--max-arc-size".to_owned(), arc.div_ceil(1 << 20).to_string()]);
    }
    // The environment holds the storage's folder, so that the daemon can be found if assay is
    // killed. The daemon has a process group of its own, so that an interrupt from the terminal
    // does not take the disk away from the trial.
    let mut child = command
        .env(VARIABLE, folder.join(""))
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn()
        .map_err(|e| format!("cannot start `zfs-fuse`: {e}"))?;
    leftovers::spare(child.id());
    let began = Instant::now();
    while !listens() {
        let over = child.try_wait().ok().flatten();
        if over.is_some() || began.elapsed() > TIMEOUT {
            let text = fs::read_to_string(&log_file).unwrap_or_default();
            let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("nothing");
            return Err(format!("the daemon of zfs-fuse does not answer; its last line: {last}"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(child.id())
}

/// Closes the pool and opens it again, so that none of its data is in memory.
pub(super) fn reopen(folder: &Path) -> Result<(), Unavailable> {
    let name = name(folder);
    tools::run(folder, "zpool", ["export", &name])?;
    tools::run(folder, "zpool", ["import", "-d", "/dev", "-o", "cachefile=none", &name]).map(|_| ())
}

/// Destroys a folder's pool if the kernel drives it; a daemon's pool ends with the daemon.
pub(super) fn destroy(root: &Root, folder: &Path) -> Result<(), Unavailable> {
    let kernel = fs::read_to_string(folder.join(POOL)).is_ok_and(|word| word == "kernel");
    let name = name(folder);
    if !kernel || !root.exists(&format!("/proc/spl/kstat/zfs/{name}")) {
        return Ok(());
    }
    tools::run(folder, "zpool", ["destroy", "-f", &name]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn what_a_pool_lacks_is_reported() {
        let machine = FakeMachine::new();
        let root = machine.root();
        machine.put("/proc/filesystems", "nodev\ttmpfs\n\text4\n");
        assert!(check(&root, Driver::Kernel).unwrap_err().reason.contains("zfs-dkms"));
        assert!(check(&root, Driver::Fuse).unwrap_err().reason.contains("modprobe fuse"));
        machine.put("/proc/filesystems", "nodev\ttmpfs\nnodev\tzfs\n");
        machine.put("/dev/fuse", "");
        check(&root, Driver::Kernel).unwrap();
        check(&root, Driver::Fuse).unwrap();
        machine.put(CACHE, "x");
        assert!(check(&root, Driver::Fuse).unwrap_err().reason.contains("zpool export"));
        machine.put(SOCKET, "");
        forget_socket(&root).unwrap();
        assert!(!machine.path(SOCKET).exists());
        forget_socket(&root).unwrap();
    }
}
