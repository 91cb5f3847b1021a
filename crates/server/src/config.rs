//! What a server is started with.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;

use assay_archive::Archive;
use assay_model::RunId;
use assay_report::RunView;
use assay_workloads::KitPaths;

/// Reads a run for the reports, the same way as the command line does.
pub type LoadRun = fn(&Archive, &RunId) -> Result<RunView, Box<dyn Error + Send + Sync>>;

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Names other than addresses and `localhost` that browsers may call it by.
    pub hosts: Vec<String>,
    /// The folders of experiments.
    pub folders: Vec<PathBuf>,
    /// Whether any experiment may be submitted, and any parameter changed.
    pub allow_any: bool,
    /// Where records are.
    pub archive: Archive,
    /// Where the queue and the token are.
    pub state_dir: PathBuf,
    /// The assay executable that runs experiments.
    pub exe: PathBuf,
    /// Where kits are looked for.
    pub kits: KitPaths,
    /// Reads runs.
    pub load: LoadRun,
    /// At most so many connections at once.
    pub connections: usize,
    /// At most so many of one address.
    pub connections_per_address: usize,
    /// Requests a second that one address may make for long; bursts of four times as many are served.
    pub rate: u32,
    /// The version of assay.
    pub version: &'static str,
}
