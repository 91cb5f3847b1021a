//! Runs on more than one machine, and in virtual machines.
//!
//! A run on Slurm is one job ([`slurm`]); every task of it is an agent of assay. The agents connect
//! to the collector ([`Crew`]) over TCP, prepare the same trial, start it at the same moment and
//! send back their part of its record ([`Part`]). The collector measures the offset of each node's
//! clock ([`clock`]) and merges the parts into one record ([`merge`]). Jobs that a killed run
//! leaves in Slurm's queue are cancelled by the next command ([`left`]).
//!
//! A virtual machine ([`vm`]) is also a node, with one agent and no scheduler.
//!
//! The lab executes an agent's part of a trial; this crate only transports it ([`Link`]).

pub mod clock;
mod crew;
mod doctor;
mod error;
mod link;
mod listen;
pub mod merge;
mod message;
mod node_differences;
mod nodes_file;
pub mod orphaned_jobs;
mod phases;
pub mod slurm;
mod token;
pub mod vm;
mod wire;

pub use clock::Clock;
pub use crew::{Boot, Crew, Lost, LostTo, Request, TrialEnd};
pub use doctor::{Check, Report, doctor};
pub use error::ClusterError;
pub use link::{AgentError, Link, Membership};
pub use message::{Hello, NodePart, Part, Role, Samples, Served, SetUp, Setup, TrialRequest};
pub use node_differences::{Described, describe};
pub use nodes_file::{Did, NODES, NodesFile, Took};
pub use wire::Bytes;
