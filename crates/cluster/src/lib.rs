//! Runs on more than one machine, and in virtual machines.
//!
//! A run on Slurm is one job ([`slurm`]); every task of it is an agent of assay. The agents connect
//! to the collector ([`AgentGroup`]) over TCP, prepare the same trial, start it at the same moment
//! and send back their part of its record ([`TrialPart`]). The collector measures the offset of
//! each node's clock ([`clock`]) and merges the parts into one record ([`merge`]). Jobs that a
//! killed run leaves in Slurm's queue are cancelled by the next command ([`slurm::orphaned_jobs`]).
//!
//! Hosts that are reached by SSH ([`ssh`]) have one agent each, which talks over the standard input
//! and output of its `ssh`. A virtual machine ([`vm`]) is also a node, with one agent and no
//! scheduler.
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
mod output;
mod phases;
pub mod slurm;
pub mod ssh;
mod token;
pub mod vm;
mod wire;

pub use clock::Clock;
pub use crew::{AgentGroup, AgentRequest, Boot, Connect, GroupLoss, LostTo};
pub use doctor::{ClusterCheck, ClusterReport, doctor, doctor_hosts};
pub use error::ClusterError;
pub use link::{AgentError, Link, Membership, OverSsh};
pub use message::{
    AgentRole, Hello, NodePart, NodeRole, Samples, Served, SetUp, Setup, TrialPart, TrialRequest,
};
pub use node_differences::{MergedDescription, describe};
pub use nodes_file::{HarnessTimes, NODES, NodesFile};
pub use wire::Bytes;
