//! The workload `tlb-sim`: synthetic processes on simulated TLBs and TSBs. All its results are
//! simulated (kind `estimated`) and do not depend on the machine that it runs on.
//! `docs/watch/address-translation.md` has the definitions.

mod trial;

use std::collections::BTreeMap;

use assay_model::{Fact, Scalar, WorkloadSpec};
use assay_traces::translation::SimulatedMachine;
use assay_traces::translation::synthetic::{Load, Synthetic};
use serde::{Deserialize, Serialize};

pub use trial::run as trial;

use crate::declare::{int, params, size, spec, text, wrong};
use crate::{Launch, TrialContext, Workload, WorkloadError};
use trial::SimulationTask;

/// Name of the workload and of its trial program.
pub const NAME: &str = "tlb-sim";

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct SimulationParams {
        /// Simulated machine: solaris-9, solaris-10, two-level-tsb, x86-64, or a TOML file.
        machine: String = text(), "solaris-9";
        /// Number of processes that take turns.
        processes: u32 = int(1, 1024), 8;
        /// Smallest amount of data of the largest process.
        min_data: u64 = size(), "1 MiB";
        /// Largest amount of data of the largest process; it is halved from there down to
        /// `min_data`.
        max_data: u64 = size(), "64 MiB";
        /// Amount of code of each process.
        code: u64 = size(), "1 MiB";
        /// Number of accesses in one turn of a process.
        slice: u64 = int(1, 1 << 40), 100_000;
        /// Number of accesses for each amount of data.
        accesses: u64 = int(1, 1 << 40), 4_000_000;
    }
}

// Nothing is timed: even the cost of a miss is a property of the simulated machine.
spec! {
    /// Simulates TLBs and TSBs under synthetic processes that take turns: computes their misses by
    /// the amount of data of a process. Nothing is measured on the machine that it runs on.
    NAME, SimulationParams::rows();
    /// Simulated: data misses in the TSB per million accesses, at `max_data`; missing for a machine
    /// without TSBs.
    "dtsb_misses", "1", Lower, Estimated, counted;
    /// Simulated: instruction misses in the TSB per million accesses, at `max_data`.
    "itsb_misses", "1", Lower, Estimated, counted;
    /// Simulated: data misses in all TLBs per million accesses, at `max_data`.
    "dtlb_misses", "1", Lower, Estimated, counted;
    /// Simulated: instruction misses in all TLBs per million accesses, at `max_data`.
    "itlb_misses", "1", Lower, Estimated, counted;
    /// Simulated: share of the time spent on misses at `max_data`, by the machine's costs.
    "translation", "1", Lower, Estimated, counted;
}

/// Simulates the misses of processes in TLBs and TSBs by their amount of data. Metrics:
/// `dtsb_misses` (primary), `itsb_misses`, `dtlb_misses`, `itlb_misses`, `translation`. Curve:
/// `dtsb_misses` over bytes of data.
pub struct TlbSim;

/// Returns the task for a treatment's parameters and a seed.
fn task(map: &BTreeMap<String, Scalar>, seed: u64) -> Result<SimulationTask, WorkloadError> {
    let params = SimulationParams::read(map)?;
    let (min, max) = (params.min_data, params.max_data);
    let no_machine = |e: assay_traces::translation::Error| wrong(format!("`machine`: {e}"));
    let machine = SimulatedMachine::find(&params.machine).map_err(no_machine)?;
    if min > max || min < 1 << 16 {
        return Err(wrong(format!(
            "`min_data` is {min} B, `max_data` {max} B; give 64 KiB or more, the smaller first"
        )));
    }
    let task = SimulationTask {
        machine: SimulatedMachine::text(&params.machine).map_err(no_machine)?,
        name: machine.name,
        data: std::iter::successors(Some(max), |d| Some(d / 2).filter(|d| *d >= min)).collect(),
        params,
        seed,
    };
    // An impossible load is an error when the plan is made.
    for load in task.loads() {
        Synthetic::new(&load).map_err(|e| wrong(e.to_string()))?;
    }
    Ok(task)
}

impl SimulationTask {
    /// Returns the load for each amount of data, the largest first. The smallest process has a
    /// quarter of it.
    fn loads(&self) -> impl Iterator<Item = Load> + '_ {
        self.data.iter().map(|data| Load {
            processes: self.params.processes,
            smallest: data / 4,
            largest: *data,
            code: self.params.code,
            slice: self.params.slice,
            accesses: self.params.accesses,
            seed: self.seed,
        })
    }
}

impl Workload for TlbSim {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        task(params, 0).map(|_| ())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let fact = task(params, 0)
            .map_or_else(|e| Fact::unknown(e.to_string()), |task| Fact::known(task.name));
        BTreeMap::from([("workload.simulated_machine".to_owned(), fact)])
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        // Trials of one block see the same streams in every treatment, so that the trials of a pair
        // differ only by the machine.
        let block = ctx.previous.len() as u64 + 1;
        let task = task(ctx.params, block)?;
        Launch::own(ctx, NAME, &task, "the parameters")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(changes: &[(&str, Scalar)]) -> BTreeMap<String, Scalar> {
        crate::declare::treatment(SimulationParams::rows(), changes)
    }

    #[test]
    fn what_cannot_be_is_refused_when_the_plan_is_made() {
        let workload = TlbSim;
        workload.check(&map(&[])).unwrap();
        for (name, value, says) in [
            ("machine", Scalar::from("vax"), "use solaris-9"),
            ("machine", "./none.toml".into(), "./none.toml"),
            ("processes", 0.into(), "1 to 1024"),
            ("processes", 100_000.into(), "1 to 1024"),
            ("min_data", "1 KiB".into(), "64 KiB"),
            ("min_data", "1 GiB".into(), "smaller first"),
            ("code", "1".into(), "code is from"),
        ] {
            let error = workload.check(&map(&[(name, value)])).unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
    }

    /// Reproduces the kind of the finding of 2005, with the machines and the load of
    /// `experiments/tsb.toml`.
    #[test]
    fn a_tsb_of_its_own_misses_half_as_much_where_shared_ones_thrash() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/tsb.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let experiment: assay_model::Experiment = toml::from_str(&text).unwrap();
        let params: Vec<(&str, Scalar)> =
            experiment.params.iter().map(|(k, v)| (k.as_str(), v.clone())).collect();
        let misses = |machine: &str| {
            let mut map = map(&params);
            map.insert("machine".into(), machine.into());
            // The ends of the curve suffice here.
            let mut task = task(&map, 1).unwrap();
            task.data = vec![task.data[0], *task.data.last().unwrap()];
            let results = trial::simulate_all(&task).unwrap();
            let each = |r: &trial::MissPoint| (r.data, r.data_tsb.unwrap());
            results.iter().map(each).collect::<Vec<_>>()
        };
        let (fixed, own) = (misses("solaris-9"), misses("solaris-10"));
        assert!(fixed[0].1 >= 2.0 * own[0].1, "{fixed:?} {own:?}");
        // Where everything fits, there is no gain.
        let (last_fixed, last_own) = (fixed.last().unwrap().1, own.last().unwrap().1);
        assert!(last_fixed < 2.0 * last_own, "{fixed:?} {own:?}");
    }
}
