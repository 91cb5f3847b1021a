//! Checks if other machines are fit for measurements. Of a Slurm installation: its commands,
//! controller, authentication and nodes, and (with a job of a few seconds) if the nodes have the
//! same assay, reach this machine, and share its folders and its time. Of hosts: if `ssh` reaches
//! them without a password, and their agents start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_model::{ExecutionPlace, Severity, units};
use serde::Serialize;

use crate::slurm::{call, nodes, version};
use crate::ssh::AgentProgram;
use crate::token::random_hex;
use crate::{AgentGroup, AgentRequest, Connect, SetUp, Setup, describe};

/// Maximum difference of wall clocks that passes, ns.
const DAY_BOUND_NS: u64 = 100_000_000;
/// Maximum time for the nodes to set up.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClusterCheck {
    /// Name of the check.
    pub name: String,
    /// True if the check passed; `null` if it could not be made.
    pub ok: Option<bool>,
    /// Observation, and advice if the check failed.
    pub detail: String,
}

/// Results of all checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClusterReport {
    /// Checks in the order in which they were made.
    pub checks: Vec<ClusterCheck>,
}

impl ClusterReport {
    fn add(&mut self, name: &str, ok: impl Into<Option<bool>>, detail: impl Into<String>) {
        self.checks.push(ClusterCheck { name: name.into(), ok: ok.into(), detail: detail.into() });
    }

    /// True if no check failed.
    pub fn fine(&self) -> bool {
        self.checks.iter().all(|c| c.ok != Some(false))
    }
}

/// Runs all checks. `folders` are those that the nodes should share with this machine; `setup` is
/// an experiment that any node can set up.
pub fn doctor(
    place: &ExecutionPlace,
    exe: &Path,
    state_dir: &Path,
    folders: &[PathBuf],
    setup: &Setup,
) -> ClusterReport {
    let mut report = ClusterReport { checks: Vec::new() };
    let version = match version() {
        Ok(version) => version,
        Err(e) => {
            report.add("commands", false, e.to_string());
            return report;
        }
    };
    report.add("commands", true, format!("Slurm {version}"));
    if !controller(&mut report) {
        return report;
    }
    munge(&mut report);
    mpi(&mut report, &place.mpi);
    if !see_nodes(&mut report, place, &version) {
        return report;
    }
    job(&mut report, place, exe, state_dir, folders, setup);
    report
}

fn controller(report: &mut ClusterReport) -> bool {
    match call("scontrol", &["ping"]) {
        Ok(output) if output.contains("UP") => {
            report.add("controller", true, output.lines().next().unwrap_or_default().trim());
            true
        }
        Ok(output) => {
            let output = output.lines().next().unwrap_or_default().trim().to_owned();
            report.add("controller", false, format!("{output}; is slurmctld running?"));
            false
        }
        Err(e) => {
            report.add("controller", false, e.to_string());
            false
        }
    }
}

fn munge(report: &mut ClusterReport) {
    let config = call("scontrol", &["show", "config"]).unwrap_or_default();
    let auth = config.lines().find_map(|l| l.trim().strip_prefix("AuthType"));
    let auth = auth.map(|a| a.trim_start_matches([' ', '=']).trim()).unwrap_or_default();
    // A site's own munged has its own socket.
    let socket = config.lines().find(|l| l.trim().starts_with("AuthInfo"));
    let socket = socket.and_then(|l| l.split("socket=").nth(1)).map(|s| s.split(',').next());
    let mut arguments = vec!["-n".to_owned()];
    arguments.extend(socket.flatten().map(|s| format!("--socket={}", s.trim())));
    match auth {
        "" => report.add("authentication", None, "the controller does not report its method"),
        "auth/munge" => match call("munge", &arguments) {
            Ok(_) => report.add("authentication", true, "munge creates credentials here"),
            Err(e) => report.add("authentication", false, format!("{e}; is munged running?")),
        },
        other => report.add("authentication", true, format!("{other} (not munge)")),
    }
}

/// Checks that `srun` supports the MPI type, which only programs over all nodes need.
fn mpi(report: &mut ClusterReport, wanted: &str) {
    let output = call("srun", &["--mpi=list"]).unwrap_or_default();
    if output.split([' ', ',', '\n', '\t']).any(|word| word == wanted) {
        report.add("mpi", true, format!("srun starts ranks with --mpi={wanted}"));
    } else {
        let what = format!("srun does not list --mpi={wanted}, which programs over all nodes need");
        report.add("mpi", None, format!("{what} (`srun --mpi=list`, `where.mpi`)"));
    }
}

fn see_nodes(report: &mut ClusterReport, place: &ExecutionPlace, version: &str) -> bool {
    let seen = match nodes(place.partition.as_deref(), None) {
        Ok(seen) => seen,
        Err(e) => {
            report.add("nodes", false, e.to_string());
            return false;
        }
    };
    let usable = seen.iter().filter(|n| n.usable()).count();
    let bad: Vec<String> = seen
        .iter()
        .filter(|n| !n.usable())
        .take(5)
        .map(|n| {
            let why = if n.reason.is_empty() { String::new() } else { format!(": {}", n.reason) };
            format!("{} is {}{why}", n.name, n.state)
        })
        .collect();
    let of = place.partition.as_ref().map_or(String::new(), |p| format!(" of partition {p}"));
    let rest = if bad.is_empty() { String::new() } else { format!("; {}", bad.join(", ")) };
    report.add(
        "nodes",
        usable >= place.nodes as usize && bad.is_empty(),
        format!("{usable} of {} nodes{of} are usable{rest}", seen.len()),
    );
    let known: Vec<_> = seen.iter().filter(|n| !n.version.is_empty()).collect();
    let other: Vec<&str> =
        known.iter().filter(|n| n.version != version).map(|n| n.name.as_str()).collect();
    match (known.is_empty(), other.is_empty()) {
        (true, _) => report.add("versions", None, "the nodes do not report their version"),
        (_, true) => report.add("versions", true, format!("every node runs Slurm {version}")),
        _ => report.add("versions", false, format!("not Slurm {version}: {}", other.join(", "))),
    }
    usable >= place.nodes as usize
}

/// A marker file that is removed on drop.
struct Mark(PathBuf);

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn job(
    report: &mut ClusterReport,
    place: &ExecutionPlace,
    exe: &Path,
    state_dir: &Path,
    folders: &[PathBuf],
    setup: &Setup,
) {
    let Ok(chance) = random_hex() else { return };
    let mut marks = Vec::new();
    for folder in folders {
        let path = folder.join(format!(".assay-doctor-{chance}"));
        if std::fs::write(&path, b"").is_ok() {
            marks.push(Mark(path));
        } else {
            report.add("shared folder", None, format!("cannot write to {}", folder.display()));
        }
    }
    let look_for = marks.iter().map(|m| m.0.clone()).collect();
    let setup = Setup { look_for, ..setup.clone() };
    let request = AgentRequest {
        place,
        exclude: &[],
        exe: crate::slurm::agent_path(place, exe),
        state_dir,
        setup: &setup,
        limit: TIMEOUT,
        interrupt: None,
    };
    let mut crew = match AgentGroup::start(&request, &mut |_| ()) {
        Ok(crew) => crew,
        Err(e) => {
            report.add("a job", false, e.to_string());
            return;
        }
    };
    let took = units::format_value(crew.took().start_ns as f64 * 1e-9, "s");
    let set_ups = crew.set_ups();
    report.add(
        "a job",
        true,
        format!(
            "job {}: {} of assay {} started and connected in {took}",
            crew.job(),
            if set_ups.len() == 1 {
                "1 agent".to_owned()
            } else {
                format!("{} agents", set_ups.len())
            },
            env!("CARGO_PKG_VERSION")
        ),
    );
    for (i, mark) in marks.iter().enumerate() {
        let folder = mark.0.parent().unwrap_or(Path::new("/")).display();
        let blind: Vec<&str> = set_ups
            .iter()
            .filter(|(_, s)| s.sees.get(i) != Some(&true))
            .map(|(n, _)| n.as_str())
            .collect();
        if blind.is_empty() {
            report.add("shared folder", true, format!("every node sees {folder}"));
        } else {
            let on = blind.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            report.add("shared folder", false, format!("{folder} is not visible on {on}"));
        }
    }
    clocks(report, &mut crew);
    alike(report, set_ups);
    let left = crew.end();
    report.add("the job's end", left.is_none(), left.unwrap_or_else(|| "nothing is left".into()));
}

/// Runs the checks of hosts that are reached by SSH. `setup` is an experiment that any host can set
/// up.
pub fn doctor_hosts(place: &ExecutionPlace, exe: &Path, setup: &Setup) -> ClusterReport {
    let mut report = ClusterReport { checks: Vec::new() };
    let mut all = Vec::new();
    for host in &place.hosts {
        let request = Connect {
            hosts: std::slice::from_ref(host),
            place,
            program: &AgentProgram::for_place(place, exe),
            setup,
            limit: TIMEOUT,
            interrupt: None,
        };
        // A program that had to be copied is part of the time.
        let mut crew = match AgentGroup::connect(&request, &mut |_| ()) {
            Ok(crew) => crew,
            Err(e) => {
                report.add(host, false, e.to_string());
                continue;
            }
        };
        let took = units::format_value(crew.took().start_ns as f64 * 1e-9, "s");
        let set_ups = crew.set_ups();
        let system = |path: &str| {
            let value = set_ups.first().and_then(|(_, s)| s.system.facts.get(path)?.value());
            value.unwrap_or("unknown").to_owned()
        };
        report.add(
            host,
            true,
            format!(
                "assay {} started in {took}; {}, Linux {}, {}",
                env!("CARGO_PKG_VERSION"),
                system("host.name"),
                system("kernel.release"),
                system("cpu.model")
            ),
        );
        clocks(&mut report, &mut crew);
        let seen = set_ups.iter().flat_map(|(_, s)| &s.fitness).cloned().collect::<Vec<_>>();
        for finding in assay_checks::judge_observations(&seen) {
            let ok = (finding.severity >= Severity::Warning).then_some(false);
            report.add("fitness", ok, format!("{}: {}", finding.id, finding.message));
        }
        all.extend(set_ups);
        if let Some(left) = crew.end() {
            report.add("the agent's end", false, left);
        }
    }
    if all.len() > 1 {
        alike(&mut report, all);
    }
    report
}

fn alike(report: &mut ClusterReport, set_ups: Vec<(String, SetUp)>) {
    let systems: Vec<_> = set_ups.into_iter().map(|(n, s)| (n, s.system)).collect();
    let described = describe(&systems, &[]);
    match assay_checks::judge_observations(&described.seen).first() {
        None => report.add("alike", true, "hardware, kernel and settings are the same"),
        Some(finding) => report.add("alike", false, finding.message.clone()),
    }
}

fn clocks(report: &mut ClusterReport, crew: &mut AgentGroup) {
    let looks = match crew.clocks() {
        Ok(looks) => looks,
        Err(e) => return report.add("clocks", false, e.to_string()),
    };
    let time = |ns: u64| units::format_value(ns as f64 * 1e-9, "s");
    let trip = looks.iter().map(|(_, l)| 2 * l.error_ns).max().unwrap_or(0);
    let worst = looks.iter().max_by_key(|(_, l)| l.day_offset_ns.unsigned_abs());
    let Some((node, look)) = worst else { return };
    let off = look.day_offset_ns.unsigned_abs();
    report.add(
        "clocks",
        off <= DAY_BOUND_NS,
        format!(
            "round trips take at most {}; the clock of {node} has the largest offset: {} ± {}",
            time(trip),
            time(off),
            time(look.error_ns)
        ),
    );
}
