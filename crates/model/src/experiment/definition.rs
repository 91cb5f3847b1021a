//! The experiment file: a TOML file that declares what to run and compare. Unknown keys are errors.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, ExecutionPlace, Scalar};

/// An experiment: a workload with fixed parameters, factors, a design and observers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Version of the file format; absent means 1.
    #[serde(default = "one")]
    pub schema_version: u32,
    /// A short name: lower-case letters, digits, `-` and `.`.
    pub name: String,
    /// One sentence: the question that the experiment answers.
    #[serde(default)]
    pub title: String,
    /// Description of the method for readers, as paragraphs of plain text; shown on the page.
    #[serde(default)]
    pub description: String,
    /// The workload: a built-in one, or the name or folder of a kit.
    pub workload: String,
    /// Tags by which the run can be found.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Fixed parameters of the workload.
    #[serde(default)]
    pub params: BTreeMap<String, Scalar>,
    /// Reader of a suite's output: the parameters `reader` and `result_file` of `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<SuiteOutput>,
    /// Fixed settings of controls, by control (`cpus`, `sched`, `sysctl.vm.swappiness`,
    /// `env.NAME`).
    #[serde(default)]
    pub controls: BTreeMap<String, Scalar>,
    /// The repository whose revisions are the levels of the factor `rev`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRepository>,
    /// Factors: the name of a parameter, or `controls.NAME`, and its levels; with [source] also
    /// `rev`, a list of revisions, ranges (`v1..main`, `v1..main:10` for every tenth) and
    /// `worktree`.
    #[serde(default)]
    pub factors: BTreeMap<String, FactorLevels>,
    /// Arrangement of the trials.
    #[serde(default)]
    pub design: Design,
    /// Place where the trials run.
    #[serde(default, rename = "where", skip_serializing_if = "ExecutionPlace::is_default")]
    pub place: ExecutionPlace,
    /// Monitors and tracers that run with the trials.
    #[serde(default)]
    pub observe: Observe,
    /// Comparison of the treatments.
    #[serde(default)]
    pub compare: Compare,
    /// Requirements on the machine before trials start.
    #[serde(default)]
    pub fitness: Fitness,
    /// Calls on events of the experiment's history. Runs do not record them, because the address of
    /// a webhook may be secret.
    #[serde(default, skip_serializing)]
    pub on: Hooks,
}

fn one() -> u32 {
    1
}

/// Output of a benchmark suite, as in a kit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteOutput {
    /// The tool whose output has the benchmarks, such as `go-bench`; `auto` recognizes it.
    pub reader: String,
    /// The file that the tool writes in each trial; if absent, its standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A repository whose revisions are compared: each is checked out in a folder of its own, built
/// once, and passed to the workload as its parameter `folder`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SourceRepository {
    /// Folder of the git repository; a relative path starts at the folder where assay is started.
    pub repo: String,
    /// Shell command that builds a revision, run in its folder; if empty, nothing is built.
    pub build: String,
    /// Number of builds of each revision [default: 1]; its trials alternate between the builds, and
    /// builds are the units of the comparison. The command finds the number of the build, from 1,
    /// in `ASSAY_BUILD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builds: Option<u32>,
    /// Time limit of a build (a duration); a build that takes longer has failed.
    pub timeout: Scalar,
    /// Maximum size of all kept builds (a size); the least recently used ones are removed.
    pub cache: Scalar,
}

impl Default for SourceRepository {
    fn default() -> Self {
        SourceRepository {
            repo: ".".into(),
            build: String::new(),
            builds: None,
            timeout: Scalar::Text("30 min".into()),
            cache: Scalar::Text("10 GiB".into()),
        }
    }
}

/// The levels of a factor: a list, or a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected levels such as [1, 2], or a range such as { from = 1, to = \"cpus\" }"
)]
pub enum FactorLevels {
    /// List of the levels.
    List(Vec<FactorLevel>),
    /// Range of levels: `{ from = 1, to = "cpus" }`, `{ from = 1, to = 64, times = 2 }`.
    Range {
        /// First level of the range.
        from: i64,
        /// Last level, which is always included and never exceeded: a number, or `cpus` for the
        /// number of CPUs that assay may use on this machine.
        to: Scalar,
        /// Difference between neighbouring levels; 1 when neither `step` nor `times` is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<i64>,
        /// Ratio between neighbouring levels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        times: Option<i64>,
    },
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a boolean, a number, a text, or a level with a label: \
        { label = \"btrfs\", value = \"loop:btrfs\" }"
)]
pub enum FactorLevel {
    /// A value, which is also the level's name.
    Plain(Scalar),
    /// A value with a label for tables, charts and posts.
    Labelled(Labelled),
}

/// A level that has a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Labelled {
    /// Label of the level in tables, charts and posts.
    pub label: String,
    /// Value of the level.
    pub value: Scalar,
}

impl FactorLevel {
    pub fn value(&self) -> &Scalar {
        match self {
            FactorLevel::Plain(value) => value,
            FactorLevel::Labelled(level) => &level.value,
        }
    }

    /// Returns the level's label, if the experiment gives one.
    pub fn label(&self) -> Option<&str> {
        match self {
            FactorLevel::Plain(_) => None,
            FactorLevel::Labelled(level) => Some(&level.label),
        }
    }
}

impl<T: Into<Scalar>> From<T> for FactorLevel {
    fn from(value: T) -> Self {
        FactorLevel::Plain(value.into())
    }
}

/// The order of trials within a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Shuffled within each block; the seed is recorded.
    #[default]
    Random,
    /// Alternating direction: forward in one block and backward in the next (ABBA).
    Abba,
    /// The same order in every block. Drift within a block is then confounded with the treatment.
    Sequential,
    /// Unknown order, which cannot be requested: the trials were imported from a file that does not
    /// record in which order they ran. Treatments are compared as independent samples.
    Unknown,
}

/// Rule by which a run stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Stop after `blocks` blocks.
    #[default]
    Fixed,
    /// Stop as soon as the answer is clear, by group-sequential looks at 6, 9, 13, 19, 28 and 42
    /// blocks with Pocock's limits (nominal alpha 0.0142 each); `blocks` is then ignored.
    Clear,
}

/// Pattern of levels by factor name, to exclude treatments or to name a baseline. A factor that is
/// not named matches every level.
pub type TreatmentPattern = BTreeMap<String, Scalar>;

/// Arrangement of the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Design {
    /// Number of blocks. Each block holds one trial of every treatment (with `group_by`, of every
    /// treatment in its group). Absent: 10, or for short commands the number that fills about 1 s
    /// each; it is fixed after the first block and before its result is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// Number of blocks at the start that are run and recorded but not compared.
    pub warmup_blocks: u32,
    /// Additional warm-up blocks before `warmup_blocks`, each with parameters that replace those of
    /// every treatment (`warmups = [{ size = "test" }, { size = "train" }]`). Their output is
    /// validated like any other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warmups: Vec<BTreeMap<String, Scalar>>,
    /// The order of trials within a block.
    pub order: Order,
    /// A factor that is expensive to change, or whose levels must not be mixed by a rule: all
    /// trials of its first level run, in blocks of their own, before those of the next. Levels are
    /// then compared as independent samples, and drift of the machine counts as a difference
    /// between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// Seed of the shuffles; if absent, it is drawn at random and recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Rule by which the run stops.
    pub stop: Stop,
    /// Groups of factors whose levels are paired in order instead of crossed.
    pub zip: Vec<Vec<String>>,
    /// Combinations of levels that are excluded.
    pub exclude: Vec<TreatmentPattern>,
    /// Time after which no trial starts (a duration).
    pub max_time: Scalar,
    /// Maximum number of trials.
    pub max_trials: u32,
    /// Time limit of a trial (a duration); a trial that exceeds it is killed with its process
    /// group.
    pub timeout: Scalar,
    /// Number of failed trials after which a treatment is given up while the others continue; 0:
    /// never.
    pub max_failures: u32,
}

impl Design {
    /// Returns the number of blocks that are run and recorded but not compared.
    pub fn all_warmup_blocks(&self) -> u32 {
        self.warmup_blocks.saturating_add(u32::try_from(self.warmups.len()).unwrap_or(u32::MAX))
    }
}

impl Default for Design {
    fn default() -> Self {
        Design {
            blocks: None,
            warmup_blocks: 0,
            warmups: Vec::new(),
            order: Order::Random,
            group_by: None,
            seed: None,
            stop: Stop::Fixed,
            zip: Vec::new(),
            exclude: Vec::new(),
            max_time: Scalar::Text("1 h".into()),
            max_trials: 10_000,
            timeout: Scalar::Text("10 min".into()),
            max_failures: 3,
        }
    }
}

/// Monitors and tracers that run with the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Observe {
    /// Names of the monitors; `["all"]` selects every monitor that works here except `tasks`, `[]`
    /// none. `tasks` samples each thread of the program.
    pub monitors: Vec<String>,
    /// Power meters outside the kernel, read by the monitor `meter`: `ipmi`, `redfish:URL`,
    /// `tcp:HOST:PORT`, `serial:DEVICE`, `csv:FILE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<String>,
    /// Model of the wall power meters; if absent, their readings cannot be checked for accuracy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meter: Option<Meter>,
    /// Interval between samples (a duration of at least 100 ms).
    pub interval: Scalar,
    /// Environment variables whose values are recorded in addition to those of the built-in list,
    /// by name or by prefix (`MY_*`). For all other variables only the name and a keyed hash of the
    /// value are recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// Names of the tracers: `io` counts block I/O in the kernel, `io-events` keeps every single
    /// I/O; `profile` samples on which code the program spends its time (99 times a second on each
    /// CPU; `profile@999`: at that rate; `profile:fp`, `profile:dwarf`: stacks only by frame
    /// pointers or only by DWARF); `syscalls` counts the system calls of the program;
    /// `instructions` counts its instructions with Valgrind, in an extra trial after the first
    /// trial of each treatment in three blocks (`instructions@5`: in five).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracers: Vec<String>,
}

/// Description of the power meters at the wall; of several, the least accurate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meter {
    /// Maker and model of the meter.
    pub model: String,
    /// Uncertainty of the meter at the measured load, in percent.
    pub uncertainty_percent: f64,
}

impl Default for Observe {
    fn default() -> Self {
        Observe {
            monitors: vec!["all".into()],
            meters: Vec::new(),
            meter: None,
            interval: Scalar::Text("1 s".into()),
            environment: Vec::new(),
            tracers: Vec::new(),
        }
    }
}

/// Comparison of the treatments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Compare {
    /// Name of the deciding metric; if absent, the workload's primary one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Treatment that the others are compared with; if absent, the first in the plan.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub baseline: TreatmentPattern,
    /// Margin: the largest difference that does not matter (`"2 %"`). It decides the verdict
    /// `equivalent` and exit code 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Scalar>,
    /// Confidence level of intervals, 0.5 to 0.999.
    pub confidence: f64,
    /// Factor whose levels are counts (processes, threads, copies), for a scaling analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<String>,
    /// True if assay exits with code 5 when a treatment is worse than the baseline by more than the
    /// margin.
    pub gate: bool,
    /// Benchmarks of a suite to compare; if empty, all that both sides ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Margins and directions of single metrics, by name. `*` matches any text; of several names
    /// that match a metric, the longest counts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricRule>,
}

impl Compare {
    /// Returns the rule of a metric, if one matches its name.
    pub fn rule(&self, metric: &str) -> Option<&MetricRule> {
        let matching = self.metrics.iter().filter(|(name, _)| wildcard_matches(name, metric));
        matching.max_by_key(|(name, _)| name.len()).map(|(_, rule)| rule)
    }

    /// Returns the margin of a metric: its own, or that of the comparison.
    pub fn margin_of(&self, metric: &str) -> Option<&Scalar> {
        self.rule(metric).and_then(|rule| rule.margin.as_ref()).or(self.margin.as_ref())
    }
}

/// Margin and direction of a metric, instead of the experiment's and the tool's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MetricRule {
    /// Margin; if absent, that of the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Scalar>,
    /// Direction that is better; if absent, the metric's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
}

/// Returns true if `text` is `pattern`, in which each `*` matches any text.
pub fn wildcard_matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

impl Default for Compare {
    fn default() -> Self {
        Compare {
            metric: None,
            baseline: TreatmentPattern::new(),
            margin: None,
            confidence: 0.95,
            scaling: None,
            gate: false,
            only: Vec::new(),
            metrics: BTreeMap::new(),
        }
    }
}

/// A call on events of an experiment's history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hooks {
    /// Command line that runs once for each confirmed change, without a shell. It gets the change
    /// as JSON on standard input and in `ASSAY_*` variables.
    pub confirmed: Option<String>,
    /// Address that gets the same JSON by HTTP POST.
    pub webhook: Option<String>,
}

/// Action when the machine is not fit to measure on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FitnessAction {
    /// Print and record the warning, then continue.
    #[default]
    Warn,
    /// Wait until the machine is fit, for at most `max_wait`; then warn.
    Wait,
    /// Do not start the run.
    Refuse,
}

/// Requirements on the machine before trials start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fitness {
    /// Action when the machine is not fit.
    pub action: FitnessAction,
    /// Maximum time to wait (a duration).
    pub max_wait: Scalar,
}

impl Default for Fitness {
    fn default() -> Self {
        Fitness { action: FitnessAction::Warn, max_wait: Scalar::Text("5 min".into()) }
    }
}
