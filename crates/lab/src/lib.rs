//! Plans, runs and analyses experiments. The crate reads an experiment ([`read_experiment`],
//! [`Prepared`]), makes its plan ([`make_plan`]), runs it trial by trial into an archive
//! ([`Lab::run`], [`Lab::resume`]) and computes the results from the records ([`analyse`]).

mod agent;
mod analyse;
mod artifacts;
mod beside;
mod clock;
mod counters;
mod cpus;
mod describe;
mod error;
mod event_reader;
mod events;
mod executor;
mod experiment;
mod fit;
mod history;
mod inputs;
mod instructions;
mod live_profile;
mod machine;
mod nodes;
mod per_operation;
mod plan;
mod power;
mod profiling;
mod run;
mod run_lock;
mod scratch;
pub mod series;
mod serving;
mod session;
mod spanning;
mod stop;
mod syscalls;
mod trace;
mod trial;
mod virtual_machine;
mod watch;
mod window;
mod witness;
mod working_folder;

pub use agent::agent;
pub use analyse::aa::{
    AaFloor, BLOCKS_EACH, aa_experiment, aa_floor, find_floor, is_self_comparison,
    newest_self_comparison, with_itself,
};
pub use analyse::across::{AcrossError, Declared, Side, across, across_io, any_worse};
pub use analyse::explain::{Question, explain};
pub use analyse::findings::check;
pub use analyse::suite_facts::{SuiteFacts, suite_facts_template};
pub use analyse::suite_result::suite_result;
pub use analyse::{Recorded, analyse};
pub use clock::now_utc;
pub use cpus::allowed as allowed_cpus;
pub use error::{LabError, PlanError};
pub use events::EventWriter;
pub use experiment::file::{FileError, read_experiment};
pub use experiment::prepare::Prepared;
pub use experiment::set::apply_set;
pub use experiment::source::{FOLDER, REV};
pub use fit::sentences as unfit;
pub use live_profile::LiveProfile;
pub use nodes::doctor as doctor_nodes;
pub use plan::estimate::{Estimate, POWER, SAMPLE_NOISE, estimate};
pub use plan::{make_plan, margin, parse_margin, schedule::DEFAULT_BLOCKS};
pub use profiling::is_profile;
pub use run::{Ended, Lab, obstacles};
pub use run_lock::RunLock;
pub use scratch::{cache_dir, scratch_root, sweep as sweep_scratch};
pub use stop::stop_rule;
pub use trial::DISCARDED;
pub use watch::{Both, Progress, Watcher};
