//! The workload `redis`: starts a real Redis or Valkey, fills it, loads it over many connections,
//! checks the answers and stops it. `docs/workloads/redis.md` defines the metrics.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use assay_loadgen::config::MAX_MULTI_GET;
use assay_loadgen::{Operation, Protocol};
use assay_model::Scalar;

use crate::builtin::key_value::admin::{AdminConnection, Stats, unexpected_answer};
use crate::builtin::key_value::dialect::{CERTIFICATE, Dialect, KEY, RECONNECTS, ServerPlace};
use crate::builtin::key_value::params::{KeyValueParams, LoadParams, OtherOperations};
use crate::builtin::key_value::{KeyValue, metrics, trial as shared};
use crate::declare::{int, number, one_of, params, spec, wrong};
use crate::driver::work::Channel;
use crate::{Failure, WorkloadError};

/// Name of the workload and of its trial program.
pub const NAME: &str = "redis";

/// Workload that measures a Redis or a Valkey.
pub const WORKLOAD: KeyValue = KeyValue(&DIALECT);

spec! {
    /// Starts a real Redis or Valkey without persistence, fills it with small, medium and large
    /// objects, loads it over many connections in a closed loop or at a fixed rate, checks every
    /// answer, and stops it.
    NAME, [LoadParams::rows(), Own::rows()].concat();
    ..metrics();
    /// Keys that the server found in the window, by its own counter.
    "server_hits", "1", Neither, Measured;
    /// Keys that the server did not find in the window, by its own counter.
    "server_misses", "1", Neither, Measured;
    /// Objects that expired in the window.
    "expired", "1", Lower, Measured;
}

params! {
    /// Parameters that only this workload has.
    #[derive(Debug)]
    struct Own {
        /// Version of the wire protocol RESP; `resp3` begins each connection with `HELLO 3`.
        protocol: Protocol =
            one_of(&[("resp2", Protocol::Resp2), ("resp3", Protocol::Resp3)]), "resp2";
        /// Share of deletes (`DEL`) among the operations.
        deletes: f64 = number(0.0, 1.0), Scalar::Float(0.0);
        /// Share of increments (`INCR`) among the operations. Each connection has a counter, of
        /// which every answer must be the next number.
        increments: f64 = number(0.0, 1.0), Scalar::Float(0.0);
        /// Share of multi-gets (`MGET`) among the operations; a multi-get is one operation.
        multi_gets: f64 = number(0.0, 1.0), Scalar::Float(0.0);
        /// Number of objects that a multi-get asks for.
        multi_get_keys as "multi_gets.keys": u32 = int(1, MAX_MULTI_GET.into()), 10;
        /// Number of server threads for sockets (`io-threads`); commands run on one thread.
        server_threads as "server.threads": u32 = int(1, 128), 1;
    }
}

static DIALECT: Dialect = Dialect {
    name: NAME,
    program: "redis-server",
    package: "redis-server",
    version_option: "--version",
    spec,
    read,
    listen,
    settings,
    stats,
    effective,
    pid: "process_id",
    version: "redis_version",
    start: "run_id",
    evictions: "evicted_keys",
    cpu: ["used_cpu_user", "used_cpu_sys"],
    counted: &[
        ("keyspace_hits", |ours| ours.count(Operation::GetHit) + ours.parts[0]),
        ("keyspace_misses", |ours| ours.count(Operation::GetMiss) + ours.parts[1]),
        ("set calls", |ours| ours.count(Operation::Set)),
        ("del calls", |ours| ours.count(Operation::Delete)),
        ("incr calls", |ours| ours.count(Operation::Increment)),
        ("mget calls", |ours| ours.count(Operation::MultiGet)),
    ],
    also: &[
        ("server_hits", "keyspace_hits"),
        ("server_misses", "keyspace_misses"),
        ("expired", "expired_keys"),
    ],
    fill_hint: (
        "OOM",
        "the objects need more than `server.memory`: raise it, use fewer `keys`, or let the server \
         evict (`server.options = \"--maxmemory-policy allkeys-lru\"`)",
    ),
};

/// Runs the trial that `json` describes.
///
/// # Errors
/// See [`shared::run`].
pub fn trial(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    shared::run(&DIALECT, None, json, channel)
}

fn read(map: &BTreeMap<String, Scalar>) -> Result<KeyValueParams, WorkloadError> {
    let Own { protocol, deletes, increments, multi_gets, multi_get_keys, server_threads } =
        Own::read(map)?;
    let other = OtherOperations { deletes, increments, multi_gets, multi_get_keys };
    let params = KeyValueParams::new(&DIALECT, map, (protocol, other), server_threads)?;
    let word = |option: &OsString| option.to_string_lossy().to_lowercase();
    let secret = |word: &String| SECRETS.iter().any(|name| word.starts_with(name));
    if params.options.iter().map(word).any(|word| secret(&word)) {
        return Err(wrong(
            "`server.options` has a password, which everybody on the machine can see; write \
             `user default on >PASSWORD ~* &* +@all` to a file and set `server.options = \
             \"--aclfile FILE\"`",
        ));
    }
    Ok(params)
}

fn listen(place: &ServerPlace, dir: &Path) -> Vec<OsString> {
    let option = |name: &str, value: OsString| [OsString::from(format!("--{name}")), value];
    let mut words: Vec<OsString> = Vec::new();
    if !dir.as_os_str().is_empty() {
        words.extend(option("dir", dir.into()));
    }
    match place {
        ServerPlace::Unix(path) => {
            words.extend(option("unixsocket", path.into()));
            words.extend(option("port", "0".into()));
        }
        ServerPlace::Tcp { ip, port } => {
            words.extend(option("bind", ip.into()));
            words.extend(option("port", port.to_string().into()));
        }
        ServerPlace::Tls { ip, port, plain } => {
            words.extend(option("bind", ip.into()));
            words.extend(option("port", plain.to_string().into()));
            words.extend(option("tls-port", port.to_string().into()));
            words.extend(option("tls-cert-file", dir.join(CERTIFICATE).into()));
            words.extend(option("tls-key-file", dir.join(KEY).into()));
            words.extend(option("tls-ca-cert-file", dir.join(CERTIFICATE).into()));
            words.extend(option("tls-auth-clients", "no".into()));
        }
    }
    words
}

fn settings(params: &KeyValueParams) -> Vec<OsString> {
    let clients = RECONNECTS * params.connections + 64;
    let numbers = [
        ("--maxmemory", params.memory.to_string()),
        ("--maxclients", clients.to_string()),
        ("--io-threads", params.server_threads.to_string()),
    ];
    // No persistence: neither snapshots nor a log. Protected mode would refuse other nodes.
    let mut words: Vec<OsString> =
        ["--save", "", "--appendonly", "no", "--protected-mode", "no"].map(OsString::from).into();
    words.extend(numbers.into_iter().flat_map(|(name, value)| [name.into(), value.into()]));
    words.extend(params.options.iter().cloned());
    words
}

/// Sends `INFO`. The calls of a command are under `COMMAND calls`, 0 before the first one.
fn stats(talk: &mut AdminConnection) -> io::Result<Stats> {
    let mut stats: Stats =
        ["set", "del", "incr", "mget"].map(|name| (format!("{name} calls"), "0".into())).into();
    for section in ["INFO\r\n", "INFO commandstats\r\n"] {
        talk.ask(section)?;
        let head = talk.line()?;
        let length = head.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
        let mut left = length.ok_or_else(|| unexpected_answer(&head))?;
        while left > 0 {
            let line = talk.line()?;
            left = left.saturating_sub(line.len() + 2);
            let Some((name, value)) = line.split_once(':') else { continue };
            let calls = value.strip_prefix("calls=").and_then(|v| v.split(',').next());
            match (name.strip_prefix("cmdstat_"), calls) {
                (Some(command), Some(n)) => stats.insert(format!("{command} calls"), n.to_owned()),
                _ => stats.insert(name.to_owned(), value.to_owned()),
            };
        }
        talk.line()?;
    }
    // Valkey states the version of Redis that it is compatible with, and its own.
    if let Some(version) = stats.get("valkey_version").map(|v| format!("valkey {v}")) {
        stats.insert("redis_version".into(), version);
    }
    Ok(stats)
}

/// Options whose values are passwords.
const SECRETS: [&str; 4] = ["--requirepass", "--masterauth", "--user", "--tls-key-file-pass"];

/// Settings that depend on where the server listens, or are secrets.
const NOT_RECORDED: [&str; 14] = [
    "port",
    "tls-port",
    "bind",
    "bind-source-addr",
    "unixsocket",
    "unixsocketperm",
    "dir",
    "pidfile",
    "logfile",
    "aclfile",
    "requirepass",
    "masterauth",
    "masteruser",
    "tls-key-file-pass",
];

/// Sends `CONFIG GET *`, whose answer is an array of names and values.
fn effective(talk: &mut AdminConnection) -> io::Result<Stats> {
    talk.ask("CONFIG GET *\r\n")?;
    let head = talk.line()?;
    let count = head.strip_prefix('*').and_then(|n| n.parse::<usize>().ok());
    let mut text = || {
        let head = talk.line()?;
        if !head.starts_with('$') {
            return Err(unexpected_answer(&head));
        }
        talk.line()
    };
    let mut settings = Stats::new();
    for _ in 0..count.ok_or_else(|| unexpected_answer(&head))? / 2 {
        let (name, value) = (text()?, text()?);
        let file = name.starts_with("tls-") && name.contains("file");
        if !file && !NOT_RECORDED.contains(&name.as_str()) {
            settings.insert(name, value);
        }
    }
    Ok(settings)
}
