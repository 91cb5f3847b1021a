//! Body of a trial: `assay __work tlb-sim JSON`, in a separate process.

use std::path::Path;

use assay_model::{MetricKind, Observation, Phase};
use assay_traces::translation::synthetic::Synthetic;
use assay_traces::translation::{
    SideRow, SimulatedMachine, Simulation, SimulationOptions, TranslationStep, simulate,
};
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::builtin::tlb_sim::SimulationParams;
use crate::driver::work::{Channel, Curve};

const MISSES: Curve = Curve {
    name: "dtsb_misses",
    unit: "1",
    x_name: "data of a process",
    x_unit: "B",
    kind: Some(MetricKind::Estimated),
};

/// Trial spec with the simulated machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SimulationTask {
    /// TOML text of the machine.
    pub machine: String,
    /// Name of the machine.
    pub name: String,
    /// Amounts of data of the largest process in bytes, the largest first.
    pub data: Vec<u64>,
    pub params: SimulationParams,
    /// Seed of the streams.
    pub seed: u64,
}

impl From<assay_traces::translation::Error> for Failure {
    fn from(error: assay_traces::translation::Error) -> Self {
        Failure::other(error)
    }
}

/// Misses per million accesses with one amount of data.
#[derive(Debug, Clone, PartialEq)]
pub struct MissPoint {
    /// Amount of data of the largest process in bytes.
    pub data: u64,
    /// Data misses in the TSB; `None` without a TSB.
    pub data_tsb: Option<f64>,
    /// Data misses in the TSB in the second half only; `None` without a TSB.
    pub later: Option<f64>,
    /// Metrics for this amount of data.
    pub metrics: [(&'static str, Option<f64>); 5],
}

impl MissPoint {
    fn from_simulation(data: u64, done: &Simulation) -> Self {
        let each = |side: &SideRow, step: TranslationStep, accesses: f64| {
            let misses = side.step(step).and_then(|c| c.misses)?;
            (done.accesses > 0).then(|| misses / accesses * 1e6)
        };
        let (total, accesses) = (&done.table.total, done.accesses as f64);
        let data_tsb = each(&total.data, TranslationStep::Tsb, accesses);
        let half = done.table.rows.get(1);
        MissPoint {
            data,
            data_tsb,
            later: half.and_then(|half| each(&half.data, TranslationStep::Tsb, accesses / 2.0)),
            metrics: [
                ("dtsb_misses", data_tsb),
                ("itsb_misses", each(&total.instruction, TranslationStep::Tsb, accesses)),
                ("dtlb_misses", each(&total.data, TranslationStep::Tlb, accesses)),
                ("itlb_misses", each(&total.instruction, TranslationStep::Tlb, accesses)),
                ("translation", total.share),
            ],
        }
    }
}

/// Simulates every amount of data.
pub(super) fn simulate_all(task: &SimulationTask) -> Result<Vec<MissPoint>, Failure> {
    let machine = SimulatedMachine::parse(&task.machine, Path::new(&task.name))?;
    let one = |(load, data): (assay_traces::translation::synthetic::Load, &u64)| {
        let mut stream = Synthetic::new(&load)?;
        let halves = SimulationOptions {
            every: Some((task.params.accesses / 2).max(1)),
            ..SimulationOptions::default()
        };
        let done = simulate(&machine, &mut stream, halves)?;
        Ok::<MissPoint, Failure>(MissPoint::from_simulation(*data, &done))
    };
    task.loads().zip(&task.data).map(one).collect()
}

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// Returns a [`Failure`] if the spec is invalid or the simulation fails.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let task: SimulationTask = serde_json::from_str(json)?;
    channel.phase(Phase::Steady, None);
    let points = simulate_all(&task)?;
    channel.phase(Phase::RampDown, None);
    // A curve's values are positive, so amounts of data without misses have no point.
    let missed =
        points.iter().filter_map(|p| Some([p.data as f64, p.data_tsb.filter(|v| *v > 0.0)?]));
    channel.points(&MISSES, missed);
    // The largest amount of data is the first.
    let most =
        points.first().ok_or_else(|| Failure::other("the trial spec has no amount of data"))?;
    channel.metrics(crate::builtin::tlb_sim::spec(), most.metrics);
    if let Some((whole, later)) = most.data_tsb.zip(most.later) {
        let SimulationParams { accesses, slice, processes, .. } = task.params;
        let turns = accesses as f64 / (slice as f64 * f64::from(processes));
        let metric = "dtsb_misses".into();
        channel.evidence(Observation::ColdStart { metric, whole, later, turns });
    }
    channel.note(format!("simulated, not measured: {}", task.name));
    let detail = "simulated; the simulator is checked against an independent model in its tests";
    channel.valid(true, detail);
    Ok(())
}
