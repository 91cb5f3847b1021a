//! The parameters of a treatment, declared and as types.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use assay_environment::cpulist;
use assay_model::{Scalar, units};
use assay_sut::Sched;

use super::schedule::Lengths;
use crate::WorkloadError;
use crate::copies::Nodes;
use crate::declare::{
    argv, int, one_of, or_none, params, parsed, path, size, text, time, word, wrong,
};

/// The faults that can be asked for, and the word of the kit.
pub const FAULTS: [(&str, &str); 7] = [
    ("none", ""),
    ("money", "MONEY"),
    ("stock", "STOCK"),
    ("orders", "ORDERS"),
    ("memory", "MEMORY"),
    ("exit", "EXIT"),
    ("hang", "HANG"),
];

/// Which CPUs the instances have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cpus {
    /// An even split of the trial's.
    Auto,
    /// All of the trial's, bound to none.
    Any,
    /// These, a list for each instance.
    These(Vec<Vec<usize>>),
}

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Params {
        /// Virtual machines at once; each has its own CPUs and its own warehouses.
        instances: usize = int(1, 1024), 1;
        /// The `java` to run; empty: the one on PATH.
        jvm: String = text(), "";
        /// The heap of each, least and most alike; 0: 256 MiB and 64 MiB for each warehouse of the last point.
        heap: Option<u64> = or_none(size()), "0 B";
        /// The garbage collector.
        collector: String = word(&["default", "g1", "parallel", "serial", "zgc", "shenandoah"]), "default";
        /// What holds the heap: `transparent` asks for transparent huge pages, `reserved` for those of the
        /// control `hugepages`.
        pages: String = word(&["default", "transparent", "reserved"]), "default";
        /// More options of the virtual machine, such as `-XX:+UseNUMA`.
        options: Vec<OsString> = argv(), "";
        /// The CPUs of the instances: `auto` splits the trial's evenly, `any` binds none, or a list each,
        /// separated by blanks: `0-3 4-7`.
        cpus: Cpus = parsed(cpus), "auto";
        /// The NUMA nodes of the instances: `any` sets none, `each` deals them out evenly, each with CPUs and memory
        /// of its node alone, or a node for each, separated by blanks, which its memory comes from: `0 1`.
        nodes: Nodes = parsed(nodes), "any";
        /// The scheduling class of the instances: other, batch, idle, fifo:1 to fifo:99, rr:1 to rr:99; empty:
        /// the trial's.
        class: Option<Sched> = parsed(class), "";
        /// A jar of the kit to run in place of the one that assay compiles.
        jar: Option<PathBuf> = or_none(path()), "";
        /// New orders, payments, order statuses, deliveries, stock levels and customer reports: `intended`
        /// 10:10:1:1:1:10, `effective` 14.5:10:1:1:1:5.5.
        mix: String = word(&["effective", "intended"]), "effective";
        /// The same seed makes the same data.
        seed: u64 = int(1, i64::MAX), 1;
        /// The seed of the transactions; 0: drawn anew for every trial, and noted.
        stream: Option<u64> = or_none(int(0, i64::MAX)), 0;
        /// Breaks something on purpose in the second point of the last instance, to see that it is noticed.
        fault: &'static str = one_of(&FAULTS), "none";
        /// How long points are: `rules` 30 s below the expected peak and 240 s from it on; `quick` is short,
        /// and not compliant with the rule pack.
        profile: String = word(&["quick", "rules"]), "quick";
        /// The expected peak N in warehouses of an instance; 0: the processors that the virtual machine
        /// reports.
        peak: Option<u32> = or_none(int(0, 4096)), 0;
        /// Why the expected peak is set by hand.
        peak_reason as "peak.reason": String = text(), "";
        /// Points go to 2N, and to this at least; fewer than 8 are not compliant.
        least_points: u32 = int(1, 4096), 8;
        /// The length of points below N, in place of the profile's.
        below: Option<Duration> = parsed(length), "";
        /// The length of points from N on, in place of the profile's.
        scored: Option<Duration> = parsed(length), "";
        /// The ramp-up of a point, in place of the profile's.
        ramp_up: Option<Duration> = parsed(length), "";
        /// The ramp-down of a point, in place of the profile's.
        ramp_down: Option<Duration> = parsed(length), "";
        /// How long an instance may take longer than planned until it is given up.
        barrier: Duration = time(), "60 s";
    }
}

fn cpus(text: &str) -> Result<Cpus, String> {
    match text {
        "auto" => return Ok(Cpus::Auto),
        "any" => return Ok(Cpus::Any),
        _ => {}
    }
    let lists: Result<Vec<_>, _> = text.split_whitespace().map(cpulist::parse).collect();
    lists.map(Cpus::These).map_err(|e| format!("it takes `auto`, `any` or lists: {e}"))
}

fn nodes(text: &str) -> Result<Nodes, String> {
    match text {
        "any" => return Ok(Nodes::Any),
        "each" => return Ok(Nodes::Each),
        _ => {}
    }
    let list: Result<Vec<usize>, _> = text.split_whitespace().map(str::parse).collect();
    match list {
        Ok(list) if !list.is_empty() => Ok(Nodes::These(list)),
        _ => Err("it takes `any`, `each` or a node for each instance, such as `0 1`".to_owned()),
    }
}

fn class(text: &str) -> Result<Option<Sched>, String> {
    let class = (!text.is_empty()).then(|| text.parse::<Sched>()).transpose();
    class.map_err(|e| format!("{e}; it takes other, batch, idle, fifo:1, rr:1"))
}

/// `None`: that of the profile.
fn length(text: &str) -> Result<Option<Duration>, String> {
    let length = (!text.is_empty()).then(|| units::duration_of(&Scalar::from(text)));
    length.transpose().map_err(|e| e.to_string())
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = Params::read(map)?;
        let instances = params.instances;
        if let Cpus::These(lists) = &params.cpus
            && lists.len() != instances
        {
            return Err(wrong(format!(
                "`cpus` has {} lists and there are {instances} instances; give each its own, separated by blanks",
                lists.len()
            )));
        }
        if let Nodes::These(list) = &params.nodes
            && list.len() != instances
        {
            return Err(wrong(format!(
                "`nodes` has {} nodes and there are {instances} instances; give each its own, separated by blanks",
                list.len()
            )));
        }
        if params.heap.is_some_and(|heap| heap < 2 << 20) {
            return Err(wrong("`heap` is below 2 MiB, which no virtual machine starts with"));
        }
        let lengths = params.lengths();
        if lengths.below.is_zero() || lengths.scored.is_zero() {
            return Err(wrong("`below` and `scored` must be longer than 0 s"));
        }
        if let Some(jar) = params.jar.as_ref().filter(|jar| !jar.exists()) {
            return Err(wrong(format!("`jar`: there is no file {}", jar.display())));
        }
        Ok(params)
    }

    /// How long points are.
    pub fn lengths(&self) -> Lengths {
        let of = Lengths::of(&self.profile);
        Lengths {
            below: self.below.unwrap_or(of.below),
            scored: self.scored.unwrap_or(of.scored),
            beyond: of.beyond,
            ramp_up: self.ramp_up.unwrap_or(of.ramp_up),
            ramp_down: self.ramp_down.unwrap_or(of.ramp_down),
        }
    }
}
