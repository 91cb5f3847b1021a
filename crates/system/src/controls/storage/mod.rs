//! `storage`: the place of a trial's files: a folder, memory, a device, or a file system that is
//! created on files for the trial, optionally with the limits of an emulated disk.

mod cold;
mod device;
mod disk;
mod level;
mod loops;
mod options;
mod place;
mod probe;
mod removal;
mod stacked;
#[cfg(test)]
mod tests;
mod throttle;
mod tools;
mod zfs;
mod zram;

use std::path::{Path, PathBuf};

use assay_model::units::{format_bytes, format_value};
use assay_model::{Observation, Scalar, Setting};

use crate::Root;
use crate::control::cgroup::{self, Hierarchy};
use crate::control::{Control, ControlScope, ControlSession, ControlSpec, setting_path};
use crate::describe::meminfo_bytes;
use crate::error::{ControlError, Result};

use super::sysfs::Sysfs;
use device::Device;
use level::{Driver, Limits, Stack, StorageKind, StorageLevel};
use place::CreatedStorage;

pub(super) struct Storage;

static SPEC: ControlSpec = ControlSpec {
    name: "storage",
    help: "Storage of the trial's files: its working folder, which the program also finds in \
           `ASSAY_STORAGE`. A level creates what is missing before the trial, measures it, and \
           removes it afterwards (docs/measure/storage.md).",
    levels: "`folder:/path`, `tmpfs`, `loop:ext4`, `loop:xfs`, `loop:btrfs`, `md:ext4`, \
             `dm-stripe:ext4`, `dm-crypt:ext4`, `dm-delay:ext4`, `zram:ext4`, `zfs`, `zfs-fuse`, \
             `squashfs`, `erofs`, `device:/dev/X`, each with options after commas: `size=`, \
             `raid0`, `raid1`, `raid5`, `raidz`, `devices=`, `compress=`, `arc=`, `emulated=` \
             (`sata-7200`, `sata-ssd`, `nvme`), `emulated-delay=`, `limits=`, `scheduler=`, \
             `read-ahead=`, `in=`, `probe=`",
    keyed: false,
    key: "",
    scope: ControlScope::System,
    needs: "nothing for `folder:`; root for the others; e2fsprogs, xfsprogs or btrfs-progs for \
            `loop:` and `zram:`, zfs-fuse, squashfs-tools or erofs-utils for theirs, mdadm for \
            `md:`, dmsetup and cryptsetup-bin for `dm-`; the blkio or io controller of control \
            groups for `emulated=`",
    put_back: "mounts, loop, zram, MD and mapped devices, pools with their daemon, files, limits \
               and queue settings are journaled and removed; the contents of a device of yours \
               stay",
    probe: ("", "loop:ext4,size=64MiB,emulated=sata-ssd"),
};

/// Journal word for a folder that does not exist.
const ABSENT: &str = cgroup::ABSENT;
const PRESENT: &str = "present";

fn level(setting: &Setting) -> Result<StorageLevel> {
    level::parse(&setting.value.to_text())
}

fn not_here(reason: impl Into<String>) -> ControlError {
    SPEC.not_here(reason)
}

impl Control for Storage {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let level = level(setting)?;
        check_place(root, &level).map_err(not_here)?;
        if level.emulated.is_some() {
            controller(root)?;
        }
        Ok(())
    }

    fn current(&self, root: &Root, key: &str) -> Result<Scalar> {
        let text = if key.is_empty() {
            return Err(ControlError::NoLevel { control: SPEC.name.to_owned() });
        } else if let Some(numbers) = throttle::numbers(key) {
            throttle::current(root, numbers)?
        } else if cgroup::is_key(key) {
            cgroup::state(root, key).to_owned()
        } else {
            let path = Path::new(key);
            let socket = key == zfs::SOCKET;
            let there = if socket { root.exists(key) } else { removal::exists(root, path) };
            (if there { PRESENT } else { ABSENT }).to_owned()
        };
        Ok(Scalar::Text(text))
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let level = level(setting)?;
        // Check again, because the device may have been mounted since the first check.
        check_place(session.root, &level).map_err(not_here)?;
        let folder = place::folder(&level);
        if matches!(level.kind, StorageKind::Zfs { driver: Driver::Fuse, .. }) {
            // The daemon leaves its socket behind. There can be only one daemon, so the journal
            // entry keeps other assay processes from starting one. A socket that exists already is
            // dead (`check` found no daemon behind it) and need not be kept.
            session.record(self, zfs::SOCKET, ABSENT, PRESENT)?;
        }
        session.record(self, &folder.to_string_lossy(), ABSENT, &setting.value.to_text())?;
        let made = place::make(session.root, &level, &folder).map_err(not_here)?;
        for device in &made.devices {
            queue(session, &level, device)?;
        }
        let joined = self.limit(session, &level, &made)?;
        place::make_files(&made).map_err(not_here)?;
        let measured = measure(session, &level, &made);
        drop(joined);
        measured?;
        for note in made.notes {
            session.note(note);
        }
        let names: Vec<&str> = made.devices.iter().map(|d| d.name.as_str()).collect();
        let files = made.files.to_string_lossy().into_owned();
        let setup = &mut *session.setup;
        setup.env.push((tools::VARIABLE.to_owned(), files));
        setup.env.push((place::DEVICES.to_owned(), names.join(" ")));
        if matches!(level.kind, StorageKind::Image(_)) {
            setup.inputs = Some(made.files);
        } else {
            setup.storage = Some(made.files);
        }
        Ok(())
    }

    fn make_cold(&self, root: &Root, setting: &Setting) -> Result<Vec<String>> {
        if !crate::state::scratch::is_name(Path::new(&setting.key)) || cgroup::is_key(&setting.key)
        {
            return Ok(Vec::new());
        }
        cold::make_cold(root, &level(setting)?, Path::new(&setting.key))
            .map_err(|why| not_here(format!("cannot make the input cold: {why}")))
    }

    fn inputs_only(&self, setting: &Setting) -> bool {
        level(setting).is_ok_and(|level| matches!(level.kind, StorageKind::Image(_)))
    }

    fn restore(&self, root: &Root, key: &str, old: &str) -> Result<()> {
        if let Some(numbers) = throttle::numbers(key) {
            return throttle::set(root, numbers, old);
        }
        if cgroup::is_key(key) {
            return cgroup::remove(root, SPEC.name, key);
        }
        let path = setting_path(SPEC.name, key);
        if key == zfs::SOCKET {
            return zfs::forget_socket(root)
                .map_err(|e| ControlError::NotHere { path, reason: e.reason });
        }
        if !crate::state::scratch::is_name(Path::new(key)) {
            let reason = "assay did not create this folder".to_owned();
            return Err(ControlError::Key { path, reason });
        }
        removal::take_away(root, Path::new(key))
            .map_err(|e| ControlError::NotHere { path, reason: e.reason })
    }
}

/// Returns the controller that limits block devices.
fn controller(root: &Root) -> Result<Hierarchy> {
    let one = "/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device";
    match cgroup::version_1(root, "blkio") {
        Some(hierarchy) if root.exists(one) => Ok(hierarchy),
        _ => cgroup::check(root, SPEC.name, "io"),
    }
}

impl Storage {
    /// Sets the limits of an emulated disk on each device. This process stays in the limited
    /// control group for as long as the returned value lives.
    fn limit(
        &self,
        session: &mut ControlSession<'_>,
        level: &StorageLevel,
        made: &CreatedStorage,
    ) -> Result<Option<cgroup::GroupMembership>> {
        let devices = &made.devices;
        let Some(disk) = level.emulated else { return Ok(None) };
        let values = throttle::values(&disk, level.limits);
        let hierarchy = controller(session.root)?;
        let group = if let Hierarchy::One { top, own } = &hierarchy {
            let wanted = values.map(|v| v.to_string()).join(" ");
            for device in devices {
                let old = throttle::current(session.root, &device.numbers)?;
                session.record(self, &throttle::key(&device.numbers), &old, &wanted)?;
                throttle::set(session.root, &device.numbers, &wanted)?;
            }
            // Each group has a budget of its own, and the kernel's writeback runs in the top group.
            let top_group = session.root.path(top);
            if top == own {
                None
            } else {
                session.setup.groups.push(top_group.clone());
                Some(top_group)
            }
        } else {
            let (group, _) = cgroup::make(session, self, "io")?;
            for device in devices {
                let line = throttle::io_max(&device.numbers, values);
                cgroup::write(session.root, SPEC.name, &format!("{group}/io.max"), &line)?;
            }
            Some(session.root.path(&group))
        };
        session.note(format!(
            "an EMULATED disk, `{}`: a device of this machine limited to its rates ({}); it has no \
             seeks of its own, and its response times are those of the limit. {}",
            disk.name,
            limits_words(values),
            disk.source
        ));
        let join = |group: PathBuf| {
            if let Some(daemon) = made.daemon {
                // The daemon does the program's I/O, so it must have the same limits.
                let file = format!("{}/cgroup.procs", group.display());
                cgroup::write(session.root, SPEC.name, &file, &daemon.to_string())?;
            }
            cgroup::join(session.root, &hierarchy, &group).map_err(|e| {
                SPEC.failed(format!("joining the control group `{}`", group.display()), e)
            })
        };
        group.map(join).transpose()
    }
}

fn limits_words(values: [u64; 4]) -> String {
    let word = |value: u64, unit: &str| match value {
        0 => "no limit".to_owned(),
        value => format_value(value as f64, unit),
    };
    format!(
        "read {} and {}, write {} and {}",
        word(values[0], "B/s"),
        word(values[2], "ops/s"),
        word(values[1], "B/s"),
        word(values[3], "ops/s")
    )
}

/// Sets scheduler and read-ahead of a device, journaled as files of `/sys`.
fn queue(session: &mut ControlSession<'_>, level: &StorageLevel, device: &Device) -> Result<()> {
    let folder = device.queue(session.root);
    let mut set = |name: &str, value: String| {
        let key = session.root.path(&format!("{folder}/{name}"));
        // The resolved path, because the `sysfs` control does not accept `..`.
        let key = key.canonicalize().unwrap_or(key).to_string_lossy().into_owned();
        let setting = Setting { control: "sysfs".to_owned(), key, value: Scalar::Text(value) };
        Sysfs.check(session.root, &setting)?;
        Sysfs.apply(&setting, session)
    };
    if let Some(scheduler) = &level.scheduler {
        set("scheduler", scheduler.clone())?;
    }
    if let Some(bytes) = level.read_ahead {
        set("read_ahead_kb", (bytes / 1024).to_string())?;
    }
    Ok(())
}

fn measure(
    session: &mut ControlSession<'_>,
    level: &StorageLevel,
    made: &CreatedStorage,
) -> Result<()> {
    let dir = &made.files;
    let figures = if let (StorageKind::Image(_), Some(device)) = (&level.kind, made.devices.first())
    {
        // There is no writable file system yet, so the device itself is measured.
        let device = PathBuf::from(format!("/dev/{}", device.name));
        probe::measure_device(&device, level.probe, level.size)
    } else {
        let free = rustix::fs::statvfs(dir).map_or(0, |s| s.f_bavail.saturating_mul(s.f_frsize));
        probe::measure(dir, level.probe, free)
    };
    let figures = figures.map_err(|e| SPEC.failed(format!("measuring `{}`", dir.display()), e))?;
    let through = match &level.kind {
        StorageKind::Image(_) => "; the device, before the image is on it",
        StorageKind::Zfs { .. } => "; through the cache of ZFS, which cannot be bypassed",
        _ if !figures.direct => "; through the page cache, which cannot be bypassed",
        _ => "",
    };
    let delayed = matches!(level.kind, StorageKind::Stacked { stack: Stack::Delay(_), .. });
    let flushed = if figures.flushed { ", each write flushed" } else { "" };
    session.note(format!(
        "storage measured before the trial{}: sequential write {}, read {}; random write {}, read \
         {} (4 KiB, 16 at once{flushed}){through}",
        if level.emulated.is_some() || delayed { " (emulated)" } else { "" },
        format_value(figures.write_bytes_s, "B/s"),
        format_value(figures.read_bytes_s, "B/s"),
        format_value(figures.write_ops_s, "ops/s"),
        format_value(figures.read_ops_s, "ops/s"),
    ));
    // The joint limit of several devices depends on how they are combined, and a delay comes on
    // top.
    let plain = made.devices.len() == 1 && !matches!(level.kind, StorageKind::Stacked { .. });
    let disk = level.emulated.filter(|_| plain);
    let held = disk.map_or([None; 4], |d| {
        let bytes = |rate: u64| (level.limits != Limits::Operations).then_some(rate as f64);
        let operations = |rate: u64| (level.limits != Limits::Bytes).then_some(rate as f64);
        let sequential = [bytes(d.write_bytes_s), bytes(d.read_bytes_s)];
        [sequential[0], sequential[1], operations(d.write_ops_s), operations(d.read_ops_s)]
    });
    // For files in memory, the cache is the storage.
    let cached = matches!(level.kind, StorageKind::Zfs { .. })
        || !figures.direct && level.kind != StorageKind::Tmpfs;
    for (metric, held) in figures.metrics().into_iter().zip(held) {
        let seen = Observation::Probed {
            metric: metric.name.clone(),
            measured: metric.value.unwrap_or_default(),
            unit: metric.unit.clone(),
            held,
            seconds: level.probe.as_secs_f64() / 4.0,
            cached,
        };
        session.measured(metric, seen);
    }
    Ok(())
}

/// Checks that a level is possible on this machine; returns a sentence if it is not.
fn check_place(root: &Root, level: &StorageLevel) -> Result<(), String> {
    if let StorageKind::Folder(path) = &level.kind {
        return check_folder(path);
    }
    if !rustix::process::geteuid().is_root() && root.is_system() {
        return Err(
            "only root may mount; without root there is `folder:/path`, and `folder:/dev/shm` for \
             files in memory"
                .to_owned(),
        );
    }
    match &level.kind {
        StorageKind::Folder(_) => Ok(()),
        StorageKind::Tmpfs => {
            let free =
                root.text("/proc/meminfo").ok().and_then(|m| meminfo_bytes(&m, "MemAvailable"));
            fits(level.size, free, "the memory of this machine")
        }
        StorageKind::Device(path) => match Device::find(root, path)?.user(root) {
            Some(user) => Err(format!("{user}; assay never touches a device in use")),
            None => Ok(()),
        },
        StorageKind::Zram(system) => {
            zram::check(root)?;
            there(&[system.maker(), ("mount", "mount")])?;
            let free =
                root.text("/proc/meminfo").ok().and_then(|m| meminfo_bytes(&m, "MemAvailable"));
            fits(level.size, free, "the memory of this machine, in case the data does not compress")
        }
        StorageKind::Loop { system, .. } => {
            there(&[system.maker()])?;
            check_scheduler(root, level)?;
            check_files(level)
        }
        StorageKind::Stacked { system, stack, .. } => {
            there(&[system.maker()])?;
            there(stack.programs())?;
            stacked::check(root, *stack)?;
            check_scheduler(root, level)?;
            check_files(level)
        }
        StorageKind::Image(format) => {
            there(&[format.maker(), ("blockdev", "util-linux")])?;
            check_files(level)
        }
        StorageKind::Zfs { driver, .. } => {
            there(driver.programs())?;
            zfs::check(root, *driver)?;
            check_files(level)
        }
    }
}

/// Checks that programs are installed; each is given with its Debian package.
fn there(programs: &[(&str, &str)]) -> Result<(), String> {
    match programs.iter().find(|(program, _)| tools::find(program).is_none()) {
        Some((program, package)) => {
            Err(format!("`{program}` is missing; install the Debian package {package}"))
        }
        None => Ok(()),
    }
}

/// Checks that loop devices accept the scheduler. Those of some kernels (Linux 5.10) take none. An
/// existing loop device shows which ones it takes; without one, an error appears only when the
/// scheduler is set.
fn check_scheduler(root: &Root, level: &StorageLevel) -> Result<(), String> {
    let Some(wanted) = &level.scheduler else { return Ok(()) };
    let blocks = root.names("/sys/block");
    let known = blocks
        .iter()
        .filter(|name| name.starts_with("loop"))
        .find_map(|name| root.text(&format!("/sys/block/{name}/queue/scheduler")).ok());
    match known {
        Some(known) if !known.split_whitespace().any(|k| k.trim_matches(['[', ']']) == wanted) => {
            Err(format!(
                "loop devices of this kernel take the scheduler {}, not `{wanted}`",
                known.trim().replace(['[', ']'], "")
            ))
        }
        _ => Ok(()),
    }
}

fn check_files(level: &StorageLevel) -> Result<(), String> {
    there(&[("losetup", "util-linux"), ("mount", "mount")])?;
    let dir = level.within.clone().unwrap_or_else(crate::state::scratch::root);
    check_folder(&dir)?;
    let free = rustix::fs::statvfs(&dir).ok().map(|s| s.f_bavail.saturating_mul(s.f_frsize));
    let all = level.size.saturating_mul(u64::from(level.kind.files()));
    fits(all, free, &format!("`{}` (choose another with in=)", dir.display()))
}

fn check_folder(path: &Path) -> Result<(), String> {
    if !path.is_dir() {
        return Err(format!("`{}` is not an existing folder", path.display()));
    }
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK)
        .map_err(|_| format!("this user cannot write to `{}`", path.display()))
}

fn fits(wanted: u64, free: Option<u64>, place: &str) -> Result<(), String> {
    match free {
        Some(free) if wanted > free => Err(format!(
            "{} are needed, but {} are free in {place}",
            format_bytes(wanted),
            format_bytes(free)
        )),
        _ => Ok(()),
    }
}
