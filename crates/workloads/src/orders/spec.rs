//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, ParamSpec, ParamType, WorkloadSpec};

use crate::rows::{choice, int, metric, param};

use super::params::FAULTS;

/// The name of the primary metric and of its curve, which is also its unit.
pub const SCORE: &str = "orders/s";
/// The score over the instances.
pub const EACH: &str = "orders/s per instance";

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: super::NAME.into(),
        help: "The middle tier of a wholesale supplier in Java, in one or many virtual machines: rising numbers of \
               warehouses, one thread each, and a score over those from the expected peak on."
            .into(),
        params: [machines(), load(), points()].concat(),
        metrics: metrics(),
        suite: None,
    }
}

fn machines() -> Vec<ParamSpec> {
    let text = || ParamType::Text;
    vec![
        param(
            "instances",
            int(1, 1024),
            1,
            "Virtual machines at once; each has its own CPUs and its own warehouses.",
        ),
        param("jvm", text(), "", "The `java` to run; empty: the one on PATH."),
        param(
            "heap",
            ParamType::Bytes,
            "0 B",
            "The heap of each, least and most alike; 0: 256 MiB and 64 MiB for each warehouse of the last point.",
        ),
        param(
            "collector",
            choice(&["default", "g1", "parallel", "serial", "zgc", "shenandoah"]),
            "default",
            "The garbage collector.",
        ),
        param(
            "pages",
            choice(&["default", "transparent", "reserved"]),
            "default",
            "What holds the heap: `transparent` asks for transparent huge pages, `reserved` for those of \
             the control `hugepages`.",
        ),
        param(
            "options",
            text(),
            "",
            "More options of the virtual machine, such as `-XX:+UseNUMA`.",
        ),
        param(
            "cpus",
            text(),
            "auto",
            "The CPUs of the instances: `auto` splits the trial's evenly, `any` binds none, or a list each, \
             separated by blanks: `0-3 4-7`.",
        ),
        param(
            "class",
            text(),
            "",
            "The scheduling class of the instances: other, batch, idle, fifo:1 to fifo:99, rr:1 to rr:99; empty: \
             the trial's.",
        ),
        param(
            "jar",
            text(),
            "",
            "A jar of the kit to run in place of the one that assay compiles.",
        ),
    ]
}

fn load() -> Vec<ParamSpec> {
    vec![
        param(
            "mix",
            choice(&["effective", "intended"]),
            "effective",
            "New orders, payments, order statuses, deliveries, stock levels and customer reports: `intended` \
             10:10:1:1:1:10, `effective` 14.5:10:1:1:1:5.5.",
        ),
        param("seed", int(1, i64::MAX), 1, "The same seed makes the same data."),
        param(
            "stream",
            int(0, i64::MAX),
            0,
            "The seed of the transactions; 0: drawn anew for every trial, and noted.",
        ),
        param(
            "fault",
            choice(&FAULTS.map(|f| f.0)),
            "none",
            "Breaks something on purpose in the second point of the last instance, to see that it is noticed.",
        ),
    ]
}

fn points() -> Vec<ParamSpec> {
    let text = || ParamType::Text;
    vec![
        param(
            "profile",
            choice(&["quick", "rules"]),
            "quick",
            "How long points are: `rules` 30 s below the expected peak and 240 s from it on; `quick` is short, and \
             not compliant with the rule pack.",
        ),
        param(
            "peak",
            int(0, 4096),
            0,
            "The expected peak N in warehouses of an instance; 0: the processors that the virtual machine reports.",
        ),
        param("peak.reason", text(), "", "Why the expected peak is set by hand."),
        param(
            "least_points",
            int(1, 4096),
            8,
            "Points go to 2N, and to this at least; fewer than 8 are not compliant.",
        ),
        param("below", text(), "", "The length of points below N, in place of the profile's."),
        param("scored", text(), "", "The length of points from N on, in place of the profile's."),
        param("ramp_up", text(), "", "The ramp-up of a point, in place of the profile's."),
        param("ramp_down", text(), "", "The ramp-down of a point, in place of the profile's."),
        param(
            "barrier",
            ParamType::Duration,
            "60 s",
            "How long an instance may take longer than planned until it is given up.",
        ),
    ]
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Higher, Lower, Neither};
    use Kind::{Derived, Measured};
    vec![
        metric(
            SCORE,
            SCORE,
            Higher,
            Measured,
            "The score: transactions of all kinds a second, summed over the instances, and the mean over the points of N \
             to 2N warehouses.",
        ),
        metric(EACH, SCORE, Higher, Derived, "The score over the instances."),
        metric("peak", SCORE, Higher, Measured, "The best point of all, scored or not."),
        metric(
            "peak_warehouses",
            "1",
            Neither,
            Measured,
            "Warehouses of an instance at that point.",
        ),
        metric(
            "response_mean",
            "s",
            Lower,
            Measured,
            "Mean time of a new order over the scored points.",
        ),
        metric(
            "response_max",
            "s",
            Lower,
            Measured,
            "The longest transaction of the scored points.",
        ),
        metric(
            "collection_share",
            "1",
            Lower,
            Measured,
            "Time that the collectors report over the time of the scored points with their ramps, mean of the instances.",
        ),
        metric(
            "heap_used",
            "B",
            Lower,
            Measured,
            "The largest heap in use of an instance at the end of a point, garbage included.",
        ),
        metric(
            "resident",
            "B",
            Lower,
            Measured,
            "The sum of the instances' largest resident sets; missing where it cannot be read.",
        ),
        metric(
            "huge_share",
            "1",
            Neither,
            Measured,
            "The share of the resident memory that huge pages hold at the end; missing likewise.",
        ),
        metric(
            "thread_spread",
            "1",
            Lower,
            Measured,
            "The most of a thread less the least, over the most: the largest of the scored points.",
        ),
        metric(
            "start_spread",
            "s",
            Lower,
            Measured,
            "How far apart instances began a point, at most; 0 for one.",
        ),
        metric("stop_spread", "s", Lower, Measured, "How far apart they stopped, likewise."),
        metric(
            "pause",
            "s",
            Lower,
            Measured,
            "The longest time from the end of a point to the begin of the next one.",
        ),
        metric(
            "controller_busy",
            "1",
            Lower,
            Measured,
            "The share of a CPU that the process used which drives the instances, over the scored points.",
        ),
    ]
}
