//! The experiment: what a person declares in a TOML file. Unknown keys are errors.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Scalar, Where};

/// A workload, fixed parameters, factors, a design and what to observe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The version of the file format; absent means 1.
    #[serde(default = "one")]
    pub schema_version: u32,
    /// A short name: lower-case letters, digits, `-` and `.`.
    pub name: String,
    /// One sentence: the question that the experiment answers.
    #[serde(default)]
    pub title: String,
    /// What should be known about the method, as paragraphs of plain text; shown on the page.
    #[serde(default)]
    pub description: String,
    /// The workload: a built-in one, or the name or folder of a kit.
    pub workload: String,
    /// Words to find the run by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Fixed parameters of the workload.
    #[serde(default)]
    pub params: BTreeMap<String, Scalar>,
    /// Fixed settings of controls, by control (`cpus`, `sched`, `sysctl.vm.swappiness`, `env.NAME`).
    #[serde(default)]
    pub controls: BTreeMap<String, Scalar>,
    /// The repository whose revisions are the levels of the factor `rev`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// What is meant to differ: a parameter's name, or `controls.NAME`, and its levels; with [source] also
    /// `rev`, a list of revisions, ranges (`v1..main`, `v1..main:10` for every tenth) and `worktree`.
    #[serde(default)]
    pub factors: BTreeMap<String, FactorLevels>,
    /// How the trials are arranged.
    #[serde(default)]
    pub design: Design,
    /// Where the trials run.
    #[serde(default, rename = "where", skip_serializing_if = "Where::is_default")]
    pub place: Where,
    /// What is watched while trials run.
    #[serde(default)]
    pub observe: Observe,
    /// How treatments are compared.
    #[serde(default)]
    pub compare: Compare,
    /// Whether the machine must be fit before trials start.
    #[serde(default)]
    pub fitness: Fitness,
}

fn one() -> u32 {
    1
}

/// A repository whose revisions are compared: each is checked out in a folder of its own, built once, and
/// given to the workload as its parameter `folder`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// A folder of the git repository; relative ones stand below the folder where assay is started.
    #[serde(default = "here")]
    pub repo: String,
    /// The shell line that builds a revision, run in its folder; empty: nothing is built.
    #[serde(default)]
    pub build: String,
    /// How many times each revision is built [default: 1]; its trials take turns with the builds, and the comparison is
    /// one of builds. The command finds the number of the build, from 1, in `ASSAY_BUILD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builds: Option<u32>,
    /// A build that takes longer has failed (a duration).
    #[serde(default = "half_an_hour")]
    pub timeout: Scalar,
    /// How much the builds that are kept may take (a size); the ones used longest ago are removed.
    #[serde(default = "ten_gigabytes")]
    pub cache: Scalar,
}

fn here() -> String {
    ".".into()
}

fn half_an_hour() -> Scalar {
    Scalar::Text("30 min".into())
}

fn ten_gigabytes() -> Scalar {
    Scalar::Text("10 GiB".into())
}

impl Default for Source {
    fn default() -> Self {
        Source {
            repo: here(),
            build: String::new(),
            builds: None,
            timeout: half_an_hour(),
            cache: ten_gigabytes(),
        }
    }
}

/// The levels of a factor: a list, or a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a list of levels such as [1, 2], or a range such as { from = 1, to = \"cpus\" }"
)]
pub enum FactorLevels {
    /// The levels themselves.
    List(Vec<Level>),
    /// `{ from = 1, to = "cpus" }`, `{ from = 1, to = 64, times = 2 }`.
    Range {
        /// The first level.
        from: i64,
        /// The last level (never passed, always included): a number, or `cpus` for the CPUs that
        /// assay may use on this machine.
        to: Scalar,
        /// Added from level to level; 1 when neither `step` nor `times` is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<i64>,
        /// Multiplied from level to level.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        times: Option<i64>,
    },
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a boolean, a number, a text, or a level with a label: { label = \"btrfs\", value = \"loop:btrfs\" }"
)]
pub enum Level {
    /// Its value, which also names it.
    Plain(Scalar),
    /// A value, and what it is called in tables, charts and posts.
    Labelled(Labelled),
}

/// A level that has a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Labelled {
    /// What the level is called.
    pub label: String,
    /// Its value.
    pub value: Scalar,
}

impl Level {
    /// The value.
    pub fn value(&self) -> &Scalar {
        match self {
            Level::Plain(value) => value,
            Level::Labelled(level) => &level.value,
        }
    }

    /// Its name, if the experiment gives one.
    pub fn label(&self) -> Option<&str> {
        match self {
            Level::Plain(_) => None,
            Level::Labelled(level) => Some(&level.label),
        }
    }
}

impl<T: Into<Scalar>> From<T> for Level {
    fn from(value: T) -> Self {
        Level::Plain(value.into())
    }
}

/// The order of trials within a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Shuffled within each block by the recorded seed.
    #[default]
    Random,
    /// Forth in one block and back in the next (ABBA).
    Abba,
    /// The same order in every block. Drift inside a block is then confounded with the treatment.
    Sequential,
    /// Not known, and nothing that can be asked for: the trials were imported from a file that does
    /// not tell in which order they ran. Treatments are compared as independent samples.
    Unknown,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// After `blocks` blocks.
    #[default]
    Fixed,
    /// As soon as the answer is clear, by group-sequential looks at 6, 9, 13, 19, 28 and 42 blocks
    /// with Pocock's limits (nominal alpha 0.0142 each); `blocks` is then ignored.
    Clear,
}

/// One combination of levels, by factor name, to exclude or to name a baseline. A factor that is not
/// named matches every level.
pub type TreatmentPattern = BTreeMap<String, Scalar>;

/// How the trials are arranged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Design {
    /// How many blocks: each holds one trial of every treatment (with `group_by`, of every one of its
    /// group). Absent: 10, or for short commands as many as fill about 1 s each, decided after the first block
    /// and before its result is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// Blocks at the start that are run and recorded but not compared.
    pub warmup_blocks: u32,
    /// Warm-up blocks of their own before those: each has parameters that take the place of every treatment's
    /// (`warmups = [{ size = "test" }, { size = "train" }]`). Their output is checked as any other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warmups: Vec<BTreeMap<String, Scalar>>,
    /// The order of trials within a block.
    pub order: Order,
    /// A factor that is hard to change, or whose levels a rule wants apart: all trials of its first level
    /// run, in blocks of their own, before those of the next. Levels are then compared as independent
    /// samples, and a drift of the machine counts as a difference between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// The seed of the shuffles; absent: drawn from the system, and recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// When to stop.
    pub stop: Stop,
    /// Groups of factors whose levels go side by side instead of crossed.
    pub zip: Vec<Vec<String>>,
    /// Combinations that are left out.
    pub exclude: Vec<TreatmentPattern>,
    /// No trial starts after this much time (a duration).
    pub max_time: Scalar,
    /// No more trials than this.
    pub max_trials: u32,
    /// A trial that runs longer is ended, with its whole process group (a duration).
    pub timeout: Scalar,
    /// After how many failed trials a treatment is given up, while the others go on; 0: none is.
    pub max_failures: u32,
}

impl Design {
    /// How many blocks are run and recorded but not compared.
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

/// What is watched while trials run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Observe {
    /// The monitors by name; `["all"]` is every one that works here but `tasks`, `[]` none. `tasks` samples each
    /// thread of the program.
    pub monitors: Vec<String>,
    /// Power meters outside the kernel, the subjects of the monitor `meter`: `ipmi`, `redfish:URL`,
    /// `tcp:HOST:PORT`, `serial:DEVICE`, `csv:FILE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<String>,
    /// The models of the wall meters; absent: not stated, and their watts cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meter: Option<Meter>,
    /// The time between samples (a duration of at least 100 ms).
    pub interval: Scalar,
    /// Environment variables whose values are recorded beside those of the built-in list, by name or by
    /// beginning (`MY_*`). Of all others the name and a keyed hash of the value are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// The tracers by name: `io` counts block I/O in the kernel, `io-events` keeps every single one;
    /// `profile` samples where the program's time goes (99 times a second and CPU; `profile@999`: at that rate;
    /// `profile:fp`, `profile:dwarf`: stacks by frame pointers or by DWARF alone);
    /// `syscalls` counts the system calls of the program; `instructions` counts its instructions with Valgrind, in
    /// a trial of its own after the first of each treatment in three blocks (`instructions@5`: in five).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracers: Vec<String>,
}

/// What the meters at the wall are; of several, the smallest exact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meter {
    /// Maker and model.
    pub model: String,
    /// Its uncertainty at the load that was measured, percent.
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

/// How treatments are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Compare {
    /// The metric; absent: the workload's primary one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The treatment that the others are compared with; absent: the first in the plan.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub baseline: TreatmentPattern,
    /// Differences within it do not matter (`"2 %"`): the margin of `equivalent` and of exit code 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Scalar>,
    /// The confidence level of intervals, 0.5 to 0.999.
    pub confidence: f64,
    /// The factor whose levels are counts (processes, threads, copies), for a scaling analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<String>,
    /// Whether the exit code is 5 when a treatment is worse than the baseline by more than the margin.
    pub gate: bool,
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
        }
    }
}

/// What to do when the machine is not fit to measure on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FitnessAction {
    /// Print it, record it, continue.
    #[default]
    Warn,
    /// Wait until it is fit, up to `max_wait`; then warn.
    Wait,
    /// Do not run.
    Refuse,
}

/// Whether the machine must be fit before trials start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fitness {
    /// What to do when it is not.
    pub action: FitnessAction,
    /// How long to wait (a duration).
    pub max_wait: Scalar,
}

impl Default for Fitness {
    fn default() -> Self {
        Fitness { action: FitnessAction::Warn, max_wait: Scalar::Text("5 min".into()) }
    }
}
