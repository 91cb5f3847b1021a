//! Control groups that are created for the program of one trial and removed after it. Supports both
//! versions: one hierarchy per controller (version 1) and one hierarchy for all controllers
//! (version 2).

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process};

use crate::Root;
use crate::control::{Control, ControlSession, setting_path};
use crate::error::ControlError;
use crate::read::root::one_line;
use crate::state::scratch;

mod place;

pub(crate) use place::CgroupPlace;

const TOP: &str = "/sys/fs/cgroup";
/// Prefix of the names of groups that assay creates.
const PREFIX: &str = "assay-";
/// Prefix of the names of groups into which processes are moved that were in the way of a group.
const REST: &str = "assay-rest-";
/// Journaled old state of a group: it did not exist.
pub(crate) const ABSENT: &str = "absent";
pub(crate) const PRESENT: &str = "present";
/// Maximum time to wait until the last processes of a group have exited.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The place where a controller is available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hierarchy {
    /// Version 1: the top of the controller's own hierarchy, and this process's group in it.
    One { top: String, own: String },
    /// Version 2: the place where groups are created.
    Two(CgroupPlace),
}

/// Finds a controller of version 1.
pub(crate) fn version_1(root: &Root, controller: &str) -> Option<Hierarchy> {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(names), Some(path)) = (parts.next(), parts.next()) else { continue };
        let top = format!("{TOP}/{names}");
        if names.split(',').any(|n| n == controller) && root.exists(&top) {
            // Inside a container the path may be invisible; then the mounted top is the group.
            let own = format!("{top}{}", path.trim_end_matches('/'));
            let own = if root.exists(&own) { own } else { top.clone() };
            return Some(Hierarchy::One { top, own });
        }
    }
    None
}

/// Checks that a group with this controller can be created; changes nothing.
pub(crate) fn check(root: &Root, path: &str, controller: &str) -> Result<Hierarchy, ControlError> {
    let not_here = |reason: String| ControlError::NotHere { path: path.to_owned(), reason };
    if let Some(hierarchy) = version_1(root, controller) {
        // Groups are created below this process's own group, so that its limits still apply.
        let Hierarchy::One { own, .. } = &hierarchy else { return Ok(hierarchy) };
        if access(root.path(own), Access::WRITE_OK).is_err() {
            return Err(not_here(format!(
                "cannot create a control group in `{own}`; run as root, outside of containers"
            )));
        }
        return Ok(hierarchy);
    }
    if !place::has(root, TOP, controller) {
        return Err(not_here(format!(
            "the kernel has no `{controller}` controller of control groups below `{TOP}`"
        )));
    }
    place::find(root, controller).map(Hierarchy::Two).map_err(|e| not_here(e.reason))
}

/// Creates a group for the program, journals it, and makes the program join it. With version 2, all
/// controls of a treatment share one group.
pub(crate) fn make(
    session: &mut ControlSession<'_>,
    control: &dyn Control,
    controller: &str,
) -> Result<(String, Hierarchy), ControlError> {
    let name = control.spec().name;
    let hierarchy = check(session.root, name, controller)?;
    let parent = match &hierarchy {
        Hierarchy::One { own, .. } => own.clone(),
        Hierarchy::Two(place) => {
            vacate(session, control, place)?;
            enable(session, control, place, controller)?;
            if controller == "io" && place.has(session.root, "memory") {
                // The kernel attributes later writeback to the group only if its memory controller
                // is enabled too.
                enable(session, control, place, "memory")?;
            }
            if let Some(group) = shared(session, &place.parent) {
                return Ok((group, hierarchy));
            }
            place.parent.clone()
        }
    };
    let dir = format!("{parent}/{PREFIX}{}", scratch::unique());
    session.record(control, &dir, ABSENT, PRESENT)?;
    let real = session.root.path(&dir);
    fs::create_dir(&real).map_err(|source| ControlError::Io {
        path: name.to_owned(),
        doing: format!("creating the control group `{dir}`"),
        source,
    })?;
    session.setup.groups.push(real);
    Ok((dir, hierarchy))
}

/// Moves the processes of this process's own group into a group below it, journaled, so that
/// controllers can be enabled for child groups.
fn vacate(
    session: &mut ControlSession<'_>,
    control: &dyn Control,
    place: &CgroupPlace,
) -> Result<(), ControlError> {
    if !place.crowded {
        return Ok(());
    }
    let rest = format!("{}/{REST}{}", place.parent, scratch::unique());
    session.record(control, &rest, ABSENT, PRESENT)?;
    let root = session.root;
    let failed = |source| ControlError::Io {
        path: control.spec().name.to_owned(),
        doing: format!("moving the processes of `{}` into `{rest}`", place.parent),
        source,
    };
    fs::create_dir(root.path(&rest)).map_err(failed)?;
    move_all(root, &place.parent, &rest).map_err(failed)
}

/// Moves all processes of a group into another, including those that are started meanwhile.
fn move_all(root: &Root, from: &str, to: &str) -> std::io::Result<()> {
    let began = Instant::now();
    loop {
        let processes = root.text(&format!("{from}/cgroup.procs")).unwrap_or_default();
        if processes.trim().is_empty() {
            return Ok(());
        }
        for pid in processes.lines() {
            match fs::write(root.path(&format!("{to}/cgroup.procs")), pid) {
                // The process has exited meanwhile.
                Err(e) if e.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
                Err(e) if began.elapsed() > TIMEOUT => return Err(e),
                _ => {}
            }
        }
        if began.elapsed() > TIMEOUT {
            return Err(std::io::Error::other("processes keep starting there"));
        }
    }
}

/// Returns the version 2 group that another control of this treatment created in the folder.
fn shared(session: &mut ControlSession<'_>, parent: &str) -> Option<String> {
    let folder = session.root.path(parent);
    let groups = session.setup.groups.clone();
    let group = groups.iter().find(|g| g.parent() == Some(&folder) && ours(g))?;
    Some(format!("{parent}/{}", group.file_name()?.to_string_lossy()))
}

fn ours(group: &Path) -> bool {
    group.file_name().is_some_and(|n| n.to_string_lossy().starts_with(PREFIX))
}

/// Enables a version 2 controller for the groups in a folder; journaled, because this affects all
/// of them.
fn enable(
    session: &mut ControlSession<'_>,
    control: &dyn Control,
    place: &CgroupPlace,
    controller: &str,
) -> Result<(), ControlError> {
    let file = place.subtree();
    let key = format!("{file}:{controller}");
    if state(session.root, &key) == PRESENT {
        return Ok(());
    }
    session.record(control, &key, ABSENT, PRESENT)?;
    write(session.root, control.spec().name, &file, &format!("+{controller}"))
}

/// Writes one value into a file of a group.
pub(crate) fn write(root: &Root, path: &str, file: &str, value: &str) -> Result<(), ControlError> {
    fs::write(root.path(file), format!("{value}\n")).map_err(|source| ControlError::Io {
        path: path.to_owned(),
        doing: format!("writing `{value}` to `{file}`"),
        source,
    })
}

/// Splits the key of an enabled controller into the file and the controller.
fn subtree(key: &str) -> Option<(&str, &str)> {
    let (file, controller) = key.rsplit_once(':')?;
    file.ends_with(place::SUBTREE).then_some((file, controller))
}

/// True if a journal's key belongs to this module.
pub(crate) fn is_key(key: &str) -> bool {
    key.starts_with(TOP)
}

/// Returns whether the object of a key exists: a group, or a controller enabled for child groups.
pub(crate) fn state(root: &Root, key: &str) -> &'static str {
    let there = match subtree(key) {
        Some((file, controller)) => one_line(&root.text(file).unwrap_or_default())
            .split(' ')
            .any(|c| c.trim_start_matches('+') == controller),
        None => root.exists(key),
    };
    if there { PRESENT } else { ABSENT }
}

/// Removes the object of a key. Processes left in a group are killed: they are the program of a
/// trial whose assay has died. Processes that were only moved out of the way are moved back.
pub(crate) fn remove(root: &Root, control: &str, key: &str) -> Result<(), ControlError> {
    if let Some((file, controller)) = subtree(key) {
        return write(root, control, file, &format!("-{controller}"));
    }
    let dir = root.path(key);
    let path = setting_path(control, key);
    if !ours(Path::new(key)) {
        let reason = "assay did not create this control group".to_owned();
        return Err(ControlError::Key { path, reason });
    }
    if !root.is_system() {
        // In a fake tree, the files of a group do not disappear with its folder.
        let _ = fs::remove_dir_all(&dir);
        return Ok(());
    }
    if let Some((parent, _)) = key.rsplit_once('/').filter(|(_, name)| name.starts_with(REST)) {
        move_all(root, key, parent).map_err(|source| {
            let doing = format!("moving processes back into `{parent}`");
            ControlError::Io { path: path.clone(), doing, source }
        })?;
    }
    let began = Instant::now();
    loop {
        for pid in root.text(&format!("{key}/cgroup.procs")).unwrap_or_default().lines() {
            if let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        match fs::remove_dir(&dir) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(source) if began.elapsed() > TIMEOUT => {
                let doing = "removing the control group".to_owned();
                return Err(ControlError::Io { path, doing, source });
            }
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Returns the number of processes in a group that the kernel killed for lack of memory.
pub(crate) fn killed_for_memory(group: &Path) -> u64 {
    ["memory.oom_control", "memory.events"]
        .iter()
        .filter_map(|file| fs::read_to_string(group.join(file)).ok())
        .filter_map(|text| {
            text.lines().find_map(|l| l.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok())
        })
        .sum()
}

/// Membership of this process in another group; ends on drop.
#[derive(Debug)]
pub(crate) struct GroupMembership {
    back: std::path::PathBuf,
}

/// Moves this process into a group.
pub(crate) fn join(
    root: &Root,
    hierarchy: &Hierarchy,
    group: &Path,
) -> std::io::Result<GroupMembership> {
    let own = match hierarchy {
        Hierarchy::One { own, .. } => own.clone(),
        Hierarchy::Two(_) => place::own(root),
    };
    fs::write(group.join("cgroup.procs"), "0")?;
    Ok(GroupMembership { back: root.path(&own).join("cgroup.procs") })
}

impl Drop for GroupMembership {
    fn drop(&mut self) {
        let _ = fs::write(&self.back, "0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn a_controller_is_found_in_either_version() {
        let machine = FakeMachine::new();
        machine.put("/proc/self/cgroup", "4:memory:/a/b\n0::/\n");
        machine.put("/sys/fs/cgroup/memory/a/b/cgroup.procs", "");
        let top = "/sys/fs/cgroup/memory".to_owned();
        let own = format!("{top}/a/b");
        assert_eq!(version_1(&machine.root(), "memory"), Some(Hierarchy::One { top, own }));
        assert!(
            check(&machine.root(), "memory", "memory").is_ok(),
            "below its own, also in a job of Slurm"
        );
        assert_eq!(version_1(&machine.root(), "io"), None);
        assert!(
            check(&machine.root(), "storage", "io")
                .unwrap_err()
                .to_string()
                .contains("has no `io`")
        );
        machine.put("/sys/fs/cgroup/cgroup.controllers", "cpu io\n");
        for file in ["cgroup.procs", place::SUBTREE] {
            machine.put(&format!("{TOP}/{file}"), "");
        }
        let two = check(&machine.root(), "storage", "io").unwrap();
        assert_eq!(two, Hierarchy::Two(CgroupPlace { parent: TOP.to_owned(), crowded: false }));
    }

    #[test]
    fn a_controller_that_is_handed_down_is_journaled_by_its_name() {
        let machine = FakeMachine::new();
        let file = format!("{TOP}/a/{}", place::SUBTREE);
        machine.put(&file, "cpu memory\n");
        let root = machine.root();
        let key = |c: &str| format!("{file}:{c}");
        assert_eq!(state(&root, &key("memory")), PRESENT);
        assert_eq!(state(&root, &key("io")), ABSENT);
        remove(&root, "storage", &key("io")).unwrap();
        assert_eq!(machine.read(&file), "-io");
    }

    #[test]
    fn only_groups_that_assay_made_are_removed() {
        let machine = FakeMachine::new();
        machine.put("/sys/fs/cgroup/user/cgroup.procs", "1\n");
        machine.put("/sys/fs/cgroup/assay-1-2-3/cgroup.procs", "");
        assert!(remove(&machine.root(), "memory", "/sys/fs/cgroup/user").is_err());
        remove(&machine.root(), "memory", "/sys/fs/cgroup/assay-1-2-3").unwrap();
        assert!(!machine.path("/sys/fs/cgroup/assay-1-2-3").exists());
        assert!(machine.path("/sys/fs/cgroup/user").exists());
    }
}
