//! Body of a trial: `assay __work NAME JSON`, in a separate process. Starts the server, fills
//! it, loads it, checks it and stops it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_loadgen::config::Config;
use assay_loadgen::latency::report::Errors;
use assay_loadgen::{ErrorKind, LoadEnd, LoadReport, Target, limits, preload};
use assay_model::Phase;
use serde::{Deserialize, Serialize};

use super::{diagnostics, finding, results};
use crate::builtin::key_value::admin::{AdminConnection, Endpoint, count, login_remedy};
use crate::builtin::key_value::answers::{Answers, wrong_words};
use crate::builtin::key_value::dialect::Dialect;
use crate::builtin::key_value::params::{Driver, Find, KeyValueParams, Transport};
use crate::builtin::key_value::server::RunningServer;
use crate::builtin::key_value::server_side::{HostCpu, ServerCounters, listen, sample};
use crate::builtin::key_value::split::split;
use crate::driver::work::Channel;
use crate::trial_spec::TrialSpec;
use crate::{Failure, TrialContext};

/// Specification of a trial with a key-value server.
pub type Spec = TrialSpec<EarlierTrials>;

/// Results of earlier trials of the treatment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlierTrials {
    /// Rates of the first trial's curve, so that all trials measure at the same ones; empty without
    /// one.
    rates: Vec<f64>,
    /// Version of the server.
    version: Option<String>,
}

/// First words of the note with the server's version.
const VERSION: &str = "the server's version: ";

impl EarlierTrials {
    /// Reads the records of earlier trials.
    pub fn new(ctx: &TrialContext<'_>) -> Self {
        let curve = ctx.previous.iter().find_map(|r| r.curve("throughput"));
        let rates = curve.map(|curve| curve.points.iter().map(|p| p[0]).collect());
        let mut notes = ctx.previous.iter().flat_map(|r| &r.notes);
        let version = notes.find_map(|note| note.strip_prefix(VERSION)).map(str::to_owned);
        EarlierTrials { rates: rates.unwrap_or_default(), version }
    }
}

/// Measures with a program that generates the load instead of assay; its files go to the folder.
pub type ExternalDriver = fn(&Driver, &Path, &mut TrialState<'_>) -> Result<(), Failure>;

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if the measurement could not be completed. Wrong answers are not an error: they are
/// reported as an event, `valid: false`.
pub fn run(
    dialect: &'static Dialect,
    external: Option<ExternalDriver>,
    json: &str,
    channel: &mut Channel,
) -> Result<(), Failure> {
    let spec = Spec::read(json)?;
    let params = (dialect.read)(&spec.params)?;
    let stop = spec.stop_flag()?;
    let own = params.address.is_none().then_some(&params.server_cpus);
    let split = split(&spec.cpus, &params.client_cpus, params.client_threads, own);
    limits::make_room(params.connections, params.client_threads)?;
    channel.phase(Phase::RampUp, None);
    let mut stage = TrialState {
        dialect,
        external,
        config: Config { cpus: split.client.clone(), ..params.load()? },
        place: None,
        server_cpus: None,
        stop: &stop,
        channel,
        wrong: Vec::new(),
        errors: Errors::default(),
        answered: 0,
        max_missing: params.max_missing,
        max_errors: params.max_errors,
        checked: Vec::new(),
    };
    if let Some(address) = &params.address {
        stage.channel.note(split.words(false));
        (stage.config.target, stage.place) = foreign(&params, address);
        return stage.find(&params, &spec);
    }
    let mut running = RunningServer::start(&params, &spec.dir, split.server.as_deref())?;
    stage.channel.note(format!("server: {}", crate::words::quote_words(&running.argv)));
    stage.channel.note(split.words(true));
    stage.channel.notes(&running.notes);
    stage.config.target = running.target.clone();
    stage.config.server_pid = Some(running.pid());
    stage.place = Some(running.place.clone());
    stage.server_cpus = Some(split.server.as_ref().map_or(spec.cpus.len(), Vec::len));
    let done = match (stage.find(&params, &spec), running.ended()) {
        // If the server has ended, its status explains more than the client's error.
        (Err(Failure::Other(what)), Some(status)) => Err(Failure::Other(format!(
            "{what}; the server had ended ({status}), its last stderr line: {}",
            running.last_lines()
        ))),
        (done, _) => done,
    };
    channel.notes(running.stop());
    done
}

/// Returns the addresses of a server that is already running.
fn foreign(params: &KeyValueParams, address: &str) -> (Target, Option<Endpoint>) {
    let text = address.to_owned();
    match params.transport {
        Transport::Unix => (Target::Unix(address.into()), Some(Endpoint::Unix(address.into()))),
        Transport::Tcp => (Target::Tcp(text.clone()), Some(Endpoint::Tcp(text))),
        // A TLS server has no plain-text address.
        Transport::Tls => (params.tls(text), None),
    }
}

/// State shared by the steps of a trial.
pub struct TrialState<'a> {
    pub dialect: &'static Dialect,
    external: Option<ExternalDriver>,
    /// Configuration of the load, with target, CPUs and server process.
    pub config: Config,
    /// Plain-text address of the server; `None` if it has none.
    pub place: Option<Endpoint>,
    /// Number of CPUs that the server has; `None` if unknown.
    pub server_cpus: Option<usize>,
    /// True after a signal to stop.
    pub stop: &'a AtomicBool,
    pub channel: &'a mut Channel,
    /// Descriptions of wrong answers in any of the runs; if there are any, the trial is invalid.
    pub wrong: Vec<String>,
    /// Wrong and missing answers of all runs.
    pub errors: Errors,
    /// Correct answers of all runs.
    pub answered: u64,
    /// Maximum share of missing answers in a valid trial.
    pub max_missing: f64,
    /// Maximum share of refused operations in a valid trial.
    pub max_errors: f64,
    /// Descriptions of the checks that passed.
    pub checked: Vec<String>,
}

impl TrialState<'_> {
    /// Fills the cache and measures what `params.find` asks for.
    fn find(&mut self, params: &KeyValueParams, spec: &Spec) -> Result<(), Failure> {
        if let (Some(driver), Some(run)) = (&params.driver, self.external) {
            return run(driver, &spec.dir, self);
        }
        self.compare_version(spec.more.version.as_deref())?;
        self.fill()?;
        match params.find {
            Find::Throughput => self.throughput()?,
            Find::MaxRate => finding::max_rate(self, params)?,
            Find::Saturation => {
                let rates = if params.rates.is_empty() { &spec.more.rates } else { &params.rates };
                finding::saturation(self, rates, params.steps)?;
            }
        }
        self.verdict();
        Ok(())
    }

    /// Records the server's version; one that differs from that of `earlier` trials makes the trial
    /// invalid.
    fn compare_version(&mut self, earlier: Option<&str>) -> Result<(), Failure> {
        let stats = sample(self.dialect, &mut listen(self.place.as_ref(), &self.config));
        let logins = stats.as_ref().and_then(|stats| count(stats, "auth_cmds"));
        if self.config.credentials.is_some() && logins == Some(0) {
            let what = "the server requires no password; leave out `auth.password_file`";
            return Err(Failure::other(what));
        }
        let Some(version) = stats.and_then(|s| s.get(self.dialect.version).cloned()) else {
            return Ok(());
        };
        if let Some(earlier) = earlier.filter(|earlier| *earlier != version) {
            self.wrong.push(format!(
                "the server's version was {earlier} in an earlier trial and is {version}"
            ));
        }
        self.channel.note(format!("{VERSION}{version}"));
        Ok(())
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Stores every key once.
    fn fill(&mut self) -> Result<(), Failure> {
        // Over TLS, memcached may decrypt the next operations together with a value and then wait
        // for them on the socket, where they will never arrive. Filling pipelines many sets, so it
        // uses the plain-text address if there is one.
        let target = match (&self.config.target, &self.place) {
            (Target::Tls { .. }, Some(Endpoint::Tcp(plain))) => Target::Tcp(plain.clone()),
            (other, _) => other.clone(),
        };
        let done = preload(&Config { target, ..self.config.clone() }, self.stop)?;
        if self.stopped() {
            return Err(Failure::Stopped);
        }
        if done.ended != LoadEnd::Complete || done.stored < done.keys {
            let texts: Vec<&str> = done.errors.texts.iter().map(|t| t.1.as_str()).take(2).collect();
            let text = format!(
                "{} of {} objects were stored: {}",
                done.stored,
                done.keys,
                if texts.is_empty() { "the server went away".to_owned() } else { texts.join("; ") }
            );
            let (part, remedy) = self.dialect.fill_hint;
            let remedy = text.contains(part).then_some(remedy);
            let remedy = remedy.or_else(|| login_remedy(&text, &self.config));
            let hint = remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
            return Err(Failure::other(format!("filling the cache: {text}{hint}")));
        }
        let stats = sample(self.dialect, &mut listen(self.place.as_ref(), &self.config));
        let evicted = stats.and_then(|stats| count(&stats, self.dialect.evictions));
        self.channel.note(format!(
            "the cache was filled with {} objects, {} of values, in {}{}",
            done.keys,
            assay_model::units::format_value(done.value_bytes as f64, "B"),
            assay_model::units::format_duration(done.took),
            match evicted {
                Some(n) if n > 0 => format!("; the server had already evicted {n} objects"),
                _ => String::new(),
            }
        ));
        Ok(())
    }

    /// Runs the configured load once and reports all its results.
    pub fn throughput(&mut self) -> Result<(), Failure> {
        let config = self.config.clone();
        let (report, seen) = self.measure(&config, true)?;
        self.channel.progress(1.0);
        results::metrics(self.dialect, &report, &seen, (&self.errors, self.answered), self.channel);
        results::histograms(&report, &config, self.channel);
        let limit = diagnostics::judged(&report.limit, self.server_cpus);
        let operations =
            diagnostics::operations(&config, &report, self.max_missing, self.max_errors);
        for evidence in diagnostics::evidence(self.dialect, &config, &report, &seen, &limit) {
            self.channel.evidence(evidence);
        }
        self.channel.evidence(operations);
        self.channel.notes(diagnostics::notes(&config, &report, &limit));
        Ok(())
    }

    /// Runs the load once and returns its report and the server's counters. Sends the series even
    /// if the run ends early. If `phases` is true, the phases of the run are reported as the
    /// trial's.
    pub fn measure(
        &mut self,
        config: &Config,
        phases: bool,
    ) -> Result<(LoadReport, ServerCounters), Failure> {
        let dialect = self.dialect;
        let mut talk: Option<AdminConnection> = listen(self.place.as_ref(), &self.config);
        let mut seen =
            ServerCounters { before: sample(dialect, &mut talk), ..ServerCounters::default() };
        let channel = &mut *self.channel;
        let total = (config.ramp_up + config.steady + config.ramp_down).as_secs_f64();
        let report = assay_loadgen::run(config, self.stop, |phase, t_ns| {
            let done = match phase {
                Phase::RampUp => 0.0,
                Phase::Steady => {
                    seen.from = sample(dialect, &mut talk);
                    seen.host[0] = HostCpu::read();
                    config.ramp_up.as_secs_f64() / total
                }
                Phase::RampDown => {
                    seen.to = sample(dialect, &mut talk);
                    seen.host[1] = HostCpu::read();
                    (config.ramp_up + config.steady).as_secs_f64() / total
                }
            };
            if phases {
                if phase != Phase::RampUp {
                    channel.phase(phase, Some(t_ns));
                }
                channel.progress(done);
            }
        })?;
        talk = talk.or_else(|| listen(self.place.as_ref(), &self.config));
        seen.after = sample(dialect, &mut talk);
        if phases {
            results::series(&report, self.channel);
            results::heat(&report, self.channel);
        }
        self.judge(config, &report, &seen);
        match report.ended {
            LoadEnd::Complete => Ok((report, seen)),
            LoadEnd::Stopped(_) => Err(Failure::Stopped),
            LoadEnd::ServerGone(at_ns) | LoadEnd::TimedOut(at_ns) => {
                let after = (at_ns.saturating_sub(report.series_start_ns)) as f64 * 1e-9;
                let what = if matches!(report.ended, LoadEnd::TimedOut(_)) {
                    "stopped answering"
                } else {
                    "went away"
                };
                let first =
                    report.errors.texts.first().map_or("for an unknown reason", |t| t.1.as_str());
                Err(Failure::Other(format!(
                    "the server {what} {} after the load began ({first}); the series ends there",
                    assay_model::units::format_value(after, "s")
                )))
            }
        }
    }

    /// Records wrong answers, and counts that the server's counters contradict.
    fn judge(&mut self, config: &Config, report: &LoadReport, seen: &ServerCounters) {
        self.errors.add(report.errors.clone());
        let tls = config.depth > 1 && matches!(config.target, Target::Tls { .. });
        if tls && report.errors.count(ErrorKind::TimedOut) > 0 {
            self.channel.note(
                "a memcached that reads part of what TLS has decrypted waits on the socket for the \
                 rest, and its answers are missing: try `depth = 1`",
            );
        }
        let answers = Answers::new(report);
        self.answered += answers.total();
        let wrong = wrong_words(&report.errors, answers.total(), self.max_errors);
        if let Some(words) = wrong.or_else(|| seen.replaced(self.dialect)) {
            self.wrong.push(words);
            return;
        }
        if let Some(words) = report.errors.words_of(ErrorKind::is_refusal) {
            self.channel.note(format!("refused within `max_errors`: {words}"));
        }
        self.checked.push(format!("{} answers were checked and correct", report.completed()));
        let parts = if config.mix.multi_get_share > 0.0 { config.mix.multi_get_keys } else { 1 };
        let outstanding = config.connections * config.depth * parts as usize;
        let in_flight = outstanding as u64 + report.errors.total();
        match seen.agree(self.dialect, &answers, in_flight) {
            Ok(sentence) => self.checked.push(sentence),
            // A server that the trial did not start may have other clients.
            Err(sentence) if config.server_pid.is_none() => self
                .checked
                .push(format!("{sentence}; others may be using that server at the same time")),
            Err(sentence) => self.wrong.push(sentence),
        }
    }

    /// Reports whether the answers were correct.
    pub fn verdict(&mut self) {
        let valid = self.wrong.is_empty();
        let detail = if valid { self.checked.join("; ") } else { self.wrong.join("; ") };
        self.channel.valid(valid, detail);
    }
}
