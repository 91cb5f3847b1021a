//! Arguments of the verbs of a server, which a build without the server has too.

use std::path::PathBuf;

use clap::Args;

/// `assay serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The folders of experiments that may be submitted [default: ./experiments, else those that
    /// come with assay].
    #[arg(value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// The address to listen on. Other machines can reach anything but a loopback address; the
    /// traffic is not encrypted.
    #[arg(long, default_value = "127.0.0.1:7654", value_name = "ADDRESS:PORT")]
    pub listen: std::net::SocketAddr,
    /// A name that browsers may use for the server, in addition to addresses and `localhost`. May
    /// be given several times.
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Allow any experiment and any parameter: whoever has the token may run any command.
    #[arg(long)]
    pub allow_any: bool,
    /// Maximum number of connections at once. Above that, connections that have shown no token are
    /// closed first.
    #[arg(long, default_value_t = 512, value_name = "N",
        value_parser = clap::value_parser!(u32).range(4..=65536))]
    pub connections: u32,
    /// Maximum number of connections from one address [default: half of all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=65536))]
    pub connections_per_address: Option<u32>,
    /// Sustained requests per second from one address; bursts of four times as many are served.
    #[arg(long, default_value_t = 100, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: u32,
}

/// The server to talk to.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// The server [default: the one that runs on this machine].
    #[arg(long, env = "ASSAY_SERVER", value_name = "HOST:PORT")]
    pub server: Option<String>,
}

/// A job of a server's queue.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// The number of the job.
    pub job: u64,
    /// The server that has the job.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `assay submit`.
#[derive(Debug, Args)]
pub struct Submit {
    /// The experiment: its name in the server's folders, or its file.
    pub experiment: String,
    /// A parameter: one value fixes it, several (with commas) make it a factor.
    #[arg(long, value_name = "NAME=V[,V...]")]
    pub set: Vec<String>,
    /// The number of blocks; each holds one trial of every treatment.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: Option<u32>,
    /// A word to find the run by. May be given several times.
    #[arg(long, value_name = "WORD")]
    pub tag: Vec<String>,
    /// Measure this revision (a commit, a tag, a branch) as a point of the experiment's history;
    /// the experiment has a [source].
    #[arg(long, value_name = "REV")]
    pub rev: Option<String>,
    /// The reference revision [default: the reference of the history, else the one that the file
    /// names].
    #[arg(long, value_name = "REV", requires = "rev")]
    pub reference: Option<String>,
    /// Do not start before this time.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Put the job in front of all waiting jobs.
    #[arg(long)]
    pub first: bool,
    /// Wait until the job has finished, and exit with the code of its run.
    #[arg(long)]
    pub wait: bool,
    /// The server to submit to.
    #[command(flatten)]
    pub server: ServerArgs,
}
