//! Rows F16 to F26: workload and measurement.

use assay_model::{CheckRow, CheckSection};

use super::{I, NW, W};

pub const SAME_WORK: CheckRow = CheckRow {
    id: "F16",
    name: "same-work",
    section: CheckSection::Workload,
    severity: I,
    escalation: "a warning at the bench for a parameter of the workload",
    needs: "input, parameters, seed, request mix, operations done, state of the caches at the start",
    fires: "one of them differs between treatments undeclared; operations by more than 0.1 % under equal work",
    why: "less work takes less time",
    remedy: "give the treatments the same input, seed and mix, and start them from the same state",
    source: "Hoefler and Belli rule 9",
    evidence: "the plan's parameters; built-in workloads report operations, errors, seed and mix, a load its answers, other programs one run",
};

pub const OUTPUT_VERIFIED: CheckRow = CheckRow {
    id: "F17",
    name: "output-verified",
    section: CheckSection::Workload,
    severity: I,
    escalation: "a note at the bench, a warning when published, when the output was not checked beyond the exit code",
    needs: "what validation found, errors and retries among the counted operations",
    fires: "an output is wrong, operations failed, or nothing was checked",
    why: "a number from a wrong answer does not count",
    remedy: "a number from a wrong answer does not count; find out why",
    source: "MLPerf submission rules; SPEC; Gregg",
    evidence: "the workload's validation of every trial; a load reports its wrong answers",
};

pub const TRAIN_TEST_SPLIT: CheckRow = CheckRow {
    id: "F18",
    name: "train-test-split",
    section: CheckSection::Workload,
    severity: W,
    escalation: "",
    needs: "the inputs used for feedback-directed optimisation or tuning, and the measured ones",
    fires: "a treatment was tuned on the input it is measured on",
    why: "it then measures how well it remembers",
    remedy: "tune on other data than is measured",
    source: "van der Kouwe et al. 2018; Heiser C3",
    evidence: "the parameters `feedback` and `size` of a kit that is built with feedback",
};

pub const SUITE_COMPLETE: CheckRow = CheckRow {
    id: "F19",
    name: "suite-complete",
    section: CheckSection::Workload,
    severity: W,
    escalation: "invalid when the treatments' means cover different members",
    needs: "the suite's manifest, every member's result, reasons for missing ones",
    fires: "a member is missing without a reason",
    why: "the members that hurt are the ones left out",
    remedy: "run every member, or exclude those that one treatment lacks from all means and state it",
    source: "golang/go#57648; Heiser A2",
    evidence: "the members of a suite and their results",
};

pub const LIMITER_KNOWN: CheckRow = CheckRow {
    id: "F21",
    name: "limiter-known",
    section: CheckSection::Workload,
    severity: NW,
    escalation: "invalid when a result exceeds a physical ceiling",
    needs: "a statement of what limits each treatment, results beside physical ceilings",
    fires: "there is no such statement",
    why: "who does not know what stops it from being twice as fast does not know what was measured",
    remedy: "check CPU, memory, disk and network during the run and state which is saturated",
    source: "Gregg 2018; Hoefler and Belli rule 11",
    evidence: "the load generator of a workload, else the CPU time of the trials; the probe of the control `storage`",
};

pub const GENERATOR_NOT_LIMIT: CheckRow = CheckRow {
    id: "F22",
    name: "generator-not-limit",
    section: CheckSection::Workload,
    severity: I,
    escalation: "",
    needs: "the load generator's CPU and network use, its pinning and configuration, per treatment",
    fires: "it used more than 80 % of its CPUs or network, shared CPUs unpinned, or differed between treatments",
    why: "then the generator is measured",
    remedy: "give the generator more or other machines, pin it apart, and load all treatments alike",
    source: "client-side bias in load tests (arXiv 2410.11554)",
    evidence: "the load generator of a workload reports its threads' CPU time; the plan has its CPUs",
};

pub const COORDINATED_OMISSION: CheckRow = CheckRow {
    id: "F23",
    name: "coordinated-omission",
    section: CheckSection::Workload,
    severity: I,
    escalation: "",
    needs: "open or closed loop, what the percentile is stated as, whether slips of the schedule are charged",
    fires: "a closed loop's percentile is stated as what arrivals see, or slips are not charged to latency",
    why: "a client that waits out a stall never measures it",
    remedy: "send on a schedule and count latency from the intended start, or call it service time",
    source: "Tene, How NOT to measure latency; HdrHistogram documentation",
    evidence: "a histogram carries the loop it was measured in; importers of fio and memtier_benchmark read whether a rate was set",
};

pub const PERCENTILE_SUPPORT: CheckRow = CheckRow {
    id: "F24",
    name: "percentile-support",
    section: CheckSection::Workload,
    severity: I,
    escalation: "a warning for a mean of percentiles that programs computed, which cannot be \
                 merged",
    needs: "independent samples behind each percentile, and how trials were merged",
    fires: "fewer than 10 samples lie beyond it, or percentiles of trials were averaged",
    why: "a tail of three samples is luck, and the mean of two p99 is the p99 of nothing",
    remedy: "measure longer, state a lower percentile, merge histograms",
    source: "Tene; HdrHistogram documentation",
    evidence: "the merged histograms of the run; metrics that are percentiles (`p99`, `latency.p99.9`) of trials without a histogram",
};

pub const STEADY_STATE: CheckRow = CheckRow {
    id: "F25",
    name: "steady-state",
    section: CheckSection::Workload,
    severity: W,
    escalation: "invalid when a claim about peak performance includes a trial that never settled",
    needs: "at least 100 samples inside each trial, in order of time",
    fires: "more than 10 % of the trials never reach a steady state",
    why: "a mean over a series that never settles depends on where it was cut",
    remedy: "run longer, or report the whole series",
    source: "Barrett et al. 2017; Traini et al. 2022",
    evidence: "a load generator reports how the series of its throughput went; of another program the series of its own samples of the deciding metric",
};

pub const WARM_UP_EQUAL: CheckRow = CheckRow {
    id: "F26",
    name: "warm-up-equal",
    section: CheckSection::Workload,
    severity: NW,
    escalation: "",
    needs: "the warm-up rule of each treatment",
    fires: "treatments used different rules, or a fixed count was not tested",
    why: "a warm-up that is assumed is too short for one treatment and too long for the other",
    remedy: "use one rule for all treatments, and test that it suffices",
    source: "Traini et al. 2022; Georges et al. 2007",
    evidence: "the design of the experiment (`warmup_blocks`)",
};
