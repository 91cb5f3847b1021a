//! The workload `memcached`: starts a real memcached, fills it, loads it over many connections,
//! checks the answers and stops it. `docs/workloads/memcached.md` defines the metrics.

mod memtier;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use assay_loadgen::{Operation, Protocol};
use assay_model::Scalar;

use crate::builtin::key_value::admin::{AdminConnection, Stats, unexpected_answer};
use crate::builtin::key_value::dialect::{CERTIFICATE, Dialect, KEY, RECONNECTS, ServerPlace};
use crate::builtin::key_value::params::{Driver, KeyValueParams, LoadParams, OtherOperations};
use crate::builtin::key_value::{KeyValue, metrics, trial as shared};
use crate::declare::{int, one_of, or_none, params, path, spec};
use crate::driver::work::Channel;
use crate::{Failure, WorkloadError};

/// Name of the workload and of its trial program.
pub const NAME: &str = "memcached";

/// Workload that measures a memcached.
pub const WORKLOAD: KeyValue = KeyValue(&DIALECT);

spec! {
    /// Starts a real memcached, fills it with small, medium and large objects, gets and sets them
    /// over many connections in a closed loop or at a fixed rate, checks every value, and stops it.
    NAME, [LoadParams::rows(), Own::rows()].concat();
    ..metrics();
}

params! {
    /// Parameters that only this workload has.
    #[derive(Debug)]
    struct Own {
        /// Wire protocol between load generator and server.
        protocol: Protocol =
            one_of(&[("text", Protocol::Text), ("meta", Protocol::Meta),
                ("binary", Protocol::Binary)]), "text";
        /// Program that generates the load: assay, or memtier_benchmark.
        memtier as "driver": bool = one_of(&[("assay", false), ("memtier", true)]), "assay";
        /// Path of memtier_benchmark; empty: the one on PATH.
        driver_path as "driver.path": Option<PathBuf> = or_none(path()), "";
        /// Number of server threads (`-t`); 4 is memcached's own default.
        server_threads as "server.threads": u32 = int(1, 1024), 4;
    }
}

static DIALECT: Dialect = Dialect {
    name: NAME,
    program: "memcached",
    package: "memcached",
    version_option: "-V",
    spec,
    read,
    listen,
    settings,
    stats,
    effective,
    pid: "pid",
    version: "version",
    start: "pid",
    evictions: "evictions",
    cpu: ["rusage_user", "rusage_system"],
    counted: &[
        ("get_hits", |ours| ours.count(Operation::GetHit)),
        ("get_misses", |ours| ours.count(Operation::GetMiss)),
        ("cmd_set", |ours| ours.count(Operation::Set)),
    ],
    also: &[],
    fill_hint: (
        "too large",
        "the largest object of the mix is above the server's item limit: raise it \
         (`server.options = \"-I 2m\"`) or make the objects smaller (`size.large`)",
    ),
};

/// Runs the trial that `json` describes.
///
/// # Errors
/// See [`shared::run`].
pub fn trial(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    shared::run(&DIALECT, Some(memtier::run), json, channel)
}

fn read(map: &BTreeMap<String, Scalar>) -> Result<KeyValueParams, WorkloadError> {
    let own = Own::read(map)?;
    let mut params = KeyValueParams::new(
        &DIALECT,
        map,
        (own.protocol, OtherOperations::default()),
        own.server_threads,
    )?;
    if own.memtier {
        params.driver = Some(Driver { path: own.driver_path, check: memtier::installed });
        memtier::can(&params)?;
    }
    Ok(params)
}

fn listen(place: &ServerPlace, dir: &Path) -> Vec<OsString> {
    match place {
        ServerPlace::Unix(path) => vec!["-s".into(), path.into()],
        ServerPlace::Tcp { ip, port } => {
            ["-p", &port.to_string(), "-l", ip].map(OsString::from).into()
        }
        ServerPlace::Tls { ip, port, plain } => {
            let option = |name: &str, file: &str| {
                let mut option = OsString::from(format!("{name}="));
                option.push(dir.join(file));
                option
            };
            let at = format!("{ip}:{port}");
            let plain = format!("notls:{ip}:{plain}");
            let mut words: Vec<OsString> =
                ["-p", &port.to_string(), "-l", &at, "-l", &plain, "-Z"].map(OsString::from).into();
            words.extend(["-o".into(), option("ssl_chain_cert", CERTIFICATE)]);
            words.extend(["-o".into(), option("ssl_key", KEY)]);
            words
        }
    }
}

/// Connections and files that the server needs in addition to those of the load.
const SPARE_CONNECTIONS: usize = 64;

fn settings(params: &KeyValueParams) -> Vec<OsString> {
    let connections = most_connections(params.connections);
    let mebibytes = (params.memory >> 20).max(1);
    let mut arguments: Vec<OsString> = ["-U", "0", "-t"].map(OsString::from).into();
    arguments.push(params.server_threads.to_string().into());
    arguments.extend(["-m".into(), mebibytes.to_string().into()]);
    arguments.extend(["-c".into(), connections.to_string().into()]);
    if rustix::process::geteuid().is_root() {
        // memcached refuses to run as root without `-u`. Changing the user would clear the
        // parent-death signal that ties it to the trial.
        arguments.extend(["-u".into(), "root".into()]);
    }
    arguments.extend(params.options.iter().cloned());
    arguments
}

/// Returns the server's connection limit: with room for connections that are reopened after a
/// stall, up to the limit on open files, beyond which memcached refuses to start.
fn most_connections(load: usize) -> usize {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let files = hard.map_or(usize::MAX, |most| most as usize);
    let minimum = load + SPARE_CONNECTIONS;
    (RECONNECTS * load + SPARE_CONNECTIONS)
        .min(files.saturating_sub(SPARE_CONNECTIONS))
        .max(minimum)
}

fn stats(talk: &mut AdminConnection) -> io::Result<Stats> {
    answer_to("stats\r\n", talk)
}

/// Names of settings that depend on where the server listens, and so differ from trial to trial.
const PLACES: [&str; 5] = ["tcpport", "udpport", "domain_socket", "inter", "umask"];

fn effective(talk: &mut AdminConnection) -> io::Result<Stats> {
    let mut settings = answer_to("stats settings\r\n", talk)?;
    settings.retain(|name, _| !PLACES.contains(&name.as_str()));
    Ok(settings)
}

/// Sends a request whose answer is lines of `STAT NAME VALUE` up to `END`.
fn answer_to(request: &str, talk: &mut AdminConnection) -> io::Result<Stats> {
    talk.ask(request)?;
    let mut stats = Stats::new();
    loop {
        let line = talk.line()?;
        if line == "END" {
            return Ok(stats);
        }
        let words = line.strip_prefix("STAT ").ok_or_else(|| unexpected_answer(&line))?;
        let (name, value) = words.split_once(' ').unwrap_or((words, ""));
        stats.insert(name.to_owned(), value.to_owned());
    }
}
