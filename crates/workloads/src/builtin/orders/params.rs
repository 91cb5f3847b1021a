//! Parameters of a treatment: their declaration and their types.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use assay_model::environment::cpulist;
use assay_model::{Scalar, units};
use assay_system::Sched;

use crate::WorkloadError;
use crate::builtin::orders::schedule::Lengths;
use crate::declare::{
    argv, flag, int, number, one_of, or_none, params, parsed, path, size, text, time, word, wrong,
};
use crate::driver::copies::Nodes;

/// Faults that can be injected: the value of `fault`, and its name in the kit.
pub const FAULTS: [(&str, &str); 7] = [
    ("none", ""),
    ("money", "MONEY"),
    ("stock", "STOCK"),
    ("orders", "ORDERS"),
    ("memory", "MEMORY"),
    ("exit", "EXIT"),
    ("hang", "HANG"),
];

/// CPUs of the instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cpus {
    /// An even split of the trial's CPUs.
    Auto,
    /// All CPUs of the trial, without binding.
    Any,
    /// An explicit list for each instance.
    These(Vec<Vec<usize>>),
}

/// A bound on a percentile of the response times.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The quantile, above 0 and below 1.
    pub quantile: f64,
    /// Maximum of the response time at that quantile.
    pub most: Duration,
    /// Both as the user wrote them.
    pub text: String,
}

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct OrdersParams {
        /// Number of virtual machines that run at the same time; each has its own CPUs and its own
        /// warehouses.
        instances: usize = int(1, 1024), 1;
        /// Path of `java`; empty: the one on PATH.
        jvm: String = text(), "";
        /// Heap of each instance, as minimum and maximum; 0: 256 MiB plus 64 MiB for each warehouse
        /// of the last point.
        heap: Option<u64> = or_none(size()), "0 B";
        /// Garbage collector of the virtual machine.
        collector: String =
            word(&["default", "g1", "parallel", "serial", "zgc", "shenandoah"]), "default";
        /// Pages that back the heap: `transparent` requests transparent huge pages, `reserved`
        /// those of the control `hugepages`.
        pages: String = word(&["default", "transparent", "reserved"]), "default";
        /// More options of the virtual machine, such as `-XX:+UseNUMA`.
        options: Vec<OsString> = argv(), "";
        /// CPUs of the instances: `auto` splits the trial's evenly, `any` binds none, or a list for
        /// each instance, separated by blanks: `0-3 4-7`.
        cpus: Cpus = parsed(cpus), "auto";
        /// NUMA nodes of the instances: `any` assigns none; `each` distributes the instances evenly
        /// over the nodes, each with CPUs and memory only of its node; or a node for the memory of
        /// each instance, separated by blanks: `0 1`.
        nodes: Nodes = parsed(nodes), "any";
        /// Scheduling class of the instances: other, batch, idle, fifo:1 to fifo:99, rr:1 to rr:99;
        /// empty: that of the trial.
        class: Option<Sched> = parsed(class), "";
        /// Jar of the kit to run instead of the classes that assay compiles.
        jar: Option<PathBuf> = or_none(path()), "";
        /// Ratio of new orders, payments, order statuses, deliveries, stock levels and customer
        /// reports: `intended` is 10:10:1:1:1:10, `effective` is 14.5:10:1:1:1:5.5.
        mix: String = word(&["effective", "intended"]), "effective";
        /// Seed of the data; the same seed makes the same data.
        seed: u64 = int(1, i64::MAX), 1;
        /// Seed of the transactions; 0: a new one is drawn for every trial and recorded.
        stream: Option<u64> = or_none(int(0, i64::MAX)), 0;
        /// Fault to inject in the second point of the last instance, or in the last point under a
        /// rate, to test that it is detected.
        fault: &'static str = one_of(&FAULTS), "none";
        /// Transactions per second over all instances, each due at a time of its own: response
        /// times count from then, whether or not earlier ones are done. There is one point, at N
        /// warehouses. With `search` the first rate to try; 0 without it: each thread begins a
        /// transaction when its last one is done.
        rate: f64 = number(0.0, 1e7), Scalar::Float(0.0);
        /// Distribution of the distances between transactions under a rate; drawn from `stream`.
        even as "spacing": bool = one_of(&[("exponential", false), ("even", true)]), "exponential";
        /// Transactions that may wait for a warehouse under a rate; one more is refused, and counts
        /// as longer than any.
        queue: u32 = int(1, 1 << 24), 65_536;
        /// Bound on a percentile of the response times under a rate, such as `p99<=50ms`.
        limit: Option<Limit> = parsed(limit), "";
        /// Search for the highest rate that keeps `limit`, and measure it once more.
        search: bool = flag(), Scalar::Bool(false);
        /// Relative difference between the highest rate that kept `limit` and the lowest that broke
        /// it below which the search ends.
        precision: f64 = number(0.001, 1.0), Scalar::Float(0.05);
        /// Length of the points: `rules` takes 30 s below the expected peak and 240 s from it on;
        /// `quick` is short, and does not comply with the rule pack.
        profile: String = word(&["quick", "rules"]), "quick";
        /// Expected peak N in warehouses per instance, and their number under a rate; 0: the number
        /// of processors that the virtual machine reports.
        peak: Option<u32> = or_none(int(0, 4096)), 0;
        /// Reason for setting the expected peak by hand.
        peak_reason as "peak.reason": String = text(), "";
        /// Minimum number of points; they go up to 2N in any case. Fewer than 8 do not comply with
        /// the rule pack.
        least_points: u32 = int(1, 4096), 8;
        /// Length of points below N; overrides the profile's.
        below: Option<Duration> = parsed(length), "";
        /// Length of points from N on; overrides the profile's.
        scored: Option<Duration> = parsed(length), "";
        /// Ramp-up of a point; overrides the profile's.
        ramp_up: Option<Duration> = parsed(length), "";
        /// Ramp-down of a point; overrides the profile's.
        ramp_down: Option<Duration> = parsed(length), "";
        /// Time beyond the plan after which a late instance is given up.
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

fn limit(text: &str) -> Result<Option<Limit>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let read = || {
        let (percent, most) = text.strip_prefix('p')?.split_once("<=")?;
        let quantile = percent.trim().parse::<f64>().ok()? / 100.0;
        let most = units::duration_of(&Scalar::from(most.trim())).ok()?;
        let sound = quantile > 0.0 && quantile < 1.0 && !most.is_zero();
        sound.then(|| Limit { quantile, most, text: text.to_owned() })
    };
    read().map(Some).ok_or_else(|| format!("`{text}`; it takes a percentile, such as p99<=50ms"))
}

fn class(text: &str) -> Result<Option<Sched>, String> {
    let class = (!text.is_empty()).then(|| text.parse::<Sched>()).transpose();
    class.map_err(|e| format!("{e}; it takes other, batch, idle, fifo:1, rr:1"))
}

/// Parses a duration; `None` (empty) selects the profile's.
fn length(text: &str) -> Result<Option<Duration>, units::UnitError> {
    (!text.is_empty()).then(|| units::duration_of(&Scalar::from(text))).transpose()
}

impl OrdersParams {
    /// Reads the parameters of a treatment and checks that they are consistent.
    ///
    /// # Errors
    /// [`WorkloadError::Param`] with a remedy: a value or a combination of values is invalid.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = OrdersParams::read(map)?;
        let instances = params.instances;
        if let Cpus::These(lists) = &params.cpus
            && lists.len() != instances
        {
            return Err(wrong(format!(
                "`cpus` has {} lists and there are {instances} instances; give each its own, \
                separated by blanks",
                lists.len()
            )));
        }
        if let Nodes::These(list) = &params.nodes
            && list.len() != instances
        {
            return Err(wrong(format!(
                "`nodes` has {} nodes and there are {instances} instances; give each its own, \
                separated by blanks",
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
        if params.search != params.limit.is_some() && (params.search || params.rate == 0.0) {
            return Err(wrong(
                "`search = true` needs a `limit`, such as p99<=50ms, and `limit` needs `search = \
                 true` or a `rate`",
            ));
        }
        if let Some(jar) = params.jar.as_ref().filter(|jar| !jar.exists()) {
            return Err(wrong(format!("`jar`: there is no file {}", jar.display())));
        }
        Ok(params)
    }

    /// True if transactions are due at a rate.
    pub fn under_rate(&self) -> bool {
        self.search || self.rate > 0.0
    }

    /// Returns the lengths of the points.
    pub fn lengths(&self) -> Lengths {
        let mut of = Lengths::for_profile(match (self.profile.as_str(), self.search) {
            ("quick", true) => "search",
            ("quick", false) if self.rate > 0.0 => "rate",
            (profile, _) => profile,
        });
        if let Some(limit) = &self.limit {
            // Responses that keep the limit arrive before the end.
            of.ramp_down = of.ramp_down.max(2 * limit.most);
        }
        Lengths {
            below: self.below.unwrap_or(of.below),
            scored: self.scored.unwrap_or(of.scored),
            beyond: of.beyond,
            ramp_up: self.ramp_up.unwrap_or(of.ramp_up),
            ramp_down: self.ramp_down.unwrap_or(of.ramp_down),
        }
    }
}
