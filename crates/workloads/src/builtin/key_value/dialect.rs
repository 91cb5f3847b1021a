//! Table of what differs between kinds of servers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use assay_model::{Scalar, WorkloadSpec};

use crate::WorkloadError;
use crate::builtin::key_value::admin::{AdminConnection, Stats};
use crate::builtin::key_value::answers::Answers;
use crate::builtin::key_value::params::KeyValueParams;

/// Connections per connection of the load that the server may have to hold before it notices that
/// older ones were closed: the load gives up after three lost connections.
pub const RECONNECTS: usize = 4;

/// Files of the self-signed certificate that is made for the server.
pub const CERTIFICATE: &str = "certificate.pem";
pub const KEY: &str = "key.pem";

/// Place that a server listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPlace {
    /// Path of a UNIX socket.
    Unix(PathBuf),
    Tcp {
        ip: String,
        port: u16,
    },
    /// TLS on `port`, and plain text for statistics on `plain`.
    Tls {
        ip: String,
        port: u16,
        plain: u16,
    },
}

/// Number of a run's answers that a counter of the server includes.
pub type AnswerCount = fn(&Answers) -> u64;

/// A kind of server: its program, its command line, and the names of its counters.
#[derive(Debug)]
pub struct Dialect {
    /// Name of the workload, of its trial program and of the server in messages.
    pub name: &'static str,
    /// File name of the server's program.
    pub program: &'static str,
    /// Debian package of the program.
    pub package: &'static str,
    /// Option that makes the program print its version.
    pub version_option: &'static str,
    pub spec: fn() -> &'static WorkloadSpec,
    /// Reads the parameters of a treatment.
    pub read: fn(&BTreeMap<String, Scalar>) -> Result<KeyValueParams, WorkloadError>,
    /// Returns the options of a server that listens at a place, with its files in a folder.
    pub listen: fn(&ServerPlace, &Path) -> Vec<OsString>,
    /// Returns the options that do not depend on the place.
    pub settings: fn(&KeyValueParams) -> Vec<OsString>,
    /// Requests the server's counters.
    pub stats: fn(&mut AdminConnection) -> io::Result<Stats>,
    /// Requests the server's effective settings, without those that depend on its place.
    pub effective: fn(&mut AdminConnection) -> io::Result<Stats>,
    /// Name of the counter with the server's process id.
    pub pid: &'static str,
    /// Name of the counter with the server's version.
    pub version: &'static str,
    /// Name of a value that is new after each start of the server.
    pub start: &'static str,
    /// Name of the counter of evicted objects.
    pub evictions: &'static str,
    /// Names of the server's user and system CPU time in seconds.
    pub cpu: [&'static str; 2],
    /// Counters that must agree with the load generator's counts.
    pub counted: &'static [(&'static str, AnswerCount)],
    /// Further metrics that are the increase of a counter in the window, and that counter.
    pub also: &'static [(&'static str, &'static str)],
    /// Part of an error while the server is filled, and its remedy.
    pub fill_hint: (&'static str, &'static str),
}
