//! Errors that prevent a run. Errors during a run are in its report instead.

use std::io;
use std::path::PathBuf;

/// Error that prevents a run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A field of the configuration is invalid: its name, its value and the valid range.
    #[error("{0}")]
    Config(String),
    /// The process may not open enough files for the connections.
    #[error(
        "{connections} connections need {needed} open files, and this process may open {limit} \
         (hard limit RLIMIT_NOFILE); use fewer connections, or raise it: `ulimit -Hn {needed}` as \
         root, LimitNOFILE= of a systemd unit, or nofile in /etc/security/limits.conf"
    )]
    OpenFiles {
        /// Requested number of connections.
        connections: usize,
        /// Files that the connections and the rest of the process need.
        needed: u64,
        /// Hard limit on open files.
        limit: u64,
    },
    /// A host name does not resolve to an address.
    #[error("cannot resolve {address} ({source}); write host:port, such as 127.0.0.1:11211")]
    Resolve {
        /// The address as given in the configuration.
        address: String,
        source: io::Error,
    },
    /// A connection could not be opened.
    #[error(
        "cannot connect to {target} (connection {number} of {connections}): {source}; is a server \
        running there?"
    )]
    Connect {
        /// Name of the server.
        target: String,
        /// Number of the failed connection, from 1.
        number: usize,
        /// Requested number of connections.
        connections: usize,
        source: io::Error,
    },
    /// TLS could not be set up, or the server's certificate was rejected.
    #[error("TLS with {target}: {what}")]
    Tls {
        /// Name of the server.
        target: String,
        /// Description of the failure.
        what: String,
    },
    /// The file of certificate authorities is unusable.
    #[error("the certificate authorities in {} cannot be used: {what}", path.display())]
    Authorities {
        /// Path of the file.
        path: PathBuf,
        /// Description of the failure.
        what: String,
    },
    /// A thread could not be bound to its CPU.
    #[error(
        "cannot bind a thread to CPU {cpu}: {source}; the CPUs allowed are in /proc/self/status \
        (Cpus_allowed_list)"
    )]
    Pin { cpu: usize, source: io::Error },
    /// A system call failed that is expected to succeed.
    #[error("{call} failed: {source}")]
    Kernel {
        /// Name of the system call.
        call: &'static str,
        source: io::Error,
    },
    /// A search had no valid range to search, or the server went away meanwhile.
    #[error("the search for a rate: {0}")]
    Search(String),
}
