//! Describes mounted file systems and their options.

use super::facts::Facts;
use crate::read::mounts;

/// File systems that hold kernel objects instead of a workload's data.
const PSEUDO: [&str; 20] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "sysfs",
    "tracefs",
];

pub(super) fn describe(facts: &mut Facts<'_>) {
    match mounts::read(facts.root) {
        Ok(all) => {
            for mount in all.iter().filter(|m| !PSEUDO.contains(&m.kind.as_str())) {
                facts.set(
                    format!("mount.{}", mount.point.display()),
                    format!("{} {} {}", mount.kind, mount.source, mount.options),
                );
            }
        }
        Err(e) => facts.unknown("mount", e.to_string()),
    }
}
