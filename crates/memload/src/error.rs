//! Why a run could not be made at all. What goes wrong while it runs is in the report instead.

use std::io;
use std::path::PathBuf;

/// A run that could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of the configuration is wrong: its name, its value and what would be right.
    #[error("{0}")]
    Config(String),
    /// The process may not open as many files as there are connections.
    #[error(
        "{connections} connections need {needed} open files, and this process may open {limit} (hard limit \
         RLIMIT_NOFILE); use fewer connections, or raise it: `ulimit -Hn {needed}` as root, \
         LimitNOFILE= of a systemd unit, or nofile in /etc/security/limits.conf"
    )]
    OpenFiles {
        /// The connections asked for.
        connections: usize,
        /// The files they and the rest of the process need.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// A host name has no address.
    #[error("{address} has no address ({source}); write host:port, such as 127.0.0.1:11211")]
    Resolve {
        /// As given.
        address: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// A connection could not be opened.
    #[error(
        "cannot connect to {target} (connection {number} of {connections}): {source}; is memcached running there?"
    )]
    Connect {
        /// The server.
        target: String,
        /// Which connection failed, from 1.
        number: usize,
        /// How many were asked for.
        connections: usize,
        /// The kernel's error.
        source: io::Error,
    },
    /// TLS could not be set up, or the server's certificate was refused.
    #[error("TLS with {target}: {what}")]
    Tls {
        /// The server.
        target: String,
        /// What was wrong.
        what: String,
    },
    /// The file of certificate authorities cannot be used.
    #[error("the certificate authorities in {} cannot be used: {what}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        what: String,
    },
    /// A thread could not be bound to its CPU.
    #[error(
        "cannot bind a thread to CPU {cpu}: {source}; the CPUs allowed are in /proc/self/status (Cpus_allowed_list)"
    )]
    Pin {
        /// The CPU.
        cpu: usize,
        /// The kernel's error.
        source: io::Error,
    },
    /// A call of the kernel failed that has no business to.
    #[error("{call} failed: {source}")]
    Kernel {
        /// The call.
        call: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// A search was given nothing to search in, or the server went away meanwhile.
    #[error("the search for a rate: {0}")]
    Search(String),
}
