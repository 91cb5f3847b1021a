//! Body of a trial: `assay __work bulkload JSON`, in a separate process. Creates a cluster, runs
//! the sessions, kills and restarts the server if requested, checks the table, and stops the
//! server.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel as pipe;
use std::time::{Duration, Instant};

use assay_model::units::{format_duration, format_value};
use assay_model::{Observation, Phase};

use super::{Spec, server_node};
use crate::Failure;
use crate::builtin::bulkload::check::{self, query_sums};
use crate::builtin::bulkload::client::{Connection, PsqlSession, number, query, wait_for};
use crate::builtin::bulkload::flat::{Manifest, TABLE};
use crate::builtin::bulkload::params::BulkloadParams;
use crate::builtin::bulkload::results::{self, LoadMeasurements};
use crate::builtin::bulkload::server::Cluster;
use crate::driver::work::Channel;

/// Interval at which the main thread polls its sessions.
const LOOK: Duration = Duration::from_millis(1);

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if the measurement could not be completed. Wrong sums are not an error: they are
/// reported as an event, `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec = Spec::read(json)?;
    let params = BulkloadParams::from_map(&spec.params)?;
    let stop = spec.stop_flag()?;
    let made = Manifest::read(&spec.more)?;
    channel.phase(Phase::RampUp, None);
    let keep = spec.keep()?;
    let mut trial =
        BulkloadTrial { params: &params, spec: &spec, made: &made, stop: &stop, channel };
    if let Some(address) = &params.address {
        return trial.ask_another(address);
    }
    let mut cluster = Cluster::make(&params, 1, &spec.dir)?;
    let done = trial.measure(&mut cluster);
    let _ = fs::write(keep.join("server.log"), cluster.log_text());
    done?;
    trial.channel.notes(cluster.halt());
    Ok(())
}

/// State shared by the steps of a trial.
struct BulkloadTrial<'a> {
    params: &'a BulkloadParams,
    spec: &'a Spec,
    made: &'a Manifest,
    stop: &'a AtomicBool,
    channel: &'a mut Channel,
}

impl BulkloadTrial<'_> {
    fn measure(&mut self, cluster: &mut Cluster) -> Result<(), Failure> {
        cluster.start(self.stop)?;
        let connection = cluster.connection();
        make_table(&connection, self.params.index)?;
        let before = wal_position(&connection)?;
        let mut measured = LoadMeasurements {
            bytes: self.made.bytes(),
            rows: self.params.rows,
            ..LoadMeasurements::default()
        };
        let mut checked = Vec::new();
        self.load(cluster, &mut measured, &mut checked)?;
        let began = Instant::now();
        query(&connection, "the checkpoint after the load", "CHECKPOINT")?;
        measured.checkpoint_s = began.elapsed().as_secs_f64();
        measured.wal = wal_position(&connection)? - before;
        measured.table = table_size(&connection)?;
        break_something(&connection, &self.params.fault)?;
        results::metrics(&measured, self.channel);
        let all: Vec<u64> = (0..self.params.loads()).collect();
        let wrong = check::wrong(&query_sums(&connection)?, self.made, &all);
        self.did(wrong.len());
        self.verdict(&wrong, checked);
        Ok(())
    }

    /// Loads all files into the server on another node, which checks the table itself.
    fn ask_another(&mut self, address: &str) -> Result<(), Failure> {
        let connection = server_node::connection(self.params, address)?;
        wait_for(&connection, self.stop)?;
        let all: Vec<u64> = (0..self.params.loads()).collect();
        let committed = Mutex::new(Vec::new());
        let sessions = self.open(&connection, &all)?;
        self.channel.phase(Phase::Steady, None);
        let began = Instant::now();
        self.together(None, sessions, &committed, None)?;
        let load_s = began.elapsed().as_secs_f64();
        self.channel.phase(Phase::RampDown, None);
        results::of_clients(self.params.rows, self.made.bytes(), load_s, self.channel);
        self.did(0);
        let detail = format!("psql reported {} files as committed", all.len());
        self.channel.verdict(&[], detail);
        Ok(())
    }

    /// Loads all files, with a kill and a restart in between if requested.
    fn load(
        &mut self,
        cluster: &mut Cluster,
        measured: &mut LoadMeasurements,
        checked: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let all: Vec<u64> = (0..self.params.loads()).collect();
        let committed = Mutex::new(Vec::new());
        let sessions = self.open(&cluster.connection(), &all)?;
        let cpu = cluster.cpu_s();
        self.channel.phase(Phase::Steady, None);
        let began = Instant::now();
        let kill = self.params.kill.then_some(all.len().div_ceil(2));
        if self.together(Some(cluster), sessions, &committed, kill)? {
            let reported: Vec<u64> = committed.lock().map(|c| c.clone()).unwrap_or_default();
            let recovery = cluster.start(self.stop)?;
            measured.recovery_s = Some(recovery.as_secs_f64());
            let found = query_sums(&cluster.connection())?;
            let wrong = check::wrong(&found, self.made, &reported);
            if !wrong.is_empty() {
                let what = "after kill -9 the table differs from what was committed";
                return Err(Failure::program(what, wrong.join("; ")));
            }
            checked.push(format!(
                "after kill -9 and a restart of {} the {} files reported as committed were \
                 complete, and of the other {} none in part",
                format_duration(recovery),
                reported.len(),
                all.len() - reported.len(),
            ));
            let rest: Vec<u64> = all.into_iter().filter(|l| !found.contains_key(l)).collect();
            let sessions = self.open(&cluster.connection(), &rest)?;
            self.together(Some(cluster), sessions, &committed, None)?;
        }
        measured.load_s = began.elapsed().as_secs_f64();
        self.channel.phase(Phase::RampDown, None);
        if !self.params.kill {
            measured.cpu_s = cluster.cpu_s().zip(cpu).map(|(after, before)| after - before);
        }
        Ok(())
    }

    /// Opens the sessions and assigns their files.
    fn open(&self, connection: &Connection, loads: &[u64]) -> Result<Vec<PsqlSession>, Failure> {
        let files = self.params.files;
        (0..self.params.sessions)
            .map(|session| {
                let own = loads.iter().copied().filter(|load| load / files == session).collect();
                // Not on the trial's storage: if that is full, psql's message about it must not be
                // lost.
                let log = self.spec.more.join(format!("session-{session}.log"));
                PsqlSession::open(connection, log, own)
            })
            .collect()
    }

    /// Runs the sessions in parallel and kills the server once `kill` files are loaded; returns
    /// true if it was killed.
    fn together(
        &mut self,
        mut cluster: Option<&mut Cluster>,
        mut sessions: Vec<PsqlSession>,
        done: &Mutex<Vec<u64>>,
        kill: Option<usize>,
    ) -> Result<bool, Failure> {
        let (word, begin) = pipe();
        let begin = Mutex::new(begin);
        let total = self.params.loads() as usize;
        let loaders: Vec<_> = sessions.iter_mut().filter_map(PsqlSession::take).collect();
        std::thread::scope(|scope| {
            let dir: &Path = &self.spec.more;
            let begin = &begin;
            let threads: Vec<_> =
                loaders.into_iter().map(|l| scope.spawn(move || l.run(begin, dir, done))).collect();
            for _ in &threads {
                // Sending cannot fail while the waiting threads exist.
                let _ = word.send(());
            }
            let began = Instant::now();
            let mut seen = 0;
            while !threads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                std::thread::sleep(LOOK);
                let count = done.lock().map_or(0, |d| d.len());
                if count > seen {
                    seen = count;
                    self.channel.progress(count as f64 / total as f64);
                }
                let stopped = self.stop.load(Ordering::Acquire);
                if stopped || kill.is_some_and(|k| count >= k) {
                    if !stopped {
                        // Waits until the next files are being loaded, so that some transactions
                        // are open at the kill.
                        std::thread::sleep(began.elapsed() / (2 * count.max(1) as u32));
                    }
                    let killed = match cluster.as_deref_mut() {
                        Some(cluster) if !stopped => cluster.kill(),
                        _ => Ok(()),
                    };
                    sessions.iter_mut().for_each(PsqlSession::kill);
                    return if stopped { Err(Failure::Stopped) } else { killed.map(|()| true) };
                }
            }
            let fine: Vec<bool> = threads.into_iter().map(|t| t.join().unwrap_or(false)).collect();
            match fine.iter().position(|fine| !fine) {
                None => Ok(false),
                Some(n) => Err(self.broken(cluster.as_deref(), sessions.get_mut(n), n)),
            }
        })
    }

    /// Returns the failure of an interrupted session, with its own message and the server's.
    fn broken(
        &self,
        cluster: Option<&Cluster>,
        session: Option<&mut PsqlSession>,
        n: usize,
    ) -> Failure {
        if self.stop.load(Ordering::Acquire) {
            return Failure::Stopped;
        }
        let what = format!("session {} failed", n + 1);
        match session.map(|s| s.failed(&what)) {
            Some(Failure::Program { what, message }) => {
                let server = cluster.map(Cluster::last_lines).map_or_else(String::new, |server| {
                    format!("; the server's log ends with: {server}")
                });
                Failure::Program { what, message: format!("{message}{server}") }
            }
            Some(other) => other,
            None => Failure::Program { what, message: "it gave no reason".into() },
        }
    }

    /// Reports the number of loaded rows; the rows of `wrong` files count as errors.
    fn did(&mut self, wrong: usize) {
        let (rows, files) = (self.params.rows, self.params.loads().max(1));
        self.channel.evidence(Observation::Work {
            operations: rows,
            errors: (wrong as u64).min(files) * rows / files,
            what: "rows".into(),
            seed: Some(self.params.seed),
            mix: String::new(),
        });
    }

    /// Reports whether the table matches the files.
    fn verdict(&mut self, wrong: &[String], mut checked: Vec<String>) {
        checked.push(format!(
            "{} in {} files: the counts and eight sums of each are in the table as in the file",
            format_value(self.params.rows as f64, "rows"),
            self.params.loads(),
        ));
        self.channel.verdict(wrong, checked.join("; "));
    }
}

/// Creates the empty table and writes a checkpoint.
pub fn make_table(connection: &Connection, index: bool) -> Result<(), Failure> {
    let index = if index { "; ALTER TABLE sales_fact ADD PRIMARY KEY (sale_id)" } else { "" };
    query(connection, "making the table", &format!("{TABLE}{index}"))?;
    query(connection, "the checkpoint before the load", "CHECKPOINT").map(|_| ())
}

/// Returns the current WAL position in bytes.
pub fn wal_position(connection: &Connection) -> Result<i64, Failure> {
    number(connection, "the position in the WAL", "SELECT pg_current_wal_insert_lsn() - '0/0'")
}

/// Returns the size of the table with its indexes in bytes.
pub fn table_size(connection: &Connection) -> Result<i64, Failure> {
    number(connection, "the size of the table", "SELECT pg_total_relation_size('sales_fact')")
}

/// Injects the fault of the parameter `fault`.
pub fn break_something(connection: &Connection, fault: &str) -> Result<(), Failure> {
    let row = "WHERE sale_id = (SELECT min(sale_id) FROM sales_fact)";
    let sql = match fault {
        "sum" => format!("UPDATE sales_fact SET cents = cents + 1 {row}"),
        "row" => format!("DELETE FROM sales_fact {row}"),
        _ => return Ok(()),
    };
    query(connection, "breaking the table on purpose", &sql).map(|_| ())
}
