//! Control groups that are made for the program of one trial, and taken away after it. Both versions:
//! one hierarchy for each controller (1), or one for all (2).

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Root;
use crate::control::error::ControlError;
use crate::control::{Control, Session, setting_path};
use crate::read::root::one_line;
use crate::state::scratch;

const TOP: &str = "/sys/fs/cgroup";
/// What a group that assay made is called, before what tells it from others.
const PREFIX: &str = "assay-";
/// How a group is journaled: it was not there.
pub(crate) const ABSENT: &str = "absent";
const PRESENT: &str = "present";
/// How long the last processes of a group may take to go.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Where a controller can be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hierarchy {
    /// Version 1: the top of the controller's own hierarchy, and the group of this process in it.
    One { top: String, own: String },
    /// Version 2.
    Two,
}

/// Finds a controller; `None` where the kernel or the container does not show it.
pub(crate) fn find(root: &Root, controller: &str) -> Option<Hierarchy> {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(names), Some(path)) = (parts.next(), parts.next()) else { continue };
        let top = format!("{TOP}/{names}");
        if names.split(',').any(|n| n == controller) && root.exists(&top) {
            // A path that cannot be seen from inside a container: its top is what is mounted.
            let own = format!("{top}{}", path.trim_end_matches('/'));
            let own = if root.exists(&own) { own } else { top.clone() };
            return Some(Hierarchy::One { top, own });
        }
    }
    let all = root.text(&format!("{TOP}/cgroup.controllers")).ok()?;
    all.split_whitespace().any(|c| c == controller).then_some(Hierarchy::Two)
}

/// Whether a group with this controller could be made; changes nothing.
pub(crate) fn check(root: &Root, path: &str, controller: &str) -> Result<Hierarchy, ControlError> {
    let not_here = |reason: String| ControlError::NotHere { path: path.to_owned(), reason };
    let Some(hierarchy) = find(root, controller) else {
        return Err(not_here(format!(
            "the kernel shows no `{controller}` controller of control groups below `{TOP}`"
        )));
    };
    if let (Hierarchy::Two, Some(own)) = (&hierarchy, of_slurm(root)) {
        return Err(not_here(format!(
            "Slurm holds this process to the control group `{own}` of version 2; another group \
             would take the program out of Slurm's accounting and limits. Leave the control out, \
             or ask Slurm for it (`--mem`)"
        )));
    }
    let parent = parent(&hierarchy);
    let writable = rustix::fs::access(root.path(parent), rustix::fs::Access::WRITE_OK).is_ok();
    if !writable {
        return Err(not_here(format!(
            "no control group may be made in `{parent}` by this user; run as root"
        )));
    }
    Ok(hierarchy)
}

/// The group of version 2 that Slurm put this process in, for its job; `None`: it is in none.
fn of_slurm(root: &Root) -> Option<String> {
    let groups = root.text("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|l| l.strip_prefix("0::"))?;
    let mut parts = own.split('/');
    let slurms = parts.any(|p| p == "slurm" || p.starts_with("slurmstepd"));
    (slurms && parts.any(|p| p.starts_with("job_"))).then(|| own.to_owned())
}

fn parent(hierarchy: &Hierarchy) -> &str {
    match hierarchy {
        // Below this process's own, whose limits go on holding.
        Hierarchy::One { own, .. } => own,
        // A group with processes may not have groups with controllers below it, so not in ours.
        Hierarchy::Two => TOP,
    }
}

/// Makes a group for the program, journaled, and has the program join it. With version 2 all controls of
/// a treatment share one group.
pub(crate) fn make(
    session: &mut Session<'_>,
    control: &dyn Control,
    controller: &str,
) -> Result<(String, Hierarchy), ControlError> {
    let name = control.spec().name;
    let hierarchy = check(session.root(), name, controller)?;
    session.setup().children_only.push(name);
    if hierarchy == Hierarchy::Two {
        enable(session, control, controller)?;
        if controller == "io" {
            // Only then is what the kernel writes back later counted to the group.
            enable(session, control, "memory")?;
        }
        if let Some(group) = shared(session) {
            return Ok((group, hierarchy));
        }
    }
    let dir = format!("{}/{PREFIX}{}", parent(&hierarchy), scratch::unique());
    session.record(control, &dir, ABSENT, PRESENT)?;
    let real = session.root().path(&dir);
    fs::create_dir(&real).map_err(|source| ControlError::Io {
        path: name.to_owned(),
        doing: format!("making the control group `{dir}`"),
        source,
    })?;
    session.setup().groups.push(real);
    Ok((dir, hierarchy))
}

/// The group of version 2 that another control of this treatment made.
fn shared(session: &mut Session<'_>) -> Option<String> {
    let top = session.root().path(TOP);
    let groups = session.setup().groups.clone();
    let group = groups.iter().find(|g| g.parent() == Some(&top) && ours(g))?;
    Some(format!("{TOP}/{}", group.file_name()?.to_string_lossy()))
}

fn ours(group: &Path) -> bool {
    group.file_name().is_some_and(|n| n.to_string_lossy().starts_with(PREFIX))
}

const SUBTREE: &str = "/sys/fs/cgroup/cgroup.subtree_control";

/// Has version 2 hand a controller to the groups below its top; journaled, because it reaches all.
fn enable(
    session: &mut Session<'_>,
    control: &dyn Control,
    controller: &str,
) -> Result<(), ControlError> {
    let key = format!("{SUBTREE}:{controller}");
    if state(session.root(), &key) == PRESENT {
        return Ok(());
    }
    session.record(control, &key, ABSENT, PRESENT)?;
    write(session.root(), control.spec().name, SUBTREE, &format!("+{controller}"))
}

/// Writes one value into a file of a group.
pub(crate) fn write(root: &Root, path: &str, file: &str, value: &str) -> Result<(), ControlError> {
    fs::write(root.path(file), format!("{value}\n")).map_err(|source| ControlError::Io {
        path: path.to_owned(),
        doing: format!("writing `{value}` to `{file}`"),
        source,
    })
}

/// The controller, of a key that says that one is handed down.
fn subtree(key: &str) -> Option<&str> {
    key.strip_prefix(SUBTREE)?.strip_prefix(':')
}

/// Whether a journal's key is one of this file.
pub(crate) fn is_key(key: &str) -> bool {
    key.starts_with(TOP)
}

/// Whether what a key names is there: a group, or a controller handed down.
pub(crate) fn state(root: &Root, key: &str) -> &'static str {
    let there = match subtree(key) {
        Some(controller) => one_line(&root.text(SUBTREE).unwrap_or_default())
            .split(' ')
            .any(|c| c.trim_start_matches('+') == controller),
        None => root.exists(key),
    };
    if there { PRESENT } else { ABSENT }
}

/// Takes away what a key names. Processes that are left in a group are ended: they are the program of
/// a trial whose assay is gone.
pub(crate) fn remove(root: &Root, control: &str, key: &str) -> Result<(), ControlError> {
    if let Some(controller) = subtree(key) {
        return write(root, control, SUBTREE, &format!("-{controller}"));
    }
    let dir = root.path(key);
    let path = setting_path(control, key);
    if !ours(Path::new(key)) {
        let reason = "it is not a control group that assay made".to_owned();
        return Err(ControlError::Key { path, reason });
    }
    if !root.is_system() {
        // The files of a made-up group do not go with its folder by themselves.
        let _ = fs::remove_dir_all(&dir);
        return Ok(());
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

/// How many processes the kernel ended in a group because its memory was used up.
pub(crate) fn killed_for_memory(group: &Path) -> u64 {
    ["memory.oom_control", "memory.events"]
        .iter()
        .filter_map(|file| fs::read_to_string(group.join(file)).ok())
        .filter_map(|text| {
            text.lines().find_map(|l| l.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok())
        })
        .sum()
}

/// This process is in another group, until this is dropped.
#[derive(Debug)]
pub(crate) struct Joined {
    back: std::path::PathBuf,
}

/// Moves this process into a group.
pub(crate) fn join(root: &Root, hierarchy: &Hierarchy, group: &Path) -> std::io::Result<Joined> {
    let own = match hierarchy {
        Hierarchy::One { own, .. } => own.clone(),
        Hierarchy::Two => {
            let groups = root.text("/proc/self/cgroup").map_err(std::io::Error::other)?;
            let own = groups.lines().find_map(|l| l.strip_prefix("0::")).unwrap_or("/");
            format!("{TOP}{}", own.trim_end_matches('/'))
        }
    };
    fs::write(group.join("cgroup.procs"), "0")?;
    Ok(Joined { back: root.path(&own).join("cgroup.procs") })
}

impl Drop for Joined {
    fn drop(&mut self) {
        let _ = fs::write(&self.back, "0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Machine;

    #[test]
    fn a_controller_is_found_in_either_version() {
        let machine = Machine::new();
        machine.put("/proc/self/cgroup", "4:memory:/a/b\n0::/\n");
        machine.put("/sys/fs/cgroup/memory/a/b/cgroup.procs", "");
        let top = "/sys/fs/cgroup/memory".to_owned();
        let own = format!("{top}/a/b");
        assert_eq!(find(&machine.root(), "memory"), Some(Hierarchy::One { top, own }));
        assert_eq!(find(&machine.root(), "io"), None);
        machine.put("/sys/fs/cgroup/cgroup.controllers", "cpu io\n");
        assert_eq!(find(&machine.root(), "io"), Some(Hierarchy::Two));
    }

    #[test]
    fn a_job_of_slurm_is_not_taken_out_of_its_group() {
        let machine = Machine::new();
        machine.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
        let own = "/system.slice/slurmstepd.scope/job_5/step_0/user/task_0";
        machine.put("/proc/self/cgroup", &format!("0::{own}\n"));
        let error = check(&machine.root(), "memory", "memory").unwrap_err().to_string();
        assert!(error.contains(own) && error.contains("--mem"), "{error}");
        // The daemon's own, and a user's.
        for other in ["/system.slice/slurmd.service", "/user.slice/job_5"] {
            machine.put("/proc/self/cgroup", &format!("0::{other}\n"));
            assert_eq!(of_slurm(&machine.root()), None);
        }
        // Version 1 makes its group below the job's.
        machine.put("/proc/self/cgroup", "4:memory:/slurm/uid_0/job_1/step_0\n0::/\n");
        machine.put("/sys/fs/cgroup/memory/slurm/uid_0/job_1/step_0/cgroup.procs", "");
        assert!(check(&machine.root(), "memory", "memory").is_ok());
    }

    #[test]
    fn a_controller_that_is_handed_down_is_journaled_by_its_name() {
        let machine = Machine::new();
        machine.put(SUBTREE, "cpu memory\n");
        let root = machine.root();
        let key = |c: &str| format!("{SUBTREE}:{c}");
        assert_eq!(state(&root, &key("memory")), PRESENT);
        assert_eq!(state(&root, &key("io")), ABSENT);
        remove(&root, "storage", &key("io")).unwrap();
        assert_eq!(machine.read(SUBTREE), "-io");
    }

    #[test]
    fn only_groups_that_assay_made_are_removed() {
        let machine = Machine::new();
        machine.put("/sys/fs/cgroup/user/cgroup.procs", "1\n");
        machine.put("/sys/fs/cgroup/assay-1-2-3/cgroup.procs", "");
        assert!(remove(&machine.root(), "memory", "/sys/fs/cgroup/user").is_err());
        remove(&machine.root(), "memory", "/sys/fs/cgroup/assay-1-2-3").unwrap();
        assert!(!machine.path("/sys/fs/cgroup/assay-1-2-3").exists());
        assert!(machine.path("/sys/fs/cgroup/user").exists());
    }
}
