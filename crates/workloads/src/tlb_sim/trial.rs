//! The body of a trial: `assay __work tlb-sim JSON`, in a process of its own.

use std::path::Path;

use assay_model::{Kind, Observation, Phase};
use assay_tlb::synthetic::Synthetic;
use assay_tlb::{Machine, SideRow, Simulation, Step, Wish, simulate};
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::work::{Channel, Curve};

const MISSES: Curve = Curve {
    name: "dtsb_misses",
    unit: "1",
    x_name: "data of a process",
    x_unit: "B",
    kind: Some(Kind::Estimated),
};

/// The trial spec.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    /// The machine's TOML.
    pub machine: String,
    /// Its name.
    pub name: String,
    /// Data of the largest process, bytes, the largest first.
    pub data: Vec<u64>,
    /// How many processes.
    pub processes: u32,
    /// Code of each, bytes.
    pub code: u64,
    /// Accesses in a turn.
    pub slice: u64,
    /// Accesses for each amount of data.
    pub accesses: u64,
    /// The seed of the streams.
    pub seed: u64,
}

impl From<assay_tlb::Error> for Failure {
    fn from(error: assay_tlb::Error) -> Self {
        Failure::other(error)
    }
}

/// What was missed with one amount of data, per million accesses.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Data of the largest process, bytes.
    pub data: u64,
    /// Of data in the TSB; `None` without one.
    pub data_tsb: Option<f64>,
    /// Of instructions in the TSB.
    pub code_tsb: Option<f64>,
    /// Of data in all TLBs.
    pub data_tlb: Option<f64>,
    /// Of instructions in all TLBs.
    pub code_tlb: Option<f64>,
    /// The share of time.
    pub share: Option<f64>,
    /// Of data in the TSB in the second half alone; `None` without one.
    pub later: Option<f64>,
}

impl Point {
    fn of(data: u64, done: &Simulation) -> Self {
        let each = |side: &SideRow, step: Step| {
            let misses = side.step(step).and_then(|c| c.misses)?;
            (done.accesses > 0).then(|| misses / done.accesses as f64 * 1e6)
        };
        let total = &done.table.total;
        Point {
            data,
            data_tsb: each(&total.data, Step::Tsb),
            code_tsb: each(&total.instruction, Step::Tsb),
            data_tlb: each(&total.data, Step::Tlb),
            code_tlb: each(&total.instruction, Step::Tlb),
            share: total.share,
            later: done.table.rows.get(1).and_then(|half| {
                let misses = half.data.step(Step::Tsb)?.misses?;
                (done.accesses > 0).then(|| misses / (done.accesses as f64 / 2.0) * 1e6)
            }),
        }
    }
}

/// Simulates every amount of data.
pub(super) fn simulate_all(task: &Task) -> Result<Vec<Point>, Failure> {
    let machine = Machine::parse(&task.machine, Path::new(&task.name))?;
    let one = |(load, data): (assay_tlb::synthetic::Load, &u64)| {
        let mut stream = Synthetic::new(&load)?;
        let halves = Wish { every: Some((task.accesses / 2).max(1)), ..Wish::default() };
        let done = simulate(&machine, &mut stream, halves)?;
        Ok::<Point, Failure>(Point::of(*data, &done))
    };
    task.loads().zip(&task.data).map(one).collect()
}

/// Runs the trial that `json` orders and reports it on `channel`.
///
/// # Errors
/// [`Failure`].
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let task: Task = serde_json::from_str(json)?;
    channel.phase(Phase::Steady, None);
    let points = simulate_all(&task)?;
    channel.phase(Phase::RampDown, None);
    // A curve's values are positive: nothing missed is no point on it.
    let missed =
        points.iter().filter_map(|p| Some([p.data as f64, p.data_tsb.filter(|v| *v > 0.0)?]));
    channel.points(&MISSES, missed);
    let most = points.first();
    let metrics = [
        ("dtsb_misses", most.and_then(|p| p.data_tsb)),
        ("itsb_misses", most.and_then(|p| p.code_tsb)),
        ("dtlb_misses", most.and_then(|p| p.data_tlb)),
        ("itlb_misses", most.and_then(|p| p.code_tlb)),
        ("translation", most.and_then(|p| p.share)),
    ];
    channel.metrics(super::spec::spec(), metrics);
    if let Some((whole, later)) = most.and_then(|p| p.data_tsb.zip(p.later)) {
        let turns = task.accesses as f64 / (task.slice as f64 * f64::from(task.processes));
        let metric = "dtsb_misses".into();
        channel.evidence(Observation::ColdStart { metric, whole, later, turns });
    }
    channel.note(format!("simulated, not measured: {}", task.name));
    let detail = "simulated; the simulator is checked against an independent model in its tests";
    channel.valid(true, detail);
    Ok(())
}
