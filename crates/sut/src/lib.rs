//! The system under test: what it is, whether it is fit to measure on, and how it is set and put back.
//!
//! [`describe`] takes the facts of a machine, [`Watch`] looks again between trials, and [`fitness::look`]
//! sees what speaks against measuring now. A [`Controller`]
//! applies the settings of a treatment through the [`Control`]s: those of the machine are journaled on
//! disk before anything is changed, so that [`restore_pending`] can put back what a crash left; those of
//! the program are taken on by the thread that starts it ([`enter`]). [`process`] runs the program.

mod capture;
mod cgroup;
pub mod clock;
mod control;
mod control_error;
mod controller;
mod controls;
mod cpu_times;
mod describe;
mod digest;
mod enter;
#[cfg(test)]
mod fake;
pub mod fitness;
mod group_use;
mod hiatus;
mod hooks;
mod interrupt;
mod journal;
mod knob;
mod leftovers;
mod mempolicy;
mod mounts;
mod owner;
mod pending;
mod personality;
pub mod process;
mod program;
mod root;
mod sched_class;
pub mod scratch;
mod setup;
mod source_tree;
mod state_dir;
pub mod state_file;
mod sysctl_name;
mod wait4;
mod watch;
mod which;

pub use capture::Capture;
pub use control::{Control, ControlSpec, Scope, Session, all, find, parse_setting};
pub use control_error::ControlError;
pub use controller::{Applied, Controller, DEFAULT_LEVEL};
pub use cpu_times::CpuTimes;
pub use describe::{describe, describe_toolchains};
pub use digest::{hex, sha256, sha256_file};
pub use enter::{Entered, enter};
pub use hiatus::Hiatus;
pub use hooks::{After, During, beside};
pub use interrupt::Interrupt;
pub use journal::{Entry, JournalError};
pub use mounts::{device_below, used};
pub use owner::{Fate, Owner, start_ticks};
pub use pending::{
    Pending, PendingState, RestoreOutcome, RestoreReport, RestoredSetting, pending, restore_pending,
};
pub use program::identify;
pub use root::{Root, Unreadable};
pub use setup::{NumaPolicy, ProcessSetup, Sched};
pub use source_tree::{SourceTree, source_tree};
pub use state_dir::state_dir;
pub use wait4::{Ended, wait_any};
pub use watch::Watch;
pub use which::which;
