//! `storage`: where the files of a trial live: a folder, memory, a device, or a file system that is made
//! for the trial on files, with the limits of a disk where one is to be emulated.

mod device;
mod disk;
mod level;
mod place;
mod probe;
#[cfg(test)]
mod tests;
mod throttle;
mod tools;

use std::path::{Path, PathBuf};

use assay_model::units::{format_bytes, format_value};
use assay_model::{Scalar, Setting};

use crate::Root;
use crate::cgroup::{self, Hierarchy};
use crate::control::{Control, ControlSpec, Scope, Session, setting_path};
use crate::control_error::ControlError;
use crate::describe::meminfo_bytes;

use super::sysfs::Sysfs;
use device::Device;
use level::{Kind, Level};

pub(super) struct Storage;

static SPEC: ControlSpec = ControlSpec {
    name: "storage",
    help: "Where the trial's files live: its working folder, which the program also finds in \
           `ASSAY_STORAGE`. What a level does not find it makes before the trial, measures, and takes \
           away after it (docs/storage.md).",
    levels: "`folder:/path`, `tmpfs`, `loop:ext4`, `loop:xfs`, `loop:btrfs`, `device:/dev/X`, each with \
             options after commas: `size=`, `raid0`, `raid1`, `devices=`, `compress=`, `emulated=` \
             (`sata-7200`, `sata-ssd`, `nvme`), `limits=`, `scheduler=`, `read-ahead=`, `in=`, `probe=`",
    keyed: false,
    key: "",
    scope: Scope::System,
    needs: "nothing for `folder:`; root for the others; e2fsprogs, xfsprogs or btrfs-progs for `loop:`; \
            the blkio or io controller of control groups for `emulated=`",
    put_back: "mounts, loop devices, files, limits and queue settings are journaled and taken away; what \
               is on a device of yours stays as it was",
};

/// The word of a folder that is not there, as the journal has it.
const ABSENT: &str = cgroup::ABSENT;

fn level(setting: &Setting) -> Result<Level, ControlError> {
    level::parse(&setting.value.to_text()).map_err(|why| ControlError::Level {
        path: SPEC.name.to_owned(),
        value: setting.value.to_text(),
        levels: format!("{} ({why})", SPEC.levels),
    })
}

fn not_here(reason: impl Into<String>) -> ControlError {
    ControlError::NotHere { path: SPEC.name.to_owned(), reason: reason.into() }
}

impl Control for Storage {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<(), ControlError> {
        let level = level(setting)?;
        check_place(root, &level).map_err(not_here)?;
        if level.emulated.is_some() {
            controller(root)?;
        }
        Ok(())
    }

    fn current(&self, root: &Root, key: &str) -> Result<Scalar, ControlError> {
        let text = if key.is_empty() {
            return Err(ControlError::NoLevel { control: SPEC.name.to_owned() });
        } else if let Some(numbers) = throttle::numbers(key) {
            throttle::current(root, numbers)?
        } else if cgroup::is_key(key) {
            cgroup::state(root, key).to_owned()
        } else if place::exists(root, Path::new(key)) {
            "present".to_owned()
        } else {
            ABSENT.to_owned()
        };
        Ok(Scalar::Text(text))
    }

    fn apply(&self, setting: &Setting, session: &mut Session<'_>) -> Result<(), ControlError> {
        let level = level(setting)?;
        // Once more: somebody may have mounted the device since it was checked.
        check_place(session.root(), &level).map_err(not_here)?;
        let folder = place::folder(&level);
        session.record(self, &folder.to_string_lossy(), ABSENT, &setting.value.to_text())?;
        let made = place::make(session.root(), &level, &folder).map_err(not_here)?;
        for device in &made.devices {
            queue(session, &level, device)?;
        }
        let joined = self.limit(session, &level, &made.devices)?;
        place::make_files(&made).map_err(not_here)?;
        let measured = measure(session, &level, &made.files);
        drop(joined);
        measured?;
        for note in made.notes {
            session.note(note);
        }
        let files = made.files.to_string_lossy().into_owned();
        session.setup().env.push((place::VARIABLE.to_owned(), files));
        session.setup().storage = Some(made.files);
        Ok(())
    }

    fn restore(&self, root: &Root, key: &str, old: &str) -> Result<(), ControlError> {
        if let Some(numbers) = throttle::numbers(key) {
            return throttle::set(root, numbers, old);
        }
        if cgroup::is_key(key) {
            return cgroup::remove(root, SPEC.name, key);
        }
        let path = setting_path(SPEC.name, key);
        if !crate::scratch::is_name(Path::new(key)) {
            let reason = "it is not a folder that assay made".to_owned();
            return Err(ControlError::Key { path, reason });
        }
        place::take_away(root, Path::new(key))
            .map_err(|reason| ControlError::NotHere { path, reason })
    }
}

/// The controller that limits block devices.
fn controller(root: &Root) -> Result<Hierarchy, ControlError> {
    let one = "/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device";
    match cgroup::find(root, "blkio") {
        Some(hierarchy) if root.exists(one) => Ok(hierarchy),
        _ => cgroup::check(root, SPEC.name, "io"),
    }
}

impl Storage {
    /// Sets the limits of an emulated disk on each device. This process is in the group that they hold
    /// for as long as what is returned lives.
    fn limit(
        &self,
        session: &mut Session<'_>,
        level: &Level,
        devices: &[Device],
    ) -> Result<Option<cgroup::Joined>, ControlError> {
        let Some(disk) = level.emulated else { return Ok(None) };
        let values = throttle::values(&disk, level.limits);
        let hierarchy = controller(session.root())?;
        let group = if let Hierarchy::One { top, own } = &hierarchy {
            let wanted = values.map(|v| v.to_string()).join(" ");
            for device in devices {
                let old = throttle::current(session.root(), &device.numbers)?;
                session.record(self, &throttle::key(&device.numbers), &old, &wanted)?;
                throttle::set(session.root(), &device.numbers, &wanted)?;
            }
            // Each group has a budget of its own, and the kernel writes back from the top one.
            let top_group = session.root().path(top);
            if top == own {
                None
            } else {
                session.setup().groups.push(top_group.clone());
                Some(top_group)
            }
        } else {
            let (group, _) = cgroup::make(session, self, "io")?;
            for device in devices {
                let line = throttle::io_max(&device.numbers, values);
                cgroup::write(session.root(), SPEC.name, &format!("{group}/io.max"), &line)?;
            }
            Some(session.root().path(&group))
        };
        session.note(format!(
            "an EMULATED disk, `{}`: a device of this machine held to its rates ({}); it has no seeks \
             of its own, and its response times are those of the limit. {}",
            disk.name,
            limits_words(values),
            disk.source
        ));
        let join = |group: PathBuf| {
            cgroup::join(session.root(), &hierarchy, &group).map_err(|source| ControlError::Io {
                path: SPEC.name.to_owned(),
                doing: format!("joining the control group `{}`", group.display()),
                source,
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
fn queue(session: &mut Session<'_>, level: &Level, device: &Device) -> Result<(), ControlError> {
    let folder = device.queue(session.root());
    let mut set = |name: &str, value: String| {
        let key = session.root().path(&format!("{folder}/{name}"));
        // The file itself, which the control of such files wants written without `..`.
        let key = key.canonicalize().unwrap_or(key).to_string_lossy().into_owned();
        let setting = Setting { control: "sysfs".to_owned(), key, value: Scalar::Text(value) };
        Sysfs.check(session.root(), &setting)?;
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

fn measure(session: &mut Session<'_>, level: &Level, dir: &Path) -> Result<(), ControlError> {
    let free = rustix::fs::statvfs(dir).map_or(0, |s| s.f_bavail.saturating_mul(s.f_frsize));
    let figures = probe::measure(dir, level.probe, free).map_err(|source| ControlError::Io {
        path: SPEC.name.to_owned(),
        doing: format!("measuring `{}`", dir.display()),
        source,
    })?;
    session.note(format!(
        "storage measured before the trial{}: sequential write {}, read {}; random write {}, read {} \
         (4 KiB, 16 at once){}",
        if level.emulated.is_some() { " (emulated)" } else { "" },
        format_value(figures.write_bytes_s, "B/s"),
        format_value(figures.read_bytes_s, "B/s"),
        format_value(figures.write_ops_s, "ops/s"),
        format_value(figures.read_ops_s, "ops/s"),
        if figures.direct { "" } else { "; through the page cache, which it cannot go past" }
    ));
    for metric in figures.metrics() {
        session.measured(metric);
    }
    Ok(())
}

/// Whether a level can be had here. A sentence if not.
fn check_place(root: &Root, level: &Level) -> Result<(), String> {
    if let Kind::Folder(path) = &level.kind {
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
        Kind::Folder(_) => Ok(()),
        Kind::Tmpfs => {
            let free =
                root.text("/proc/meminfo").ok().and_then(|m| meminfo_bytes(&m, "MemAvailable"));
            fits(level.size, free, "the memory of this machine")
        }
        Kind::Device(path) => match Device::find(root, path)?.user(root) {
            Some(user) => Err(format!("{user}; what is in use is never touched")),
            None => Ok(()),
        },
        Kind::Loop { system, devices, .. } => {
            for (program, package) in [
                (place::maker(*system), system.package()),
                ("losetup".to_owned(), "util-linux"),
                ("mount".to_owned(), "mount"),
            ] {
                if tools::find(&program).is_none() {
                    return Err(format!(
                        "`{program}` is missing; install the Debian package {package}"
                    ));
                }
            }
            let dir = level.within.clone().unwrap_or_else(crate::scratch::root);
            check_folder(&dir)?;
            let free =
                rustix::fs::statvfs(&dir).ok().map(|s| s.f_bavail.saturating_mul(s.f_frsize));
            let all = level.size.saturating_mul(u64::from(*devices));
            fits(all, free, &format!("`{}` (choose another with in=)", dir.display()))
        }
    }
}

fn check_folder(path: &Path) -> Result<(), String> {
    if !path.is_dir() {
        return Err(format!("`{}` is not a folder that is there", path.display()));
    }
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK)
        .map_err(|_| format!("`{}` may not be written by this user", path.display()))
}

fn fits(wanted: u64, free: Option<u64>, place: &str) -> Result<(), String> {
    match free {
        Some(free) if wanted > free => Err(format!(
            "{} are wanted and {} are free in {place}",
            format_bytes(wanted),
            format_bytes(free)
        )),
        _ => Ok(()),
    }
}
