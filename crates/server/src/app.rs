//! State that requests and the dispatcher share.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard};

use assay_model::{RunId, RunSummary};
use assay_quoted::landscape::Collection;
use assay_report::RunView;
use assay_stats::series::HistoryView;
use axum::Router;
use axum::extract::State;
use tokio::sync::watch;

use crate::config::Config;
use crate::error::Refusal;
use crate::http::heavy::Heavy;
use crate::http::rate::Rates;
use crate::http::sessions::Sessions;
use crate::http::token::Tokens;
use crate::live::live_run::LiveRun;
use crate::live::observe::SharedSampler;
use crate::live::observe_io::SharedTraces;
use crate::locked;
use crate::queue::child;
use crate::queue::job::{Job, JobState};
use crate::queue::store::Queue;
use crate::searches::Searches;

/// Extractor of the server's state.
pub(crate) type Server = State<Arc<App>>;
/// Routes whose handlers use the server's state.
pub(crate) type Routes = Router<Arc<App>>;

/// Number of runs whose views are cached.
const VIEWS: usize = 4;

/// Metric and unit of every quoted result.
static QUOTED: LazyLock<BTreeSet<(String, String)>> = LazyLock::new(|| {
    let results =
        Collection::built_in().ok().and_then(|all| all.results().ok()).unwrap_or_default();
    results.into_iter().map(|r| (r.metric, r.unit)).collect()
});

/// Headline of each run, by the run's id.
pub(crate) type Headlines = BTreeMap<RunId, String>;

/// Runs with their headlines.
#[derive(Default)]
pub(crate) struct Outcomes {
    /// Ids that were requested. Runs that cannot be read are left out of the others.
    ids: Vec<RunId>,
    pub runs: Vec<RunSummary>,
    pub headlines: Headlines,
}

/// State of a running server.
pub(crate) struct App {
    pub config: Config,
    pub tokens: Tokens,
    pub sessions: Sessions,
    pub rates: Rates,
    pub searches: Searches,
    pub sampler: SharedSampler,
    pub io_traces: SharedTraces,
    queue: Mutex<Queue>,
    /// Signalled when the queue changes.
    pub wake: Condvar,
    /// Number of changes of the queue. Requests that wait for a change subscribe to it.
    changed: watch::Sender<u64>,
    lives: Mutex<HashMap<u64, Arc<LiveRun>>>,
    views: Mutex<Vec<(RunId, u64, Arc<RunView>)>>,
    outcomes: Mutex<Arc<Outcomes>>,
    /// Histories as `/metrics` read them last.
    pub histories: Mutex<Option<Arc<Vec<HistoryView>>>>,
    /// True once the archive has shown a run that landscapes rank. The menu then offers them.
    pub has_ranked: AtomicBool,
    /// Runs expensive requests one at a time, so that many of them do not disturb a run.
    heavy: Heavy,
    /// True once the server has to stop.
    pub stop: watch::Sender<bool>,
}

impl App {
    pub fn new(config: Config, tokens: Tokens, queue: Queue, searches: Searches) -> Self {
        App {
            sessions: Sessions::open(&config.state_dir, &tokens),
            rates: Rates::new(config.rate),
            searches,
            config,
            tokens,
            sampler: SharedSampler::default(),
            io_traces: SharedTraces::default(),
            queue: Mutex::new(queue),
            wake: Condvar::new(),
            changed: watch::Sender::new(0),
            lives: Mutex::default(),
            views: Mutex::default(),
            outcomes: Mutex::default(),
            histories: Mutex::default(),
            has_ranked: AtomicBool::default(),
            heavy: Heavy::default(),
            stop: watch::Sender::new(false),
        }
    }

    pub fn queue(&self) -> MutexGuard<'_, Queue> {
        locked(&self.queue)
    }

    /// Wakes the dispatcher and all requests that wait for a change of the queue.
    pub fn notify_changed(&self) {
        self.wake.notify_all();
        self.changed.send_modify(|n| *n += 1);
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub fn stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns true if a run is in progress.
    pub fn busy(&self) -> bool {
        self.queue().running().is_some()
    }

    pub fn set_live(&self, live: Arc<LiveRun>) {
        let mut lives = locked(&self.lives);
        // Keep the previous run for viewers that still read its end.
        let newest = lives.keys().max().copied();
        lives.retain(|id, _| Some(*id) == newest);
        lives.insert(live.job, live);
    }

    pub fn live(&self, job: u64) -> Option<Arc<LiveRun>> {
        locked(&self.lives).get(&job).cloned()
    }

    pub fn job(&self, id: u64) -> Result<Job, Refusal> {
        self.queue().find(id).cloned()
    }

    /// Cancels a waiting job, or asks the run of a running job to end.
    pub fn cancel(&self, id: u64) -> Result<Job, Refusal> {
        let mut queue = self.queue();
        let job = queue.find(id)?;
        match job.state {
            JobState::Waiting => queue.change(id, |j| {
                j.state = JobState::Cancelled;
                j.ended_at = Some(crate::queue::store::now());
                j.reason = "cancelled before it started".into();
            })?,
            JobState::Running if job.cancel => {}
            JobState::Running => {
                if let Some(process) = &job.process {
                    child::interrupt(process);
                }
                // The run was already asked to end; a full disk does not undo that.
                let _ = queue.note(id, |j| j.cancel = true);
            }
            state => {
                return Err(Refusal::conflict(format!(
                    "job {id} has ended: it is {}",
                    state.name()
                )));
            }
        }
        drop(queue);
        self.notify_changed();
        self.job(id)
    }

    /// Puts a job whose run was cut off at the front of the queue, to continue where it stopped.
    pub fn resume(&self, id: u64) -> Result<Job, Refusal> {
        let job = self.job(id)?;
        if !job.can_resume() {
            let why = match job.state {
                JobState::Completed => "nothing is left to do",
                state if state.is_over() => "its run never started; submit it again",
                _ => "it has not ended",
            };
            let state = job.state.name();
            return Err(Refusal::conflict(format!("job {id} is {state}: {why}")));
        }
        let mut queue = self.queue();
        let first = queue.waiting().first().map_or(0, |j| j.order - 1);
        queue.change(id, |j| {
            j.state = JobState::Waiting;
            j.order = first;
            j.cancel = false;
            j.not_before = None;
            j.process = None;
            j.ended_at = None;
            j.exit = None;
            j.reason = String::new();
        })?;
        drop(queue);
        self.notify_changed();
        self.job(id)
    }

    /// Returns the report view of a run. Records of an unchanged run are not read again.
    pub async fn view(self: &Arc<Self>, id: RunId) -> Result<Arc<RunView>, Refusal> {
        self.heavy(move |app| app.view_now(&id)).await
    }

    /// Runs expensive work on a blocking thread, for one request at a time. The work is cancelled
    /// when its request ends.
    pub async fn heavy<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let app = Arc::clone(self);
        self.heavy.run(move || work(&app)).await
    }

    /// Notes if one of the runs measured a metric that landscapes rank.
    pub fn note_ranked(&self, runs: &[RunSummary]) {
        let ranked = |r: &RunSummary| QUOTED.contains(&(r.metric.clone(), r.unit.clone()));
        self.has_ranked.fetch_or(runs.iter().any(ranked), Ordering::Relaxed);
    }

    /// Returns the headline of each run, from the archive's index if it has one.
    pub fn headlines(&self, runs: &[RunSummary]) -> Headlines {
        self.note_ranked(runs);
        let say = |id: &RunId| assay_report::headline(&self.view_now(id).ok()?.analysis);
        self.config.archive.headlines(runs, say)
    }

    /// Returns the runs with these ids and their headlines. The result is cached until other ids
    /// are requested, because an open page asks every 2 s, also during a run.
    pub async fn outcomes(self: &Arc<Self>, ids: Vec<RunId>) -> Result<Arc<Outcomes>, Refusal> {
        let cached = locked(&self.outcomes).clone();
        if cached.ids == ids {
            return Ok(cached);
        }
        let new = self.heavy(move |app| Ok(Arc::new(app.read_outcomes(ids)))).await?;
        locked(&self.outcomes).clone_from(&new);
        Ok(new)
    }

    /// Reads the runs with these ids and their headlines from the archive.
    pub fn read_outcomes(&self, ids: Vec<RunId>) -> Outcomes {
        let run = |id: &RunId| self.config.archive.run(id).ok()?.summary().ok();
        let runs: Vec<RunSummary> = ids.iter().filter_map(run).collect();
        let headlines = self.headlines(&runs);
        Outcomes { ids, runs, headlines }
    }

    pub fn view_now(&self, id: &RunId) -> Result<Arc<RunView>, Refusal> {
        let entries = self.config.archive.run(id)?.ledger().len() as u64;
        let mut views = locked(&self.views);
        if let Some(at) = views.iter().position(|(known, l, _)| known == id && *l == entries) {
            let found = views.remove(at);
            let view = Arc::clone(&found.2);
            views.push(found);
            return Ok(view);
        }
        drop(views);
        let view = (self.config.load)(&self.config.archive, id).map_err(|e| Refusal::own(&e))?;
        let view = Arc::new(view);
        // A run in progress changes with every trial, so its view is not cached.
        if view.summary.state != assay_model::RunState::Started {
            let mut views = locked(&self.views);
            views.retain(|(known, ..)| known != id);
            views.push((id.clone(), entries, Arc::clone(&view)));
            if views.len() > VIEWS {
                views.remove(0);
            }
        }
        Ok(view)
    }
}
