//! Plans, runs and analyses experiments. The crate reads an experiment ([`read_experiment`],
//! [`PreparedExperiment`]), makes its plan ([`make_plan`]), runs it trial by trial into an archive
//! ([`Lab::run`], [`Lab::resume`]) and computes the results from the records ([`analyse`]).

mod analyse;
mod clock;
mod context;
mod describe;
mod error;
mod executors;
mod experiment;
mod fitness;
mod pairs;
mod plan;
mod progress;
mod run;
mod run_lock;
mod scratch;
pub mod series;
mod tracers;
mod trial;

pub use analyse::aa::{
    AaFloor, BLOCKS_EACH, aa_experiment, aa_floor, find_floor, is_self_comparison,
    newest_self_comparison, with_itself,
};
pub use analyse::across::{
    AcrossError, ComparedRun, DeclaredDifferences, across, across_io, any_worse,
};
pub use analyse::explain::{Question, explain};
pub use analyse::findings::check;
pub use analyse::hosts::{HostResult, hosts};
pub use analyse::suite_facts::{SuiteFacts, SuiteFactsError, suite_facts_template};
pub use analyse::suite_result::suite_result;
pub use analyse::{RecordedRun, analyse};
pub use clock::now_utc;
pub use context::Lab;
pub use error::{FileError, LabError, PlanError};
pub use executors::agent::agent;
pub use executors::nodes::doctor as doctor_nodes;
pub use experiment::file::read_experiment;
pub use experiment::set::apply_set;
pub use experiment::source::{FOLDER, REV};
pub use fitness::{Unfit, examine, sentences as unfit};
pub use plan::estimate::{Estimate, POWER, SAMPLE_NOISE, estimate};
pub use plan::prepare::PreparedExperiment;
pub use plan::{make_plan, parse_margin, schedule::DEFAULT_BLOCKS};
pub use progress::events::EventWriter;
pub use progress::live_profile::LiveProfile;
pub use progress::watcher::{Progress, Tee, Watcher};
pub use run::lab::{EndedRun, obstacles};
pub use run::stop::stop_rule;
pub use run_lock::RunLock;
pub use scratch::{cache_dir, scratch_root, sweep as sweep_scratch};
pub use tracers::is_profile;
pub use trial::cpus::allowed as allowed_cpus;
pub use trial::execution::DISCARDED;
