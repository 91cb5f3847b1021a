//! PostgreSQL on a node of its own, for sessions on other nodes: `assay __work bulkload-server
//! JSON` creates the cluster, waits until the clients are done, writes a checkpoint, and checks
//! that all rows are in the table.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_model::units::format_value;
use assay_model::{Phase, Scalar};
use assay_system::clock::monotonic_ns;
use assay_system::state_file::{URANDOM, random};
use serde::{Deserialize, Serialize};

use crate::builtin::bulkload::Bulkload;
use crate::builtin::bulkload::check::{self, query_sums};
use crate::builtin::bulkload::client::{Connection, query};
use crate::builtin::bulkload::flat::{Manifest, expected};
use crate::builtin::bulkload::params::BulkloadParams;
use crate::builtin::bulkload::postgres::{Programs, User};
use crate::builtin::bulkload::results::{self, LoadMeasurements};
use crate::builtin::bulkload::server::Cluster;
use crate::builtin::bulkload::trial::{break_something, make_table, table_size, wal_position};
use crate::capability::{DoneSignal, ServerLaunch, ServerWorkload};
use crate::driver::program::free_port;
use crate::driver::work::Channel;
use crate::error::Result;
use crate::trial_spec::TrialSpec;
use crate::{Failure, Launch, TrialContext, WorkloadError};

/// Name of the server's trial program.
pub const SERVER: &str = "bulkload-server";
/// Environment variable that carries the password, so that it is on no command line.
pub const KEY: &str = "ASSAY_BULKLOAD_KEY";
/// File whose existence means that the clients are done.
const DONE: &str = "bulkload-done";
/// Time limit for creating a cluster and computing the sums.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Interval at which the server looks for `DONE`.
const LOOK: Duration = Duration::from_millis(10);

/// Spec of the server's process.
type Spec = TrialSpec<Clients>;

/// The clients that load the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Clients {
    /// File that is created when the clients are done; contains the time at which the first began.
    done: PathBuf,
    /// Address on which the server listens.
    host: String,
    port: u16,
    /// Number of client nodes.
    nodes: u64,
}

impl ServerWorkload for Bulkload {
    fn serve(
        &self,
        map: &BTreeMap<String, Scalar>,
        host: &str,
        clients: usize,
    ) -> Result<ServerLaunch> {
        let params = BulkloadParams::from_map(map)?;
        Programs::find(params.bin.as_deref())?;
        User::find(&params.user)?;
        let cannot = |what: &str| Err(WorkloadError::Param(what.to_owned()));
        if params.kill {
            return cannot("`kill` is for a server on the machine of its sessions; leave it out");
        }
        if params.address.is_some() {
            return cannot("`server.address` is for assay to set; leave it out");
        }
        let address = format!("{host}:{}", free_port(host)?);
        let random: [u8; 16] = random().map_err(WorkloadError::io("read", Path::new(URANDOM)))?;
        let key = assay_system::hex(&random);
        let of = |name: &str, value: Scalar| (name.to_owned(), value);
        Ok(ServerLaunch {
            launch: Launch::default(),
            params: [
                of("server.address", address.as_str().into()),
                of("server.key", key.as_str().into()),
            ]
            .into(),
            address,
            each: (0..clients).map(|n| [of("client", (n as i64).into())].into()).collect(),
            done: Some(DoneSignal { file: DONE, timeout: TIMEOUT }),
        })
    }

    fn launch_server(&self, ctx: &TrialContext<'_>, serving: &ServerLaunch) -> Result<Launch> {
        let (host, port) = split(&serving.address)?;
        let nodes = serving.each.len() as u64;
        let clients = Clients { done: ctx.run_dir.join(DONE), host, port, nodes };
        let launch = Spec::new(ctx, clients).launch(ctx, SERVER)?;
        Ok(with_key(launch, &serving.params))
    }
}

/// Puts the password into the environment of a command.
pub fn with_key(mut launch: Launch, params: &BTreeMap<String, Scalar>) -> Launch {
    let key = params.get("server.key").map(Scalar::to_text).filter(|k| !k.is_empty());
    launch.env.extend(key.map(|key| (KEY.into(), key.into())));
    launch
}

fn split(address: &str) -> Result<(String, u16)> {
    let found = address.rsplit_once(':').and_then(|(h, p)| Some((h.to_owned(), p.parse().ok()?)));
    found.ok_or_else(|| WorkloadError::Param(format!("`{address}` is not a host and port")))
}

/// Returns the connection to a server on another node.
///
/// # Errors
/// Fails if the address is invalid or psql is missing.
pub fn connection(params: &BulkloadParams, address: &str) -> Result<Connection> {
    let (host, port) = split(address)?;
    let psql = Programs::find(params.bin.as_deref())?.psql;
    Ok(Connection { psql, host: host.into(), port: port.to_string(), key: std::env::var(KEY).ok() })
}

/// Runs the server that `json` describes and reports on `channel`.
///
/// # Errors
/// [`Failure`] if the measurement could not be completed. Wrong sums are not an error: they are
/// reported as an event.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec = Spec::read(json)?;
    let params = BulkloadParams::from_map(&spec.params)?;
    let stop = spec.stop_flag()?;
    channel.phase(Phase::RampUp, None);
    let keep = spec.keep()?;
    let made = expected(&params, spec.more.nodes)?;
    let mut cluster = Cluster::make(&params, spec.more.nodes, &spec.dir)?;
    let done = serve(&params, &spec, &made, &mut cluster, &stop, channel);
    let _ = fs::write(keep.join("server.log"), cluster.log_text());
    done?;
    channel.notes(cluster.halt());
    Ok(())
}

fn serve(
    params: &BulkloadParams,
    spec: &Spec,
    made: &Manifest,
    cluster: &mut Cluster,
    stop: &AtomicBool,
    channel: &mut Channel,
) -> Result<(), Failure> {
    cluster.start(stop)?;
    make_table(&cluster.connection(), params.index)?;
    let key = std::env::var(KEY).map_err(|_| WorkloadError::Param("it has no password".into()))?;
    cluster.open_to(&spec.more.host, spec.more.port, &key)?;
    channel.notes(cluster.halt());
    cluster.start(stop)?;
    let connection = cluster.connection();
    let (before, cpu) = (wal_position(&connection)?, cluster.cpu_s());
    channel.phase(Phase::Steady, None);
    let since_ns = wait(spec, cluster, stop)?;
    let cpu_s = cluster.cpu_s().zip(cpu).map(|(after, before)| after - before);
    channel.phase(Phase::RampDown, None);
    let began = Instant::now();
    query(&connection, "the checkpoint after the load", "CHECKPOINT")?;
    let written_s = monotonic_ns().saturating_sub(since_ns) as f64 * 1e-9;
    let rows = params.rows * spec.more.nodes;
    let measured = LoadMeasurements {
        rows,
        bytes: made.bytes(),
        checkpoint_s: began.elapsed().as_secs_f64(),
        wal: wal_position(&connection)? - before,
        table: table_size(&connection)?,
        cpu_s,
        ..LoadMeasurements::default()
    };
    break_something(&connection, &params.fault)?;
    results::of_server(&measured, written_s, channel);
    let all: Vec<u64> = (0..made.loads.len() as u64).collect();
    let wrong = check::wrong(&query_sums(&connection)?, made, &all);
    let well = format!(
        "{} in {} files of {} nodes: counts and eight sums are equal in table and file",
        format_value(rows as f64, "rows"),
        all.len(),
        spec.more.nodes
    );
    channel.verdict(&wrong, well);
    Ok(())
}

/// Waits until the clients are done; returns the time at which the first of them began, in ns.
fn wait(spec: &Spec, cluster: &mut Cluster, stop: &AtomicBool) -> Result<u64, Failure> {
    loop {
        if stop.load(Ordering::Acquire) {
            return Err(Failure::Stopped);
        }
        if let Ok(text) = fs::read_to_string(&spec.more.done) {
            let what = "the start of the clients is not a number";
            return text.trim().parse().map_err(|_| Failure::program(what, text));
        }
        if let Some(status) = cluster.ended() {
            let what = format_args!("the server ended during the load ({status})");
            return Err(Failure::program(what, cluster.last_lines()));
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_learn_where_and_who_they_are_and_the_password_is_on_no_command_line() {
        let map = crate::declare::treatment(BulkloadParams::rows(), &[]);
        let serving = match Bulkload.serve(&map, "127.0.0.1", 2) {
            Err(WorkloadError::Missing { what, .. }) => {
                println!("skipped: because {what} is not here");
                return;
            }
            other => other.unwrap(),
        };
        assert_eq!(serving.params["server.address"].to_text(), serving.address);
        assert_eq!(serving.each[1]["client"].to_text(), "1");
        let key = serving.params["server.key"].to_text();
        assert_eq!(key.len(), 32);
        let launch = with_key(Launch::default(), &serving.params);
        assert_eq!(launch.env, [(KEY.into(), key.into())]);
        let mut killed = map.clone();
        killed.insert("kill".into(), "middle".into());
        assert!(Bulkload.serve(&killed, "127.0.0.1", 1).is_err());
        assert!(split("nowhere").is_err());
    }
}
