//! Finds the place where a version 2 group may be created: for root below the top; for other users
//! next to or inside this process's own group if systemd delegated it (`Delegate=`) or if Slurm
//! runs the process as root. Changes nothing.

use rustix::fs::{Access, access};

use super::TOP;
use crate::read::root::one_line;
use crate::{Root, Unavailable};

/// The place where groups are created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CgroupPlace {
    /// Path of the folder that will hold the groups.
    pub parent: String,
    /// True if this is the process's own group and has processes. These must be moved into a group
    /// of their own first, because groups with controllers may only lie below groups without
    /// processes.
    pub crowded: bool,
}

impl CgroupPlace {
    /// Returns the file that enables controllers for child groups.
    pub fn subtree(&self) -> String {
        format!("{}/{SUBTREE}", self.parent)
    }

    /// True if the kernel can enable the controller for groups here.
    pub fn has(&self, root: &Root, controller: &str) -> bool {
        has(root, &self.parent, controller)
    }
}

pub(super) const SUBTREE: &str = "cgroup.subtree_control";

/// Finds a place for a group with the controller, or returns the reason if no place is suitable.
pub(super) fn find(root: &Root, controller: &str) -> Result<CgroupPlace, Unavailable> {
    let own = own(root);
    if of_slurm(root).is_some() {
        // Next to the task's own group and no higher, where Slurm's limits apply and its accounting
        // works.
        return usable(root, parent_of(&own), controller).map_err(|why| {
            format!(
                "Slurm confines this process to the control group `{own}`, and {why}. Leave the \
                 control out, or ask Slurm for the limit (`--mem`)"
            )
            .into()
        });
    }
    let beside = parent_of(&own);
    let top = usable(root, TOP, controller);
    let mut tried = vec![top];
    if beside.starts_with(TOP) && beside != TOP {
        tried.push(usable(root, beside, controller));
    }
    if own != TOP {
        tried.push(usable(root, &own, controller));
    }
    let mut reasons = Vec::new();
    for one in tried {
        match one {
            // This process may only move processes that are in its own group.
            Ok(place) if !place.crowded || place.parent == own => return Ok(place),
            Ok(place) => reasons.push(format!("`{}` has processes of its own", place.parent)),
            Err(why) => reasons.push(why),
        }
    }
    reasons.dedup();
    Err(format!(
        "this user cannot create a control group: {}; run as root, or in a group that systemd \
         delegates (`systemd-run --user --scope -p Delegate=yes assay ...`)",
        reasons.join(", ")
    )
    .into())
}

/// Checks that groups with a controller may be created in a folder.
fn usable(root: &Root, folder: &str, controller: &str) -> Result<CgroupPlace, String> {
    let may = |path: String| access(root.path(&path), Access::WRITE_OK).is_ok();
    let all = ["", "/cgroup.procs", &format!("/{SUBTREE}")];
    if !all.iter().all(|file| may(format!("{folder}{file}"))) {
        return Err(format!("this user cannot write to `{folder}`"));
    }
    if !has(root, folder, controller) {
        return Err(format!(
            "`{folder}` has no `{controller}` controller: the group above does not delegate it"
        ));
    }
    // The root group may have both processes and child groups; it is the only one without a type.
    let rules = root.exists(&format!("{folder}/cgroup.type"));
    let processes = root.text(&format!("{folder}/cgroup.procs")).unwrap_or_default();
    Ok(CgroupPlace { parent: folder.to_owned(), crowded: rules && !processes.trim().is_empty() })
}

pub(super) fn has(root: &Root, folder: &str, controller: &str) -> bool {
    let all = root.text(&format!("{folder}/cgroup.controllers")).unwrap_or_default();
    one_line(&all).split(' ').any(|c| c == controller)
}

/// Returns the group of this process.
pub(super) fn own(root: &Root) -> String {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    let path = groups.lines().find_map(|l| l.strip_prefix("0::")).unwrap_or("/");
    format!("{TOP}{}", path.trim_end_matches('/'))
}

fn parent_of(group: &str) -> &str {
    group.rsplit_once('/').map_or(TOP, |(parent, _)| parent)
}

/// Returns the group in which Slurm put this process for its job; `None` if Slurm did not.
pub(super) fn of_slurm(root: &Root) -> Option<String> {
    let own = own(root);
    let mut parts = own.split('/');
    // `slurmstepd.scope`, or `NODE_slurmstepd.scope` if several nodes may share a machine.
    let slurms = parts.any(|p| p == "slurm" || p.contains("slurmstepd"));
    (slurms && parts.any(|p| p.starts_with("job_"))).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    fn group(machine: &FakeMachine, path: &str, controllers: &str, processes: &str) {
        machine.put(&format!("{path}/cgroup.controllers"), controllers);
        machine.put(&format!("{path}/cgroup.procs"), processes);
        machine.put(&format!("{path}/{SUBTREE}"), "");
        machine.put(&format!("{path}/cgroup.type"), "domain\n");
    }

    fn at(parent: &str, crowded: bool) -> CgroupPlace {
        CgroupPlace { parent: format!("{TOP}{parent}"), crowded }
    }

    #[test]
    fn a_group_is_made_where_it_may_be() {
        let machine = FakeMachine::new();
        let root = machine.root();
        machine.put("/proc/self/cgroup", "0::/user.slice/app.slice/run.scope\n");
        // A delegated system service may only change its own group.
        group(&machine, &format!("{TOP}/user.slice/app.slice/run.scope"), "memory pids\n", "7\n");
        assert_eq!(find(&root, "memory"), Ok(at("/user.slice/app.slice/run.scope", true)));
        let why = find(&root, "io").unwrap_err().reason;
        assert!(why.contains("no `io` controller") && why.contains("Delegate=yes"), "{why}");
        // In a user's own systemd, the slice above is available too.
        group(&machine, &format!("{TOP}/user.slice/app.slice"), "memory pids\n", "");
        assert_eq!(find(&root, "memory"), Ok(at("/user.slice/app.slice", false)));
        // Root uses the top, where processes do not matter.
        group(&machine, TOP, "memory io\n", "1\n");
        std::fs::remove_file(machine.path(&format!("{TOP}/cgroup.type"))).unwrap();
        assert_eq!(find(&root, "io"), Ok(at("", false)));
    }

    #[test]
    fn a_group_of_a_job_stays_in_its_step() {
        let machine = FakeMachine::new();
        let root = machine.root();
        group(&machine, TOP, "cpu memory\n", "");
        let step = "/system.slice/slurmstepd.scope/job_5/step_0/user";
        machine.put("/proc/self/cgroup", &format!("0::{step}/task_0\n"));
        let why = find(&root, "memory").unwrap_err().reason;
        assert!(why.contains("task_0") && why.contains("--mem"), "{why}");
        group(&machine, &format!("{TOP}{step}"), "cpu memory\n", "");
        assert_eq!(find(&root, "memory"), Ok(at(step, false)));
        let other = "/system.slice/n1_slurmstepd.scope/job_5/step_0/user";
        machine.put("/proc/self/cgroup", &format!("0::{other}/task_0\n"));
        assert!(of_slurm(&root).is_some());
        // The daemon's own group, and a user's.
        for other in ["/system.slice/slurmd.service", "/user.slice/job_5"] {
            machine.put("/proc/self/cgroup", &format!("0::{other}\n"));
            assert_eq!(of_slurm(&root), None);
        }
    }
}
