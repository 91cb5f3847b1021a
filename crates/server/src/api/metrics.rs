//! The queue, the archive and the newest point of each history as OpenMetrics.

use std::sync::Arc;

use assay_archive::Search;
use assay_report::formats::openmetrics::{CONTENT_TYPE, OpenMetrics};
use assay_stats::series::{ChangeState, HistoryView, SeriesPoint, SeriesView};
use axum::http::header::CONTENT_TYPE as TYPE;

use crate::app::{App, Server};
use crate::error::Refusal;
use crate::http::extract::{MetricsText, State};
use crate::locked;
use crate::queue::job::JobState;
use crate::submit::points;

/// Path of the metrics, where Prometheus expects them.
pub(crate) const METRICS: &str = "/metrics";

routes! {
    /// Return the queue, the archive and the newest point of each history as OpenMetrics; during a
    /// run, the histories are not read again
    "get" "/metrics" "metrics" metrics, [];
}

async fn metrics(State(app): Server) -> Result<MetricsText, Refusal> {
    let cached = locked(&app.histories).clone().filter(|_| !app.queue.is_idle());
    let histories = match cached {
        Some(cached) => cached,
        None => app.heavy(|app| Ok(Arc::new(points::histories(app)?.0))).await?,
    };
    *locked(&app.histories) = Some(Arc::clone(&histories));
    let none = Search { limit: Some(0), ..Search::default() };
    let runs = app.heavy(move |app| Ok(app.config.archive.search(&none)?.total)).await?;
    Ok(([(TYPE, CONTENT_TYPE)], text(&app, runs, &histories)))
}

/// A number of a point; `None` without an interval.
type Part = fn(&SeriesPoint) -> Option<f64>;

fn text(app: &App, runs: usize, histories: &[HistoryView]) -> String {
    let mut out = OpenMetrics::default();
    queue(&mut out, app);
    out.gauge("assay_archive_runs", "Runs in the archive");
    out.sample("assay_archive_runs", &[], Some(runs as f64));
    let all: Vec<(&HistoryView, &SeriesView, &SeriesPoint)> = histories
        .iter()
        .flat_map(|h| h.series.iter().filter_map(move |s| Some((h, s, s.points.last()?))))
        .collect();
    let families: [(&str, &str, Part); 4] = [
        ("assay_series_value", "Value of the newest point", |p| Some(p.value)),
        ("assay_series_ratio", "Ratio of the newest point to the reference", |p| Some(p.ratio)),
        ("assay_series_ratio_low", "Lower end of the ratio's 95 % interval", |p| {
            Some(p.interval()?.0)
        }),
        ("assay_series_ratio_high", "Upper end of the ratio's 95 % interval", |p| {
            Some(p.interval()?.1)
        }),
    ];
    for (family, help, of) in families {
        out.gauge(family, help);
        for (history, series, point) in &all {
            let mut labels = labels(history, series);
            if family == "assay_series_value" {
                labels.push(("unit", &series.unit));
            }
            out.sample(family, &labels, of(point));
        }
    }
    let family = "assay_series_changes";
    out.gauge(family, "Changes of the series by state");
    for (history, series, _) in &all {
        for state in ChangeState::ALL {
            let mut labels = labels(history, series);
            labels.push(("state", state.name()));
            let count = series.changes.iter().filter(|c| c.change.state == state).count();
            out.sample(family, &labels, Some(count as f64));
        }
    }
    let family = "assay_series_point_info";
    out.gauge(family, "Revision and run of the newest point, and the reference");
    for (history, series, point) in &all {
        let mut labels = labels(history, series);
        labels.extend([("reference", history.reference.as_str()), ("revision", &point.commit)]);
        labels.extend(point.runs.last().map(|run| ("run", run.as_str())));
        out.sample(family, &labels, Some(1.0));
    }
    out.finish()
}

fn labels<'a>(history: &'a HistoryView, series: &'a SeriesView) -> Vec<(&'static str, &'a str)> {
    vec![
        ("history", &history.id),
        ("experiment", &history.experiment),
        ("metric", series.name(&history.metric)),
        ("machine", &series.machine),
    ]
}

fn queue(out: &mut OpenMetrics, app: &App) {
    let queue = app.queue.lock();
    out.gauge("assay_queue_depth", "Jobs that wait for their turn");
    out.sample("assay_queue_depth", &[], Some(queue.waiting().len() as f64));
    out.gauge("assay_running_job", "Number of the running job; 0 if there is none");
    out.sample("assay_running_job", &[], Some(queue.running().map_or(0.0, |j| j.id as f64)));
    out.gauge("assay_jobs_ended", "Ended jobs by state");
    for state in [JobState::Completed, JobState::Failed, JobState::Interrupted, JobState::Cancelled]
    {
        let count = queue.all().filter(|j| j.state == state).count();
        out.sample("assay_jobs_ended", &[("state", state.name())], Some(count as f64));
    }
}
