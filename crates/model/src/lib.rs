//! Data types of assay: experiment files, plans, trial records, comparisons, and the units to print
//! them. Every other crate uses these types, and every persisted file contains one of them with a
//! `schema_version`. This crate does no I/O and makes no system calls.
//!
//! Data flows through the types in this order: [`Experiment`] (the experiment that a person
//! declares) → [`Plan`] (the ordered trials) → [`TrialRecord`] (everything kept about one trial) →
//! [`Comparison`] (a ratio between treatments with its interval and verdict).

pub mod cancel;
pub mod environment;
mod experiment;
mod fact;
mod finding;
mod metric;
mod name_table;
mod names;
pub mod nouns;
mod record;
mod result;
mod scalar;
pub mod units;

pub use experiment::definition::{
    Compare, Design, Experiment, FactorLevel, FactorLevels, Fitness, FitnessAction, Hooks,
    Labelled, Meter, MetricRule, Observe, Order, SourceRepository, Stop, SuiteOutput,
    TreatmentPattern, wildcard_matches,
};
pub use experiment::place::{Engine, ExecutionPlace, HostUse, JobSpan};
pub use experiment::plan::{Plan, PlannedTrial, Setting, Treatment};
pub use experiment::spec::{
    Merge, MetricSpec, ParamError, ParamSpec, ParamType, SuiteSpec, WorkloadSpec,
};
pub use fact::{Fact, SystemDescription, fact_groups, folded_facts};
pub use finding::{
    CheckNote, CheckRow, CheckSection, Checks, Finding, FiredCheck, Profile, Severities, Severity,
};
pub use metric::{Better, MetricKind, MetricValue};
pub use names::nearest;
pub use record::event::{Event, EventError, Phase};
pub use record::heat::{Heat, HeatError};
pub use record::histogram::{HistogramSummary, Load, Percentile, TrialHistogram};
pub use record::ledger::{FileHash, ImportedFile, LedgerEntry, LedgerEvent};
pub use record::live::{EndedTrial, LiveEvent, LiveValue};
pub use record::observation::{
    LimitedBy, NodeBytes, NodeDifference, Observation, SeriesShape, Subject,
};
pub use record::program::Program;
pub use record::run_summary::{Deleted, RunId, RunState, RunSummary};
pub use record::sample::{SampleRow, SampleSet, SeriesKey};
pub use record::self_comparison::{KnownFloor, SelfComparison};
pub use record::trial_record::{
    Curve, Exit, GroupUse, ObserverReport, PhaseMark, ResourceUse, StreamSummary, TrialOutcome,
    TrialRecord, ValidationResult,
};
pub use result::across::{Across, AcrossRow, Difference};
pub use result::analysis::{
    Analysis, CurvePoint, CurveSummary, Guest, Scaling, ScalingModel, ScalingPoint,
    TreatmentSummary,
};
pub use result::comparison::{Comparison, Interval, Method, Summary, Verdict};
pub use result::explanation::{Account, Explanation, Observed, TreatmentChange};
pub use result::profile::{FunctionChange, FunctionDifferences};
pub use result::suite::{SuiteComparison, SuiteMember, SuiteResults, SuiteScore};
pub use scalar::Scalar;

/// Version of every persisted format of this build. A reader accepts this version and older ones; a
/// newer one is an error that names the assay version to install.
pub const SCHEMA_VERSION: u32 = 1;
