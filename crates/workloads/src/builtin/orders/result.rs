//! Measurements of a trial: its points, its score, and the result in the format of the rule pack.

use serde_json::{Value, json};

use crate::builtin::orders::instance::{Hello, InstanceResult};
use crate::builtin::orders::memory::ProcessMemory;
use crate::builtin::orders::params::OrdersParams;
use crate::builtin::orders::response::{InstanceResponses, Responses};
use crate::builtin::orders::schedule::PlannedPoint;

const NS: f64 = 1e-9;

/// Start and end times of a point's phases, ns of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Start of the ramp-up.
    pub begin: u64,
    /// Start of the measurement.
    pub start: u64,
    /// End of the measurement.
    pub end: u64,
    /// End of the ramp-down.
    pub stop: u64,
}

impl Window {
    /// Returns the length of the measurement in seconds.
    pub fn seconds(&self) -> f64 {
        (self.end - self.start) as f64 * NS
    }
}

/// A measured point of the trial.
#[derive(Debug, Clone)]
pub struct MeasuredPoint {
    pub planned: PlannedPoint,
    /// Start and end times of its phases.
    pub window: Window,
    /// Results of each instance.
    pub instances: Vec<InstanceResult>,
    /// Memory of each instance after the point.
    pub memory: Vec<Option<ProcessMemory>>,
}

impl MeasuredPoint {
    /// Returns the transactions per second of all instances.
    pub fn total(&self) -> f64 {
        self.instances.iter().map(InstanceResult::count).sum::<u64>() as f64 / self.window.seconds()
    }

    /// Adds up the requests of the instances; `None` without a rate.
    pub fn responses(&self) -> Option<Responses> {
        self.planned.rate?;
        Some(Responses::merge(self.instances.iter().filter_map(|p| p.response.as_ref())))
    }

    /// Returns the maximum difference between instances in the times that `of` returns, in seconds.
    pub fn apart(&self, of: impl Fn(&InstanceResult) -> u64) -> f64 {
        let moments = || self.instances.iter().map(&of);
        let (first, last) = (moments().min().unwrap_or(0), moments().max().unwrap_or(0));
        (last - first) as f64 * NS
    }

    /// Returns the reasons why the point is invalid.
    pub fn wrong(&self) -> Vec<String> {
        let w = self.planned.warehouses;
        let mut wrong = Vec::new();
        for (i, p) in self.instances.iter().enumerate() {
            let n = i + 1;
            let who = format!("instance {n} at {w} warehouses");
            if let Some(what) = &p.wrong {
                wrong.push(format!("{who}: the books do not add up: {what}"));
            }
            if p.warehouses != w || p.threads.len() != w as usize {
                let had = p.warehouses;
                wrong.push(format!("instance {n} worked with {had} warehouses, not {w}"));
            }
            if p.began_ns > self.window.start {
                let late = (p.began_ns - self.window.start) as f64 * NS;
                let late = assay_model::units::format_value(late, "s");
                wrong.push(format!(
                    "{who} began {late} after the measurement did; a longer `ramp_up` may help"
                ));
            }
            if p.ended_ns < self.window.end {
                wrong.push(format!("{who} stopped before the measurement did"));
            }
            let lost = |r: &InstanceResponses| r.answered() + r.refused + r.unanswered != r.offered;
            if self.planned.rate.is_some() && p.response.as_ref().is_none_or(lost) {
                wrong.push(format!("{who} lost count of its requests"));
            }
            // In a short point that is not scored, a garbage collection may take the whole time.
            if p.count() == 0 && self.planned.scored {
                wrong.push(format!("{who} completed nothing in the measurement"));
            }
        }
        wrong
    }
}

/// All points of a trial.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// Expected peak N in warehouses.
    pub peak: u32,
    /// Number of processors that the virtual machines report.
    pub processors: u32,
    /// Points in the order of measurement.
    pub all: Vec<MeasuredPoint>,
}

impl Points {
    /// Returns the points that count for the score.
    pub fn scored(&self) -> impl Iterator<Item = &MeasuredPoint> {
        self.all.iter().filter(|m| m.planned.scored)
    }

    /// Returns the mean over N to 2N of the instances' summed throughput; a missing point counts as
    /// 0. Under a rate only one point is scored.
    pub fn score(&self) -> Option<f64> {
        let sum: f64 = self.scored().map(MeasuredPoint::total).sum();
        let count = if self.at_rate().is_some() { 1.0 } else { f64::from(self.peak) + 1.0 };
        (self.peak > 0 && !self.all.is_empty()).then(|| sum / count)
    }

    /// Returns the scored point at a rate, and the rate; `None` without one.
    pub fn at_rate(&self) -> Option<(&MeasuredPoint, f64)> {
        self.scored().find_map(|m| Some((m, m.planned.rate?)))
    }

    /// Returns the point with the highest throughput.
    pub fn best(&self) -> Option<&MeasuredPoint> {
        self.all.iter().max_by(|a, b| a.total().total_cmp(&b.total()))
    }

    /// Returns the longest time between two points in seconds; `None` for a single point.
    pub fn pause(&self) -> Option<f64> {
        let between =
            |w: &[MeasuredPoint]| w[1].window.begin.saturating_sub(w[0].window.stop) as f64 * NS;
        self.all.windows(2).map(between).max_by(f64::total_cmp)
    }

    /// Returns the result with the names of the rule pack `orders`. Times are in seconds from the
    /// start of the first point.
    pub fn result(&self, params: &OrdersParams, hello: &[Hello], about: &ResultNotes<'_>) -> Value {
        let zero = self.all.first().map_or(0, |m| m.window.begin);
        let at = |ns: u64| (ns as f64 - zero as f64) * NS;
        let instance = |m: &MeasuredPoint, i: usize, p: &InstanceResult| {
            let counts: serde_json::Map<String, Value> =
                p.kinds.iter().map(|(k, c)| (k.clone(), json!(c.number))).collect();
            json!({
                "instance": i + 1, "ops_per_s": p.count() as f64 / m.window.seconds(),
                "ramp_up_start_s": at(p.began_ns), "start_s": at(m.window.start),
                "end_s": at(m.window.end),
                "ramp_down_end_s": at(p.ended_ns), "counts": counts,
            })
        };
        let points: Vec<Value> = self
            .all
            .iter()
            .map(|m| {
                let instances: Vec<Value> =
                    m.instances.iter().enumerate().map(|(i, p)| instance(m, i, p)).collect();
                json!({
                    "warehouses": m.planned.warehouses, "set_s": m.planned.length.as_secs_f64(),
                    "instances": instances,
                })
            })
            .collect();
        let score = self.score();
        let seconds = |d: std::time::Duration| d.as_secs_f64().to_string();
        json!({
            "processors": self.processors,
            "expected_peak": self.peak,
            "peak_reason": params.peak.map(|_| params.peak_reason.clone()),
            "points": points,
            "score": score,
            "score_per_instance": score.map(|s| s / params.instances as f64),
            "properties": {
                "suite": "orders", "log_level": "INFO",
                "deterministic_random_seed": params.stream.is_some().to_string(),
                "per_jvm_warehouse_rampup": seconds(params.lengths().ramp_up),
                "per_jvm_warehouse_rampdown": seconds(params.lengths().ramp_down),
                "ramp_up_seconds": seconds(params.lengths().below),
                "measurement_seconds": seconds(params.lengths().scored),
                "mix": params.mix, "seed": params.seed.to_string(),
                "stream": about.stream.to_string(),
                "profile": params.profile,
            },
            "kit_unmodified": about.unmodified,
            "conforming": hello.iter().all(|h| h.wrong.is_none()),
            "validated": about.wrong.is_empty(),
            "os_images": 1,
            "collector_calls": 0,
            "precompiled": about.precompiled,
            "threads_per_warehouse": 1,
            "think_time_s": 0.0,
            "disclosure": disclosure(hello, about),
            "estimated": false,
            "compared_with": [],
        })
    }
}

/// Additional information for the result.
pub struct ResultNotes<'a> {
    /// Seed of the transactions.
    pub stream: u64,
    /// True if the classes have not changed since compilation; `None` for a jar given by the user.
    pub unmodified: Option<bool>,
    /// True if the options use precompiled code; `None` if unknown.
    pub precompiled: Option<bool>,
    /// Reasons why the trial is invalid.
    pub wrong: &'a [String],
    /// Command line and CPUs of each instance.
    pub lines: &'a [String],
}

/// Returns the fields of a disclosure that the trial's own files contain; hardware and software are
/// added from the system description.
fn disclosure(hello: &[Hello], about: &ResultNotes<'_>) -> Value {
    let vm = hello.first().map(|h| {
        format!(
            "Java {}, {} {} by {}, collectors {}",
            h.java, h.vm, h.vm_version, h.vendor, h.collectors
        )
    });
    json!({
        "points-table": "points of this file",
        "points-graph": "the curve orders/s of the record",
        "scored-points": "points N to 2N of this file",
        "counts": "points of this file",
        "response-times": "points.json",
        "thread-spread": "points.json",
        "heap-used": "memory.csv",
        "virtual-machine": vm.unwrap_or_default(),
        "command-line": about.lines.join("\n"),
        "tuning": "the options of the command line",
        "notes": "the CPUs of each instance follow its command line",
        "raw-file": "points.json, instance-*.log and collections-*.log next to this file",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::orders::instance::TransactionCount;
    use crate::builtin::orders::schedule::{Lengths, points};

    fn made(ops: u64) -> Points {
        let of = |planned: PlannedPoint| {
            let begin = u64::from(planned.warehouses) * 10_000_000_000;
            let start = begin + 1_000_000_000;
            let end = start + planned.length.as_nanos() as u64;
            let window = Window { begin, start, end, stop: end + 1 };
            let count = TransactionCount { number: ops, total_ns: 1, max_ns: 1 };
            let point = InstanceResult {
                warehouses: planned.warehouses,
                began_ns: begin,
                ended_ns: end + 1,
                kinds: [("payment".to_owned(), count)].into(),
                threads: vec![ops / u64::from(planned.warehouses); planned.warehouses as usize],
                ..InstanceResult::default()
            };
            MeasuredPoint {
                planned,
                window,
                instances: vec![point.clone(), point],
                memory: vec![None, None],
            }
        };
        let all = points(2, 8, &Lengths::for_profile("quick")).into_iter().map(of).collect();
        Points { peak: 2, processors: 2, all }
    }

    #[test]
    fn the_score_is_the_mean_of_the_points_from_n_to_2n() {
        let points = made(3000);
        assert_eq!(points.score(), Some(2000.0));
        assert_eq!(
            points.best().unwrap().planned.warehouses,
            8,
            "the short ones count as many in 1 s"
        );
        assert!(points.all.iter().all(|m| m.wrong().is_empty()));
        assert!(points.pause().unwrap() > 0.0);
        let mut lost = points;
        lost.all.retain(|m| m.planned.warehouses != 3);
        assert!((lost.score().unwrap() - 4000.0 / 3.0).abs() < 1e-9);
        assert_eq!(Points::default().score(), None);
    }

    #[test]
    fn what_was_not_measured_while_all_ran_is_wrong() {
        let mut m = made(3000).all.remove(1);
        m.instances[1].began_ns = m.window.start + 5_000_000;
        m.instances[0].ended_ns = m.window.end - 1;
        m.instances[0].wrong = Some("money".into());
        let wrong = m.wrong().join("; ");
        assert!(wrong.contains("instance 2 at 2 warehouses began 5"), "{wrong}");
        assert!(wrong.contains("instance 1 at 2 warehouses stopped before"), "{wrong}");
        assert!(wrong.contains("do not add up: money"), "{wrong}");
        assert!((m.apart(|p| p.began_ns) - 1.005).abs() < 1e-9);
        m.planned.rate = Some(1.0);
        assert!(m.wrong().join("; ").contains("warehouses lost count of its requests"));
        let counted =
            InstanceResponses { offered: 3, refused: 1, times: vec![9, 2], ..Default::default() };
        m.instances.iter_mut().for_each(|p| p.response = Some(counted.clone()));
        assert!(!m.wrong().join("; ").contains("lost count"));
    }
}
