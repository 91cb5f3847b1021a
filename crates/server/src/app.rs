//! State that requests and the dispatcher share.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use assay_model::{RunId, RunSummary};
use assay_quoted::landscape::Collection;
use assay_report::RunView;
use assay_stats::series::HistoryView;
use axum::Router;
use axum::extract::State;

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
use crate::queue::shared::SharedQueue;
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
    pub sampler: Arc<SharedSampler>,
    pub io_traces: Arc<SharedTraces>,
    pub queue: Arc<SharedQueue>,
    lives: Mutex<HashMap<u64, Arc<LiveRun>>>,
    views: Mutex<Vec<(RunId, u64, Arc<RunView>)>>,
    outcomes: Mutex<Arc<Outcomes>>,
    /// Histories as `/metrics` read them last.
    pub histories: Mutex<Option<Arc<Vec<HistoryView>>>>,
    /// True once the archive has shown a run that landscapes rank. The menu then offers them.
    pub has_ranked: AtomicBool,
    /// Runs expensive requests one at a time, so that many of them do not disturb a run.
    heavy: Heavy,
}

impl App {
    pub fn new(config: Config, tokens: Tokens, queue: Queue, searches: Searches) -> Self {
        let queue = Arc::new(SharedQueue::new(queue));
        App {
            sessions: Sessions::open(&config.state_dir, &tokens),
            rates: Rates::new(config.rate),
            searches,
            config,
            tokens,
            sampler: SharedSampler::new(Arc::clone(&queue)),
            io_traces: SharedTraces::new(Arc::clone(&queue)),
            queue,
            lives: Mutex::default(),
            views: Mutex::default(),
            outcomes: Mutex::default(),
            histories: Mutex::default(),
            has_ranked: AtomicBool::default(),
            heavy: Heavy::default(),
        }
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
