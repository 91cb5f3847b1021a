//! A result of a CPU suite as its rules look at it. Everything optional is `None` where it is not
//! recorded, and a rule that needs it is then unknown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pack::fair_use::FairUse;

/// Whether a suite measures one job's time or many copies' throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuiteKind {
    /// The time of one job, which may use threads.
    Speed,
    /// The throughput of several copies at once.
    Rate,
}

/// How hard a run was tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tuning {
    /// The same options for all members.
    Base,
    /// Options chosen for each member.
    Peak,
}

impl Tuning {
    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Tuning::Base => "base",
            Tuning::Peak => "peak",
        }
    }
}

/// The size of a member's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputSize {
    /// To see that it works.
    Test,
    /// For feedback.
    Train,
    /// What counts.
    Reference,
}

/// One execution of a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuExecution {
    /// The member.
    pub member: String,
    /// Base or peak.
    pub tuning: Tuning,
    /// The input.
    pub size: InputSize,
    /// The invocation of the suite's tool that it belongs to.
    pub invocation: String,
    /// Its place in the order of executions.
    pub order: u32,
    /// Whether it was timed for the result.
    pub timed: bool,
    /// How long it took (of a rate: until the last copy ended), seconds.
    pub seconds: Option<f64>,
    /// Whether its output was right.
    pub valid: Option<bool>,
}

/// How a member was built and run under one tuning, and its results.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuTuning {
    /// Copies run at once; 1 for a speed suite.
    pub copies: Option<u32>,
    /// Threads of each.
    pub threads: Option<u32>,
    /// Compiler, linker, libraries and post-link tools in one line, by language.
    pub toolchain: Option<BTreeMap<String, String>>,
    /// Optimisation flags in order, by language.
    pub flags: Option<BTreeMap<String, Vec<String>>>,
    /// Portability flags.
    pub portability: Option<Vec<String>>,
    /// Environment variables set for the run.
    pub environment: Option<BTreeMap<String, String>>,
    /// The command that starts (and pins) each copy; empty: none.
    pub submit: Option<String>,
    /// What feedback-directed optimisation was trained on (`train`); `none` without it.
    pub trained_on: Option<String>,
    /// The time that counts, seconds.
    pub selected_s: Option<f64>,
    /// The member's ratio to the reference.
    pub ratio: Option<f64>,
    /// Of peak: whether it repeats the base result.
    pub is_base: bool,
}

/// A member of the suite.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuMember {
    /// Its name.
    pub name: String,
    /// The reference machine's time, seconds.
    pub reference_s: Option<f64>,
    /// Names of its source files, variables and routines, which no flag may hold.
    pub source_names: Option<Vec<String>>,
    /// Its base result; required.
    pub base: Option<CpuTuning>,
    /// Its peak result.
    pub peak: Option<CpuTuning>,
}

/// A result of a CPU suite.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuSuiteResult {
    /// The suite's name.
    pub suite: String,
    /// Speed or rate.
    pub kind: Option<SuiteKind>,
    /// The members.
    pub members: Vec<CpuMember>,
    /// Every execution.
    pub executions: Vec<CpuExecution>,
    /// The overall base ratio.
    pub overall_base: Option<f64>,
    /// Whether peak is reported, which is optional.
    pub peak_reported: Option<bool>,
    /// The overall peak ratio; `None` where no peak is reported.
    pub overall_peak: Option<f64>,
    /// The file systems of the tree and of the output root.
    pub tree_file_systems: Option<Vec<String>>,
    /// Whether an output root apart from the tree was used.
    pub output_root: Option<bool>,
    /// The file systems of the copies' run directories.
    pub run_file_systems: Option<Vec<String>>,
    /// Whether a run-time optimiser kept knowledge of a program from one run to another.
    pub optimiser_remembers: Option<bool>,
    /// Flags that a flags file describes.
    pub described_flags: Option<Vec<String>>,
    /// Disclosed fields by name.
    pub disclosure: BTreeMap<String, String>,
    /// The system that was measured.
    pub system_measured: Option<String>,
    /// The system that the result is reported for.
    pub system_reported: Option<String>,
    /// Whether all parts can be had and are supported.
    pub parts_available: Option<bool>,
    /// Whether power is reported.
    pub power_reported: Option<bool>,
    /// Power, where it is.
    pub power: Option<CpuPower>,
    /// Whether any number of performance is estimated.
    pub estimated: Option<bool>,
    /// Whether every estimate is marked at the number and in graphs.
    pub estimates_marked: Option<bool>,
    /// Whether energy is estimated.
    pub energy_estimated: Option<bool>,
    /// Whether the result is published beside others; then under which fair-use record.
    pub published: Option<bool>,
    /// The record of that publication.
    pub publication: Option<FairUse>,
}

impl CpuSuiteResult {
    /// Each member's results: member, tuning, result. Peak that repeats base is not among them.
    pub(crate) fn results(&self) -> impl Iterator<Item = (&CpuMember, Tuning, &CpuTuning)> {
        self.members.iter().flat_map(|m| {
            let peak = m.peak.as_ref().filter(|p| !p.is_base).map(|p| (m, Tuning::Peak, p));
            m.base.as_ref().map(|b| (m, Tuning::Base, b)).into_iter().chain(peak)
        })
    }

    /// The base results.
    pub(crate) fn base(&self) -> impl Iterator<Item = (&CpuMember, &CpuTuning)> {
        self.members.iter().filter_map(|m| Some((m, m.base.as_ref()?)))
    }
}

/// How power was measured. Shares and deviations are percentages.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuPower {
    /// Whether the analyser is an accepted model, apart from the system under test.
    pub analyser_accepted: Option<bool>,
    /// Whether analyser and temperature sensor are calibrated.
    pub calibrated: Option<bool>,
    /// Whether another machine controls the analyser.
    pub separate_controller: Option<bool>,
    /// The largest deviation of the voltage from nominal.
    pub voltage_deviation_percent: Option<f64>,
    /// The deviation of the mains frequency.
    pub mains_deviation_percent: Option<f64>,
    /// Bad power samples.
    pub bad_power_percent: Option<f64>,
    /// The largest share of bad samples of temperature, power factor, current and voltage.
    pub bad_other_percent: Option<f64>,
    /// Samples whose uncertainty is above 1 %.
    pub uncertain_percent: Option<f64>,
    /// Samples whose uncertainty is not known.
    pub unknown_uncertainty_percent: Option<f64>,
    /// The lowest ambient temperature, °C.
    pub ambient_least_c: Option<f64>,
    /// Whether a battery fed the system.
    pub on_battery: Option<bool>,
    /// Whether the energy is that of the run chosen for its time.
    pub of_the_timed_run: Option<bool>,
}
