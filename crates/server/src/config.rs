//! Settings that a server is started with.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use assay_archive::Archive;
use assay_model::RunId;
use assay_report::RunView;
use assay_workloads::KitPaths;

/// Reads a run for the reports, the same way as the command line does.
pub type LoadRun = fn(&Archive, &RunId) -> Result<RunView, Box<dyn Error + Send + Sync>>;

/// Time limit for starting a response, unless the configuration has another.
pub const MAX_RESPONSE_TIME: Duration = Duration::from_secs(60);

/// Settings that a server is started with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Host names that requests may use, in addition to IP addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Folders with the experiments that may be submitted.
    pub folders: Vec<PathBuf>,
    /// True if any experiment may be submitted and any parameter changed.
    pub allow_any: bool,
    pub archive: Archive,
    /// Folder of the queue, the tokens, the sessions and the saved searches.
    pub state_dir: PathBuf,
    /// Executable of assay, which runs the experiments.
    pub exe: PathBuf,
    pub kits: KitPaths,
    pub load: LoadRun,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of open connections from one address.
    pub connections_per_address: usize,
    /// Sustained requests per second that one address may make. Bursts of up to four times as many
    /// are served.
    pub rate: u32,
    /// Time limit for starting a response; the work of a request ends with it.
    pub response_time: Duration,
    pub version: &'static str,
}
