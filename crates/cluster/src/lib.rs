//! More than one machine. A run on Slurm is one job ([`slurm`]) whose every task is an agent of assay;
//! the agents come to the collector ([`Crew`]) over TCP, prepare the same trial, begin it at one moment
//! and send their part of its record back ([`Part`]). The collector knows how far each node's clock is
//! from its own ([`clock`]) and makes one record of the parts ([`merge`]). What a killed run leaves in
//! Slurm's queue is cancelled by the next command ([`left`]).
//!
//! A virtual machine ([`vm`]) is a node as well, with one agent and no scheduler.
//!
//! What an agent does with a trial is the lab's; this crate only carries it ([`Link`]).

mod alike;
pub mod clock;
mod crew;
mod doctor;
mod error;
pub mod left;
mod link;
mod listen;
pub mod merge;
mod message;
mod nodes_file;
mod phases;
pub mod slurm;
mod token;
pub mod vm;
mod wire;

pub use alike::{Described, describe};
pub use clock::Clock;
pub use crew::{Boot, Crew, Lost, LostTo, Request, TrialEnd};
pub use doctor::{Check, Report, doctor};
pub use error::ClusterError;
pub use link::{AgentError, Link, Membership};
pub use message::{Hello, NodePart, Part, Role, Samples, Served, SetUp, Setup, TrialRequest};
pub use nodes_file::{Did, NODES, NodesFile, Took};
pub use wire::Bytes;
