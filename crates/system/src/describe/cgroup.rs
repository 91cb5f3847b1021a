//! Describes the control group in which assay runs, and its limits on CPU, memory and CPU set. Any
//! ancestor may have a limit; the tightest one applies.

use std::path::PathBuf;

use assay_model::units::format_bytes;

use super::facts::Facts;
use crate::Root;

const TOP: &str = "/sys/fs/cgroup";

pub(super) fn describe(facts: &mut Facts<'_>) {
    let own = match facts.root.text("/proc/self/cgroup") {
        Ok(text) => text,
        Err(e) => {
            for path in ["version", "path", "cpu_quota", "memory_limit", "cpuset"] {
                facts.unknown(format!("cgroup.{path}"), e.to_string());
            }
            return;
        }
    };
    // Along with version 1, version 2 is mounted without controllers in a folder of its own.
    let v2 = [TOP, "/sys/fs/cgroup/unified"]
        .iter()
        .any(|top| facts.root.exists(&format!("{top}/cgroup.controllers")));
    let v1 = own.lines().any(|l| l.split(':').nth(1).is_some_and(|c| !c.is_empty()));
    facts.set(
        "cgroup.version",
        match (v1, v2) {
            (true, true) => "1 and 2",
            (true, false) => "1",
            (false, _) => "2",
        },
    );
    facts.set("cgroup.path", own.lines().collect::<Vec<_>>().join(" "));
    let tightest = |controller: &str, limit: LimitOf| {
        let group = CgroupFolder::find(facts.root, &own, controller);
        group.map_or(Limit::Unseen, |g| g.tightest(|dir| limit(&g, facts.root, dir)))
    };
    let (quota, memory) =
        (tightest("cpu", CgroupFolder::quota), tightest("memory", CgroupFolder::memory));
    quota.put(facts, "cgroup.cpu_quota", |cpus| format!("{cpus:.2} CPUs"));
    memory.put(facts, "cgroup.memory_limit", |b| format_bytes(b as u64));
    if let Some((limits, _)) = limited_io(facts.root) {
        facts.set("cgroup.io_limit", limits);
    }
    let cpuset = CgroupFolder::find(facts.root, &own, "cpuset").and_then(|g| {
        ["cpuset.cpus.effective", "cpuset.effective_cpus"]
            .iter()
            .find_map(|f| facts.root.text(&format!("{}/{f}", g.dir)).ok())
    });
    match cpuset {
        Some(list) => facts.set("cgroup.cpuset", list),
        None => facts.unknown("cgroup.cpuset", "its CPU set cannot be seen below `/sys/fs/cgroup`"),
    }
    let status = facts.root.text("/proc/self/status");
    let allowed = status.ok().and_then(|s| {
        s.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:").map(|v| v.trim().to_owned()))
    });
    match allowed {
        Some(list) => facts.set("process.cpus_allowed", list),
        None => facts.unknown("process.cpus_allowed", "`/proc/self/status` does not have it"),
    }
}

/// Returns the folders of this process's group and its ancestors that limit CPU time or memory.
pub fn limited_groups(root: &Root) -> Vec<PathBuf> {
    let own = root.text("/proc/self/cgroup").unwrap_or_default();
    let mut found = Vec::new();
    for (controller, limit) in
        [("cpu", CgroupFolder::quota as LimitOf), ("memory", CgroupFolder::memory)]
    {
        if let Some(group) = CgroupFolder::find(root, &own, controller) {
            let limited = |dir: &&str| matches!(limit(&group, root, dir), Limit::Set(_));
            found.extend(group.upwards().filter(limited).map(|dir| root.path(dir)));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the `io.max` limits of this process's control group and its ancestors, and the bytes
/// that the group has read and written on the limited devices; `None` if there is no limit.
pub fn limited_io(root: &Root) -> Option<(String, u64)> {
    let group =
        CgroupFolder::find(root, &root.text("/proc/self/cgroup").ok()?, "io").filter(|g| g.v2)?;
    let lines = |dir: &str, file: &str| -> Vec<String> {
        let text = root.text(&format!("{dir}/{file}")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let limits: Vec<String> = group.upwards().flat_map(|dir| lines(dir, "io.max")).collect();
    let stat = lines(&group.dir, "io.stat");
    let limited = |s: &&String| limits.iter().any(|l| l.split(' ').next() == s.split(' ').next());
    let words = stat.iter().filter(limited).flat_map(|s| s.split(' '));
    let bytes =
        |w: &str| w.strip_prefix("rbytes=").or(w.strip_prefix("wbytes="))?.parse::<u64>().ok();
    let moved: u64 = words.filter_map(bytes).sum();
    (!limits.is_empty()).then(|| (limits.join("; "), moved))
}

struct CgroupFolder {
    top: String,
    dir: String,
    v2: bool,
}

/// Function that reads a limit of a group from one of its folders.
type LimitOf = fn(&CgroupFolder, &Root, &str) -> Limit;

/// Result of reading a limit.
enum Limit {
    /// The value of the limit.
    Set(f64),
    /// There is no limit.
    None,
    /// No file could be read.
    Unseen,
}

impl Limit {
    fn put(self, facts: &mut Facts<'_>, path: &str, show: impl Fn(f64) -> String) {
        match self {
            Limit::Set(value) => facts.set(path, show(value)),
            Limit::None => facts.set(path, "none"),
            Limit::Unseen => facts.unknown(
                path,
                "the files of its control group cannot be seen below `/sys/fs/cgroup`",
            ),
        }
    }
}

impl CgroupFolder {
    /// Finds this process's group for a controller: in version 1 if the controller is mounted
    /// there, else in version 2. A path that does not exist (inside a container) falls back to the
    /// top of the mounted tree.
    fn find(root: &Root, own: &str, controller: &str) -> Option<CgroupFolder> {
        let entries = own.lines().filter_map(|l| {
            let mut parts = l.splitn(3, ':').skip(1);
            Some((parts.next()?, parts.next()?))
        });
        let (mut one, mut two) = (None, None);
        for (names, path) in entries {
            if names.split(',').any(|n| n == controller) {
                one = Some((names, path));
            } else if names.is_empty() {
                two = Some(path);
            }
        }
        let (top, path, v2) = match (one, two) {
            (Some((names, path)), _) => {
                let top = [names, controller]
                    .iter()
                    .map(|n| format!("{TOP}/{n}"))
                    .find(|t| root.exists(t))?;
                (top, path, false)
            }
            (None, Some(path)) => (TOP.to_owned(), path, true),
            (None, None) => return None,
        };
        let dir = format!("{top}{}", path.trim_end_matches('/'));
        let dir = if !path.contains("..") && root.exists(&dir) { dir } else { top.clone() };
        Some(CgroupFolder { top, dir, v2 })
    }

    /// Reads the CPU quota of a folder.
    fn quota(&self, root: &Root, dir: &str) -> Limit {
        if self.v2 { limit(root, dir, "cpu.max", cpu_max) } else { v1_quota(root, dir) }
    }

    /// Reads the memory limit of a folder.
    fn memory(&self, root: &Root, dir: &str) -> Limit {
        let file = if self.v2 { "memory.max" } else { "memory.limit_in_bytes" };
        limit(root, dir, file, bytes)
    }

    /// Returns the group's folder and its ancestors, up to the top.
    fn upwards(&self) -> impl Iterator<Item = &str> {
        let mut next = Some(self.dir.as_str());
        std::iter::from_fn(move || {
            let dir = next?;
            let above = || dir.rsplit_once('/').map_or(self.top.as_str(), |(up, _)| up);
            next = (dir.len() > self.top.len()).then(above);
            Some(dir)
        })
    }

    /// Returns the smallest limit of this group and its ancestors.
    fn tightest(&self, read: impl Fn(&str) -> Limit) -> Limit {
        let found = self.upwards().fold(Limit::Unseen, |found, dir| match (read(dir), found) {
            (Limit::Set(here), Limit::Set(below)) => Limit::Set(here.min(below)),
            (Limit::Set(limit), _) | (_, Limit::Set(limit)) => Limit::Set(limit),
            (Limit::None, _) | (_, Limit::None) => Limit::None,
            (Limit::Unseen, Limit::Unseen) => Limit::Unseen,
        });
        // The top of version 2 has no limit files at all, so it counts as not limited.
        if self.v2 && matches!(found, Limit::Unseen) && self.dir == self.top {
            return Limit::None;
        }
        found
    }
}

/// Reads the limit in a file of a folder. `read` returns `None` for a text that means no limit.
fn limit(root: &Root, dir: &str, file: &str, read: fn(&str) -> Option<f64>) -> Limit {
    match root.text(&format!("{dir}/{file}")) {
        Ok(text) => read(&text).map_or(Limit::None, Limit::Set),
        Err(_) => Limit::Unseen,
    }
}

/// Parses `max 100000` or `50000 100000`: microseconds of CPU time per period.
fn cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    ratio(quota.parse().ok()?, period.trim().parse().ok()?)
}

fn v1_quota(root: &Root, dir: &str) -> Limit {
    let quota = root.number(&format!("{dir}/cpu.cfs_quota_us"));
    let period = root.number(&format!("{dir}/cpu.cfs_period_us"));
    match (quota, period) {
        (Ok(quota), Ok(period)) => ratio(quota, period).map_or(Limit::None, Limit::Set),
        _ => Limit::Unseen,
    }
}

fn ratio(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Parses a number of bytes; version 1 writes "no limit" as a number near 2^63.
fn bytes(text: &str) -> Option<f64> {
    text.parse::<u64>().ok().filter(|b| *b < 1 << 60).map(|b| b as f64)
}
