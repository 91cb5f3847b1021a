//! Result of a CPU suite, as its rules need it. An optional field is `None` if it is not recorded,
//! and a rule that needs it is then unknown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pack::fair_use::FairUse;

/// Measure of a suite: the time of one job, or the throughput of many copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuiteKind {
    /// Time of one job, which may use threads.
    Speed,
    /// Throughput of several copies at once.
    Rate,
}

/// Tuning of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tuning {
    /// Same options for all members.
    Base,
    /// Options chosen for each member.
    Peak,
}

assay_model::names! {
    pub Tuning::name: Base = "base", Peak = "peak"
}

/// Size of a member's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputSize {
    /// Input for a functional test.
    Test,
    /// Training input for feedback-directed optimisation.
    Train,
    /// Reference input, whose times count.
    Reference,
}

/// One execution of a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuExecution {
    /// Name of the member.
    pub member: String,
    pub tuning: Tuning,
    pub size: InputSize,
    /// Invocation of the suite's tool that ran it.
    pub invocation: String,
    /// Position in the order of all executions.
    pub order: u32,
    /// True if it was timed for the result.
    pub timed: bool,
    /// Run time in seconds (for a rate: until the last copy ended).
    pub seconds: Option<f64>,
    /// True if its output was right.
    pub valid: Option<bool>,
}

/// Build, settings and results of a member under one tuning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuTuning {
    /// Number of concurrent copies; 1 for a speed suite.
    pub copies: Option<u32>,
    /// Number of threads of each copy.
    pub threads: Option<u32>,
    /// Compiler, linker, libraries and post-link tools by language, one line each.
    pub toolchain: Option<BTreeMap<String, String>>,
    /// Optimisation flags by language, in order.
    pub flags: Option<BTreeMap<String, Vec<String>>>,
    pub portability: Option<Vec<String>>,
    /// Environment variables that were set for the run.
    pub environment: Option<BTreeMap<String, String>>,
    /// Command that starts (and pins) each copy; empty if there is no such command.
    pub submit: Option<String>,
    /// Training input of feedback-directed optimisation (`train`); `none` without feedback.
    pub trained_on: Option<String>,
    /// Time that counts, seconds.
    pub selected_s: Option<f64>,
    /// Ratio to the reference machine.
    pub ratio: Option<f64>,
    /// For peak: true if it repeats the base result.
    pub is_base: bool,
}

/// A member of the suite with its results.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuMember {
    pub name: String,
    /// Time on the reference machine, seconds.
    pub reference_s: Option<f64>,
    /// Names of its source files, variables and routines, which flags must not mention.
    pub source_names: Option<Vec<String>>,
    /// Base result, which is required.
    pub base: Option<CpuTuning>,
    /// Peak result, which is optional.
    pub peak: Option<CpuTuning>,
}

/// A result of a CPU suite.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuSuiteResult {
    pub suite: String,
    pub kind: Option<SuiteKind>,
    pub members: Vec<CpuMember>,
    pub executions: Vec<CpuExecution>,
    pub overall_base: Option<f64>,
    /// True if peak is reported, which is optional.
    pub peak_reported: Option<bool>,
    /// Overall peak ratio; `None` if peak is not reported.
    pub overall_peak: Option<f64>,
    /// File systems of the installation tree and of the output root.
    pub tree_file_systems: Option<Vec<String>>,
    /// True if the output root was outside the installation tree.
    pub output_root: Option<bool>,
    /// File systems of the copies' run directories.
    pub run_file_systems: Option<Vec<String>>,
    /// True if a run-time optimiser kept knowledge of a program from one run to the next.
    pub optimiser_remembers: Option<bool>,
    /// Flags that the flags file describes.
    pub described_flags: Option<Vec<String>>,
    /// Disclosed fields by name.
    pub disclosure: BTreeMap<String, String>,
    pub system_measured: Option<String>,
    /// System for which the result is reported.
    pub system_reported: Option<String>,
    /// True if all parts are available and supported.
    pub parts_available: Option<bool>,
    /// True if power is reported.
    pub power_reported: Option<bool>,
    /// Power measurement, if power is reported.
    pub power: Option<CpuPower>,
    /// True if any performance number is estimated.
    pub estimated: Option<bool>,
    /// True if every estimate is marked, at the number and in graphs.
    pub estimates_marked: Option<bool>,
    /// True if energy is estimated.
    pub energy_estimated: Option<bool>,
    /// True if the result is published in comparison with others, which needs a fair-use record.
    pub published: Option<bool>,
    /// Fair-use record of that publication.
    pub publication: Option<FairUse>,
}

impl CpuSuiteResult {
    /// Returns member, tuning and result of all results. Peak results that repeat base are skipped.
    pub(crate) fn results(&self) -> impl Iterator<Item = (&CpuMember, Tuning, &CpuTuning)> {
        self.members.iter().flat_map(|m| {
            let peak = m.peak.as_ref().filter(|p| !p.is_base).map(|p| (m, Tuning::Peak, p));
            m.base.as_ref().map(|b| (m, Tuning::Base, b)).into_iter().chain(peak)
        })
    }

    pub(crate) fn base(&self) -> impl Iterator<Item = (&CpuMember, &CpuTuning)> {
        self.members.iter().filter_map(|m| Some((m, m.base.as_ref()?)))
    }
}

/// Method and quality of a power measurement. Shares and deviations are percentages.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CpuPower {
    /// True if the analyser is an accepted model and separate from the system under test.
    pub analyser_accepted: Option<bool>,
    /// True if the analyser and the temperature sensor are calibrated.
    pub calibrated: Option<bool>,
    /// True if a separate machine controls the analyser.
    pub separate_controller: Option<bool>,
    /// Largest deviation of the voltage from nominal.
    pub voltage_deviation_percent: Option<f64>,
    /// Deviation of the mains frequency from nominal.
    pub mains_deviation_percent: Option<f64>,
    /// Share of bad power samples.
    pub bad_power_percent: Option<f64>,
    /// Largest share of bad samples of temperature, power factor, current and voltage.
    pub bad_other_percent: Option<f64>,
    /// Share of samples whose uncertainty is above 1 %.
    pub uncertain_percent: Option<f64>,
    /// Share of samples whose uncertainty is unknown.
    pub unknown_uncertainty_percent: Option<f64>,
    /// Lowest ambient temperature, °C.
    pub ambient_least_c: Option<f64>,
    /// True if a battery supplied the system.
    pub on_battery: Option<bool>,
    /// True if the energy is that of the run whose time counts.
    pub of_the_timed_run: Option<bool>,
}
