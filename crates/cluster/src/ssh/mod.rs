//! Hosts that are reached by the user's own `ssh`, with its configuration, keys and jump hosts.
//!
//! The agent of a host is the remote command of one `ssh`, and talks to the collector over its
//! standard input and output. So nothing listens on a port, and the agent ends when the link does.
//! Nothing here asks for a password: an `ssh` that would is refused.

mod command;
mod host;

pub use command::AgentProgram;
pub(crate) use host::{HostSession, SessionRequest};
