//! Combines the threads' results into one report.

use std::time::Duration;

use assay_model::Better;
use assay_stats::curves::warmup::steady_state;

use crate::config::{Config, Mode};
use crate::latency::limiter::limit;
use crate::latency::report::{
    Bin, Errors, Lateness, LoadEnd, LoadReport, OPERATIONS, OperationResults,
};
use crate::latency::search::KEPT;
use crate::latency::worker_stats::{Timeline, WorkerStats, histogram};
use crate::send::pace::Pace;
use crate::server_use::ServerTimes;
use crate::worker::WorkerResults;

/// Results of all threads.
pub(crate) struct ThreadResults {
    pub line: Timeline,
    pub ended: LoadEnd,
    pub ended_ns: u64,
    pub harvests: Vec<WorkerResults>,
    /// CPU times of the server at the start and the end of the window.
    pub server: [Option<ServerTimes>; 2],
}

/// Merges the threads' results and judges the run.
pub(crate) fn report(config: &Config, outcome: ThreadResults) -> LoadReport {
    let line = outcome.line;
    let to = line.down.min(outcome.ended_ns);
    let window_ns = (line.steady.min(to), to);
    let mut all = WorkerStats::new(line, config.mix.classes.len());
    let mut late = Lateness { all: histogram(), own: histogram(), unsent: 0 };
    let mut threads = Vec::new();
    for harvest in outcome.harvests {
        add(&mut all, harvest.stats);
        threads.push(harvest.used);
        if let Pace::Open(open) = harvest.pace {
            late.all += &open.late;
            late.own += &open.own;
            late.unsent += open.unsent;
        }
    }
    let came =
        outcome.ended_ns.min(line.end).saturating_sub(line.start).div_ceil(line.bin) as usize;
    all.bins.truncate(came);
    all.heat.end(came);
    let classes = &config.mix.classes;
    let mut times = all.times.into_iter();
    let mut cells = Vec::new();
    for operation in OPERATIONS {
        for (class, times) in classes.iter().zip(&mut times) {
            let completed = all.completed[cells.len()];
            cells.push(OperationResults { operation, class: class.name.clone(), times, completed });
        }
    }
    let window_s = (window_ns.1 - window_ns.0) as f64 / 1e9;
    let unanswered = all.unanswered + late.unsent;
    let kept_rate = match config.mode {
        Mode::Closed { .. } => true,
        Mode::Open { rate, .. } => {
            let completed: u64 = cells.iter().map(|c| c.completed).sum();
            unanswered == 0 && completed as f64 >= KEPT * rate * window_s
        }
    };
    let server = match &outcome.server {
        [Some(before), Some(after)] => after.since(before),
        _ => None,
    };
    let series = window_bins(&all.bins, (line.start, line.bin), window_ns);
    LoadReport {
        ended: outcome.ended,
        window_ns,
        cells,
        errors: first_texts(all.errors),
        evicted: all.evicted,
        parts: all.parts,
        unanswered,
        bytes_in: all.bytes.0,
        bytes_out: all.bytes.1,
        series_start_ns: line.start,
        bin: Duration::from_nanos(line.bin),
        steady: steady_state(&series, Better::Higher),
        series: all.bins,
        heat: all.heat,
        limit: limit(config, &threads, server, kept_rate),
        threads,
        late: matches!(config.mode, Mode::Open { .. }).then_some(late),
        reconnects: all.reconnects,
        read_late: all.rescues,
    }
}

fn add(all: &mut WorkerStats, one: WorkerStats) {
    all.times.iter_mut().zip(&one.times).for_each(|(a, b)| *a += b);
    all.completed.iter_mut().zip(&one.completed).for_each(|(a, b)| *a += b);
    all.bins.iter_mut().zip(&one.bins).for_each(|(a, b): (&mut Bin, _)| a.add(b));
    all.heat.add(&one.heat);
    all.errors.add(one.errors);
    all.evicted += one.evicted;
    all.evicted_ever += one.evicted_ever;
    all.parts.iter_mut().zip(one.parts).for_each(|(a, b)| *a += b);
    all.answers += one.answers;
    all.bytes.0 += one.bytes.0;
    all.bytes.1 += one.bytes.1;
    all.unanswered += one.unanswered;
    all.rescues += one.rescues;
    all.reconnects += one.reconnects;
}

/// Keeps at most three texts per kind of error, since many threads report the same kinds.
fn first_texts(mut errors: Errors) -> Errors {
    let mut seen = [0u8; crate::latency::report::ERROR_KINDS.len()];
    errors.texts.retain(|(kind, _)| {
        seen[*kind as usize] = seen[*kind as usize].saturating_add(1);
        seen[*kind as usize] <= 3
    });
    errors
}

/// Returns the operations in each bin that lies completely in the window.
fn window_bins(bins: &[Bin], (start, bin): (u64, u64), window: (u64, u64)) -> Vec<f64> {
    let begins = |i: usize| start + i as u64 * bin;
    (0..bins.len())
        .filter(|i| begins(*i) >= window.0 && begins(*i) + bin <= window.1)
        .map(|i| bins[i].operations as f64)
        .collect()
}
