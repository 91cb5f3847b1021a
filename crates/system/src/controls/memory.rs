//! `memory`: the amount of memory that the program may use, including the page cache of the files
//! that it reads and writes.

use std::path::Path;

use assay_model::units::{bytes_of, format_bytes};
use assay_model::{Scalar, Setting, TrialOutcome, TrialRecord};

use crate::Root;
use crate::control::cgroup::{self, Hierarchy};
use crate::control::{Control, ControlScope, ControlSession, ControlSpec};
use crate::describe::meminfo_bytes;
use crate::error::{ControlError, Result};

pub(super) struct Memory;

static SPEC: ControlSpec = ControlSpec {
    name: "memory",
    help: "Memory limit of the program and its children together, including the page cache of \
           their files, as on a machine with less memory. Nothing is swapped. Pages that other \
           processes cached earlier do not count, so also set `drop_caches`.",
    levels: "a size such as `24GiB`, at least 8 MiB and less than the machine has",
    keyed: false,
    key: "",
    scope: ControlScope::System,
    needs: "the memory controller of control groups, version 1 or 2, and root or a group of \
            version 2 that systemd delegates (`systemd-run --user --scope -p Delegate=yes assay \
            ...`)",
    put_back: "the control group of the program is journaled and removed; processes that had to \
               make room for it move back",
    probe: ("", "16MiB"),
};

/// Minimum level; with less memory, a program cannot even be started.
const MIN_BYTES: u64 = 8 << 20;

fn level(setting: &Setting) -> Result<u64> {
    bytes_of(&setting.value)
        .ok()
        .filter(|b| *b >= MIN_BYTES)
        .ok_or_else(|| SPEC.not_a_level(setting))
}

impl Control for Memory {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let limit = level(setting)?;
        let total = root.text("/proc/meminfo").ok().and_then(|m| meminfo_bytes(&m, "MemTotal"));
        if let Some(total) = total.filter(|total| limit >= *total) {
            return Err(SPEC.not_here(format!(
                "this machine has {}, so a limit of {} would limit nothing",
                format_bytes(total),
                format_bytes(limit)
            )));
        }
        cgroup::check(root, SPEC.name, "memory").map(|_| ())
    }

    fn current(&self, root: &Root, key: &str) -> Result<Scalar> {
        if key.is_empty() {
            return Err(ControlError::NoLevel { control: SPEC.name.to_owned() });
        }
        Ok(Scalar::Text(cgroup::state(root, key).to_owned()))
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let limit = level(setting)?;
        let (dir, hierarchy) = cgroup::make(session, self, "memory")?;
        let group = session.setup.groups.last().cloned().unwrap_or_default();
        // The second file of each pair keeps the program out of swap; it exists only if the kernel
        // has swap accounting.
        let (first, second, swap) = match hierarchy {
            Hierarchy::One { .. } => {
                ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", limit)
            }
            Hierarchy::Two(_) => ("memory.max", "memory.swap.max", 0),
        };
        session.after(move |record| say_killed(&group, record));
        let root = session.root;
        let file = format!("{dir}/{first}");
        cgroup::write(root, SPEC.name, &file, &limit.to_string())?;
        let swap_file = format!("{dir}/{second}");
        if root.exists(&swap_file) {
            cgroup::write(root, SPEC.name, &swap_file, &swap.to_string())?;
        }
        let got = root.text(&file).unwrap_or_default();
        // The kernel rounds to pages.
        if got.parse::<u64>().is_ok_and(|g| g.abs_diff(limit) < 65536) {
            return Ok(());
        }
        Err(ControlError::NotTaken { path: SPEC.name.to_owned(), asked: limit.to_string(), got })
    }

    fn restore(&self, root: &Root, key: &str, _old: &str) -> Result<()> {
        cgroup::remove(root, SPEC.name, key)
    }
}

/// Reports the number of processes that the kernel killed because the program exceeded the limit.
fn say_killed(group: &Path, record: &mut TrialRecord) {
    let killed = cgroup::killed_for_memory(group);
    if killed == 0 {
        return;
    }
    let why = format!(
        "the kernel killed {killed} of the program's processes: they exceeded the limit of the \
         control `memory`"
    );
    // In a failed trial this is the cause; the program's own message is only a consequence.
    match record.outcome {
        TrialOutcome::Failed => record.error = format!("{why}; {}", record.error),
        _ => record.notes.push(why),
    }
}
