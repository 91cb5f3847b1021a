//! State of a sampler: its monitors, their rows, and the ticks that were missed.

use std::time::Duration;

use assay_model::{ObserverReport, SampleSet};

use assay_system::clock;

use crate::{Monitor, MonitorSpec, Recorder, Tree};

/// Minimum time between two samples: the kernel's CPU time has this granularity, so that a shorter
/// interval would be meaningless.
pub const MIN_SPAN: Duration = Duration::from_millis(10);

/// Maximum number of rows (about 24 MB of address space) that are reserved at once.
const MAX_AHEAD: usize = 1_000_000;

/// A monitor requested by name.
struct RequestedMonitor {
    name: &'static str,
    /// The monitor, or the reason why it is not available.
    opened: Result<Box<dyn Monitor>, String>,
}

/// Ticks without a sample because the sampler thread was not scheduled in time.
#[derive(Debug, Clone, Copy)]
struct Gap {
    t_ns: u64,
    ticks: u64,
}

pub struct SamplerState {
    asked: Vec<RequestedMonitor>,
    recorder: Recorder,
    newest_ns: Option<u64>,
    gaps: Vec<Gap>,
    interval: Duration,
}

impl SamplerState {
    pub fn open(tree: &Tree, specs: &[&'static MonitorSpec], interval: Duration) -> Self {
        let open = |spec: &&'static MonitorSpec| RequestedMonitor {
            name: spec.name,
            opened: (spec.open)(tree).map_err(|error| error.reason),
        };
        Self {
            asked: specs.iter().map(open).collect(),
            recorder: Recorder::default(),
            newest_ns: None,
            gaps: Vec::new(),
            interval,
        }
    }

    /// Samples all monitors now, unless a sample was taken within [`MIN_SPAN`]. Returns the time of
    /// the newest sample.
    pub fn tick(&mut self) -> u64 {
        let now = clock::monotonic_ns();
        if let Some(newest) = self.newest_ns
            && now.saturating_sub(newest) < MIN_SPAN.as_nanos() as u64
        {
            return newest;
        }
        for asked in &mut self.asked {
            if let Ok(monitor) = &mut asked.opened {
                monitor.sample(now, &mut self.recorder);
            }
        }
        self.newest_ns = Some(now);
        now
    }

    /// Reserves rows ahead so that sampling need not allocate: enough for an hour once little room
    /// is left.
    pub fn make_room(&mut self) {
        let tick = self.recorder.samples().series.len();
        if self.recorder.room() < 2 * tick {
            let ticks = 3600.0 / self.interval.as_secs_f64().max(0.1);
            self.recorder.reserve((tick * ticks as usize).clamp(2 * tick, MAX_AHEAD.max(2 * tick)));
        }
    }

    /// Records that `ticks` ticks before `t_ns` were missed.
    pub fn missed(&mut self, t_ns: u64, ticks: u64) {
        self.gaps.push(Gap { t_ns, ticks });
    }

    pub fn newest_ns(&self) -> Option<u64> {
        self.newest_ns
    }

    pub fn missed_between(&self, from_ns: u64, to_ns: u64) -> u64 {
        let inside = |gap: &&Gap| (from_ns..=to_ns).contains(&gap.t_ns);
        self.gaps.iter().filter(inside).map(|gap| gap.ticks).sum()
    }

    pub fn window(&self, from_ns: u64, to_ns: u64) -> SampleSet {
        self.recorder.samples().window(from_ns, to_ns)
    }

    pub fn discard_before(&mut self, t_ns: u64) {
        self.recorder.discard_before(t_ns);
        self.gaps.retain(|gap| gap.t_ns >= t_ns);
    }

    /// Reports for every monitor the number of samples between two times and the data that it could
    /// not read.
    pub fn reports(&self, from_ns: u64, to_ns: u64) -> Vec<ObserverReport> {
        let set = self.recorder.samples();
        let missed = self.missed_between(from_ns, to_ns);
        let start = set.rows.partition_point(|r| r.t_ns < from_ns);
        let rows = set.rows[start..].iter().take_while(|r| r.t_ns <= to_ns);
        let mut rows_of_series = vec![0u64; set.series.len()];
        for row in rows {
            rows_of_series[row.series as usize] += 1;
        }
        let report = |asked: &RequestedMonitor| {
            let of_series = set.series.iter().zip(&rows_of_series);
            let samples = of_series.filter(|(s, _)| s.monitor == asked.name).map(|(_, n)| n).sum();
            let not_seen = match &asked.opened {
                Err(reason) => vec![format!("not available: {reason}")],
                Ok(monitor) => {
                    let mut not_seen = monitor.not_seen();
                    if missed > 0 {
                        not_seen.push(format!(
                            "{missed} ticks were missed because the sampler did not get to run; \
                             the interval after them is longer"
                        ));
                    }
                    if samples == 0 {
                        not_seen.push(
                            "nothing recorded: no interval of this monitor ended in that time"
                                .to_owned(),
                        );
                    }
                    not_seen
                }
            };
            ObserverReport { observer: asked.name.to_owned(), samples, not_seen }
        };
        self.asked.iter().map(report).collect()
    }
}
