//! The plan and the run. Reads an experiment ([`read_experiment`], [`Prepared`]), makes its plan
//! ([`make_plan`]), runs it trial by trial into an archive ([`Lab::run`], [`Lab::resume`]) and lays the
//! records together ([`analyse`]).

mod aa;
mod across;
mod agent;
mod analyse;
mod artifacts;
mod checklist;
mod clock;
mod cpus;
mod describe;
mod error;
mod estimate;
mod event_reader;
mod events;
mod executor;
mod explain;
mod factors;
mod file;
mod findings;
mod fit;
mod histograms;
mod history;
mod inputs;
mod labels;
mod machine;
mod nodes;
mod pairs;
mod place;
mod plan;
mod power;
mod prepare;
mod run;
mod run_lock;
mod schedule;
mod scratch;
mod serving;
mod session;
mod set;
mod source;
mod spanning;
mod stop;
mod suite;
mod suite_facts;
mod suite_result;
mod trace;
mod trial;
mod watch;
mod witness;

pub use aa::{
    AaFloor, BLOCKS_EACH, aa_experiment, aa_floor, find_floor, is_self_comparison,
    newest_self_comparison, with_itself,
};
pub use across::{Declared, Side, across, across_io, any_worse};
pub use agent::agent;
pub use analyse::{Recorded, analyse};
pub use checklist::checklist;
pub use clock::now_utc;
pub use cpus::allowed as allowed_cpus;
pub use error::LabError;
pub use estimate::{Estimate, POWER, SAMPLE_NOISE, estimate};
pub use events::EventWriter;
pub use explain::{Question, explain};
pub use file::{FileError, read_experiment};
pub use findings::check;
pub use nodes::doctor as doctor_nodes;
pub use plan::{DEFAULT_BLOCKS, PlanError, make_plan, margin, parse_margin};
pub use prepare::Prepared;
pub use run::{Ended, Lab, obstacles};
pub use run_lock::RunLock;
pub use scratch::{cache_dir, scratch_root, sweep as sweep_scratch};
pub use set::apply_set;
pub use source::{FOLDER, REV};
pub use stop::stop_rule;
pub use suite_facts::{SuiteFacts, suite_facts_template};
pub use suite_result::suite_result;
pub use watch::{Both, Progress, Watcher};
