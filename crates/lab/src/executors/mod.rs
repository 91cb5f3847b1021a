//! Where trials run: this machine, hosts, the nodes of a Slurm job, a virtual machine.

pub(super) mod agent;
pub(super) mod executor;
pub(super) mod hosts;
pub(super) mod nodes;
pub(super) mod remote;
pub(super) mod server_program;
pub(super) mod spanning_program;
pub(super) mod virtual_machine;
