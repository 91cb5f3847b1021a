//! Data types of assay: experiment files, plans, trial records, comparisons, and the units to print
//! them. Every other crate uses these types, and every persisted file contains one of them with a
//! `schema_version`. This crate does no I/O and makes no system calls.
//!
//! Data flows through the types in this order: [`Experiment`] (the experiment that a person
//! declares) → [`Plan`] (the ordered trials) → [`TrialRecord`] (everything kept about one trial) →
//! [`Comparison`] (a ratio between treatments with its interval and verdict).

mod across;
mod analysis;
pub mod cancel;
mod comparison;
pub mod environment;
mod event;
mod experiment;
mod explanation;
mod fact;
mod finding;
mod heat;
mod histogram;
mod ledger;
mod live;
mod metric;
mod names;
pub mod nouns;
mod observation;
mod place;
mod plan;
mod profile;
mod program;
mod record;
mod run;
mod sample;
mod scalar;
mod self_comparison;
mod spec;
mod suite;
pub mod units;

pub use across::{Across, AcrossRow, Difference};
pub use analysis::{
    Analysis, CurvePoint, CurveSummary, Guest, Scaling, ScalingModel, ScalingPoint,
    TreatmentSummary,
};
pub use comparison::{Comparison, Interval, Method, Summary, Verdict};
pub use event::{Event, EventError, Phase};
pub use experiment::{
    Compare, Design, Experiment, FactorLevels, Fitness, FitnessAction, Labelled, Level, Meter,
    Observe, Order, Source, Stop, TreatmentPattern,
};
pub use explanation::{Account, Change, Explanation, Observed};
pub use fact::{Fact, SystemDescription, fact_groups, folded_facts};
pub use finding::{CheckNote, Checks, Finding, Found, Profile, Row, Section, Severities, Severity};
pub use heat::Heat;
pub use histogram::{HistogramSummary, Load, Percentile, TrialHistogram};
pub use ledger::{FileHash, ImportedFile, LedgerEntry, LedgerEvent};
pub use live::{EndedTrial, LiveEvent, LiveValue};
pub use metric::{Better, Kind, MetricValue};
pub use names::nearest;
pub use observation::{LimitedBy, NodeDifference, Observation, OnNode, SeriesShape, Subject};
pub use place::{Engine, JobSpan, Where};
pub use plan::{Plan, PlannedTrial, Setting, Treatment};
pub use profile::{FunctionChange, FunctionDifferences};
pub use program::Program;
pub use record::{
    Curve, Exit, GroupUse, ObserverReport, Outcome, PhaseMark, ResourceUse, StreamSummary,
    TrialRecord, ValidationResult,
};
pub use run::{Deleted, RunId, RunState, RunSummary};
pub use sample::{SampleRow, SampleSet, SeriesKey};
pub use scalar::Scalar;
pub use self_comparison::{KnownFloor, SelfComparison};
pub use spec::{Merge, MetricSpec, ParamSpec, ParamType, SuiteSpec, WorkloadSpec};
pub use suite::{SuiteComparison, SuiteMember, SuiteResults, SuiteScore};

/// Version of every persisted format of this build. A reader accepts this version and older ones; a
/// newer one is an error that names the assay version to install.
pub const SCHEMA_VERSION: u32 = 1;
