//! Describes the system under test, checks that it is fit to measure on, sets it to the levels of
//! an experiment and restores it, and runs the measured program.
//!
//! [`describe`] collects the facts of a machine, [`FactWatch`] compares a few of them between
//! trials, and [`fitness::look`] reports what speaks against measuring now. A [`Controller`]
//! applies the settings of a treatment through the [`Control`]s. Settings of the machine are
//! journaled on disk before anything is changed, so that [`restore_pending`] can restore what a
//! crash left behind. Settings of the program are applied to the thread that starts it ([`enter`]).
//! [`process`] runs the program.

mod control;
mod controller;
mod controls;
mod describe;
mod error;
#[cfg(test)]
mod fake;
pub mod fitness;
pub mod process;
mod read;
pub mod redact;
pub mod revisions;
mod state;
mod unavailable;

pub use control::journal::JournalEntry;
pub use control::{Control, ControlScope, ControlSession, ControlSpec};
pub use controller::pending::{
    Pending, PendingState, RestoreOutcome, RestoreReport, RestoredSetting, pending, restore_pending,
};
pub use controller::{AppliedSettings, Controller, DEFAULT_LEVEL};
pub use controls::{all, find, parse_setting};
pub use describe::watch::FactWatch;
pub use describe::{
    describe, describe_toolchains, hidden_by_container, limited_groups, limited_io, meminfo_bytes,
    version,
};
pub use error::{ControlError, JournalError};
pub use process::capture::Capture;
pub use process::container::connection::program_parent;
pub use process::enter::{SettingsGuard, current_cpus, enter};
pub use process::hooks::{ObserverHook, RecordHook, observe};
pub use process::interrupt::Interrupt;
pub use process::leftovers::end_strays;
pub use process::node_memory::node_memory;
pub use process::observation_points::look_at;
pub use process::parent_death::end_with_parent;
pub use process::pause_detection::PauseDetector;
pub use process::setup::{NumaPolicy, ProcessSetup, Sched};
pub use process::taskstats;
pub use process::wait4::{ExitedChild, join_groups, wait_any};
pub use read::command_output::output_within;
pub use read::cpu_times::CpuTimes;
pub use read::digest::{hex, sha256, sha256_file};
pub use read::limits::{LimitHits, LimitWatch};
pub use read::mounts::{device_below, used};
pub use read::program::identify;
pub use read::root::{Root, Unreadable};
pub use read::source_tree::{SourceTree, SourceTreeError, source_tree};
pub use read::which::which;
pub use read::{clock, mounts, numa};
pub use state::dir::state_dir;
pub use state::owner::{Owner, OwnerError, OwnerState, start_ticks};
pub use state::{file as state_file, scratch};
pub use unavailable::Unavailable;
