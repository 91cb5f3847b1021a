//! The body of a trial: `assay __work pointer-chase JSON`, in a process of its own.

use std::time::{Duration, Instant};

use assay_model::units::{format_bytes, format_value};
use assay_model::{Better, Event, Kind, Phase};
use assay_stats::rng::Rng;
use serde::{Deserialize, Serialize};

use super::knees::{Plateau, plateaus};
use super::memory::Memory;
use super::params::{Order, Pages};
use crate::Failure;
use crate::work::Channel;

/// Of memory that is to have large pages, so much must have them.
const ENOUGH: f64 = 0.95;

/// The trial spec.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    /// The working sets, bytes, in rising order.
    pub sets: Vec<u64>,
    /// Bytes from link to link.
    pub stride: u64,
    /// The order of the links.
    pub order: Order,
    /// The pages; `None`: as the control `pages` says, else any.
    pub pages: Option<Pages>,
    /// How long one measurement lasts at least.
    pub min_time: Duration,
    /// Measurements of each working set.
    pub rounds: u32,
    /// The seed of the order of links.
    pub seed: u64,
}

/// Runs the trial that `json` orders and reports it on `channel`.
///
/// # Errors
/// [`Failure`]: it could not be measured. Other pages than asked for are no error but an event,
/// `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let task: Task = serde_json::from_str(json)?;
    let pages = task.pages.unwrap_or_else(from_control);
    channel.send(&Event::Phase { phase: Phase::RampUp, t_ns: None });
    let largest = task.sets.last().copied().unwrap_or(4096);
    // A link is a word, also where the last stride ends with the working set.
    let mut memory = Memory::map(largest as usize, pages)?;
    channel.send(&Event::Phase { phase: Phase::Steady, t_ns: None });
    let points = measure(&task, &mut memory, channel);
    channel.send(&Event::Phase { phase: Phase::RampDown, t_ns: None });
    for [x, value] in &points {
        channel.send(&Event::Point {
            curve: "latency".into(),
            x: *x,
            value: *value,
            x_name: "working set".into(),
            x_unit: "B".into(),
            unit: "s".into(),
            kind: Some(Kind::Measured),
        });
    }
    let large = memory.large().map(|l| l as f64 / memory.bytes() as f64);
    let levels = plateaus(&points);
    report(&points, large, &levels, channel);
    channel.send(&Event::Note { note: format!("the memory had {}", pages.name()) });
    if levels.len() > 1 {
        channel.send(&Event::Note { note: knees(&levels) });
    }
    channel.send(&verdict(pages, large));
    Ok(())
}

/// What the control `pages` left in the environment; any pages without it.
fn from_control() -> Pages {
    let level = std::env::var("ASSAY_PAGES").ok();
    level.and_then(|l| Pages::of_control(&l)).unwrap_or(Pages::Any)
}

fn measure(task: &Task, memory: &mut Memory, channel: &mut Channel) -> Vec<[f64; 2]> {
    let Task { sets, stride, order, min_time, rounds, .. } = task;
    let mut rng = Rng::new(task.seed);
    let largest = sets.last().copied().unwrap_or(0) / stride;
    let mut places = Vec::with_capacity(largest as usize);
    let mut points = Vec::with_capacity(sets.len());
    for (done, set) in sets.iter().enumerate() {
        let links =
            memory.chain(*set as usize, *stride as usize, *order, &mut places, &mut rng) as u64;
        let mut minimum = f64::INFINITY;
        let mut at = None;
        // Once round, so that caches and TLBs hold what they can hold.
        let mut loads = links.max(1000);
        let begin = Instant::now();
        let (place, walked) = memory.walk(at, loads);
        let each = begin.elapsed().as_secs_f64() / walked as f64;
        at = Some(place);
        loads = ((min_time.as_secs_f64() / each.max(1e-11)) as u64).clamp(1000, 1 << 40);
        for _ in 0..*rounds {
            let begin = Instant::now();
            let (place, walked) = memory.walk(at, loads);
            minimum = minimum.min(begin.elapsed().as_secs_f64() / walked as f64);
            at = Some(place);
        }
        points.push([*set as f64, minimum]);
        channel.send(&Event::Progress { progress: (done + 1) as f64 / sets.len() as f64 });
    }
    points
}

fn report(points: &[[f64; 2]], large: Option<f64>, levels: &[Plateau], channel: &mut Channel) {
    let logs: f64 = points.iter().map(|p| p[1].ln()).sum();
    let mean = (!points.is_empty()).then(|| (logs / points.len() as f64).exp());
    let count = (!levels.is_empty()).then_some(levels.len() as f64);
    for (name, value, unit, better, kind) in [
        ("latency", points.last().map(|p| p[1]), "s", Better::Lower, Kind::Measured),
        ("mean_latency", mean, "s", Better::Lower, Kind::Measured),
        ("huge_page_coverage", large, "1", Better::Neither, Kind::Measured),
        ("plateaus", count, "1", Better::Neither, Kind::Estimated),
    ] {
        channel.send(&Event::Metric {
            metric: name.into(),
            value,
            unit: unit.into(),
            better: Some(better),
            kind: Some(kind),
            counted: false,
        });
    }
}

fn knees(levels: &[Plateau]) -> String {
    let step = |w: &[Plateau]| {
        format!(
            "{} ({} to {})",
            format_bytes(w[1].from as u64),
            format_value(w[0].value, "s"),
            format_value(w[1].value, "s")
        )
    };
    let all: Vec<String> = levels.windows(2).map(step).collect();
    format!("knees at {}", all.join(", "))
}

fn verdict(pages: Pages, large: Option<f64>) -> Event {
    let wants = match pages {
        Pages::Any => None,
        Pages::Small => Some(false),
        Pages::Asked | Pages::Machine | Pages::Explicit(_) => Some(true),
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    match (wants, large) {
        (None, _) => Event::Valid {
            valid: true,
            detail: "the chain is one cycle through every link; any pages were right".into(),
        },
        (Some(_), None) => Event::Valid {
            valid: false,
            detail: format!(
                "{} were requested, and /proc/self/smaps does not report it",
                pages.name()
            ),
        },
        (Some(wanted), Some(share)) => {
            let valid = if wanted { share >= ENOUGH } else { share == 0.0 };
            let name = pages.name();
            let share = percent(share);
            let detail = format!(
                "{name} were asked for, and large pages back {share} of the memory (smaps)"
            );
            Event::Valid { valid, detail }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_did_not_take_is_invalid() {
        let valid = |pages, large| match verdict(pages, large) {
            Event::Valid { valid, .. } => valid,
            other => panic!("{other:?}"),
        };
        assert!(valid(Pages::Any, None) && valid(Pages::Small, Some(0.0)));
        assert!(!valid(Pages::Small, Some(0.01)) && !valid(Pages::Asked, Some(0.5)));
        assert!(valid(Pages::Asked, Some(0.97)) && valid(Pages::Explicit(2 << 20), Some(1.0)));
        assert!(!valid(Pages::Asked, None) && !valid(Pages::Machine, Some(0.0)));
    }
}
