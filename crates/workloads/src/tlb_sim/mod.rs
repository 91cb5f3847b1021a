//! The workload `tlb-sim`: processes that are made up, on TLBs and TSBs that are simulated. Everything
//! that it reports is simulated (kind `estimated`), and says nothing of the machine it runs on.
//! `docs/address-translation.md` has the definitions.

mod trial;

use std::collections::BTreeMap;

use assay_model::{Fact, Scalar, WorkloadSpec};
use assay_tlb::Machine;
use assay_tlb::synthetic::{Load, Synthetic};
use serde::{Deserialize, Serialize};

pub use trial::run as trial;

use crate::declare::{int, params, size, spec, text, wrong};
use crate::{Launch, TrialContext, Workload, WorkloadError};
use trial::Task;

/// Its name, and that of its program.
pub const NAME: &str = "tlb-sim";

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Params {
        /// The simulated machine: solaris-9, solaris-10, two-level-tsb, x86-64, or a TOML file.
        machine: String = text(), "solaris-9";
        /// How many processes take turns.
        processes: u32 = int(1, 1024), 8;
        /// The smallest amount of data of the largest process.
        min_data: u64 = size(), "1 MiB";
        /// The largest; in between it is halved.
        max_data: u64 = size(), "64 MiB";
        /// The code of each process.
        code: u64 = size(), "1 MiB";
        /// Accesses in one turn.
        slice: u64 = int(1, 1 << 40), 100_000;
        /// Accesses for each amount of data.
        accesses: u64 = int(1, 1 << 40), 4_000_000;
    }
}

// Nothing is timed: also what a miss costs is of the simulated machine.
spec! {
    /// Simulates TLBs and TSBs under made-up processes that take turns: what they miss, by how
    /// much data each has. Nothing of the machine it runs on is measured.
    NAME, Params::rows();
    /// Simulated: misses of data in the TSB per million accesses, at `max_data`; missing for a
    /// machine without TSBs.
    "dtsb_misses", "1", Lower, Estimated, counted;
    /// Simulated: the same for instructions.
    "itsb_misses", "1", Lower, Estimated, counted;
    /// Simulated: misses of data in all TLBs per million accesses, at `max_data`.
    "dtlb_misses", "1", Lower, Estimated, counted;
    /// Simulated: the same for instructions.
    "itlb_misses", "1", Lower, Estimated, counted;
    /// Simulated: the share of time that misses cost at `max_data`, by the machine's costs.
    "translation", "1", Lower, Estimated, counted;
}

/// Simulates what processes miss in TLBs and TSBs, by how much data they have. Metrics: `dtsb_misses`
/// (primary), `itsb_misses`, `dtlb_misses`, `itlb_misses`, `translation`. Curve: `dtsb_misses` over
/// bytes of data.
pub struct TlbSim;

/// What a treatment's parameters order, with this seed.
fn task(map: &BTreeMap<String, Scalar>, seed: u64) -> Result<Task, WorkloadError> {
    let params = Params::read(map)?;
    let (min, max) = (params.min_data, params.max_data);
    let no_machine = |e: assay_tlb::Error| wrong(format!("`machine`: {e}"));
    let machine = Machine::find(&params.machine).map_err(no_machine)?;
    if min > max || min < 1 << 16 {
        return Err(wrong(format!(
            "`min_data` is {min} B and `max_data` {max} B; it takes 64 KiB or more, the smaller first"
        )));
    }
    let task = Task {
        machine: Machine::text(&params.machine).map_err(no_machine)?,
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

impl Task {
    /// The load of each amount of data, the largest first. A process has a quarter of it or more.
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
        // Trials of one block see the same streams, whatever their treatment: pairs differ by the
        // machine alone.
        let block = ctx.previous.len() as u64 + 1;
        let task = task(ctx.params, block)?;
        Launch::own(ctx, NAME, &task, "the parameters")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(changes: &[(&str, Scalar)]) -> BTreeMap<String, Scalar> {
        crate::declare::treatment(Params::rows(), changes)
    }

    #[test]
    fn what_cannot_be_is_refused_when_the_plan_is_made() {
        let workload = TlbSim;
        workload.check(&map(&[])).unwrap();
        for (name, value, says) in [
            ("machine", Scalar::from("vax"), "known are solaris-9"),
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

    /// The finding of 2005 in kind, on the machines and the load of `experiments/tsb.toml`.
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
            // The ends of the curve are enough here.
            let mut task = task(&map, 1).unwrap();
            task.data = vec![task.data[0], *task.data.last().unwrap()];
            let results = trial::simulate_all(&task).unwrap();
            let each = |r: &trial::Point| (r.data, r.data_tsb.unwrap());
            results.iter().map(each).collect::<Vec<_>>()
        };
        let (fixed, own) = (misses("solaris-9"), misses("solaris-10"));
        assert!(fixed[0].1 >= 2.0 * own[0].1, "{fixed:?} {own:?}");
        // And where everything fits, nothing is gained.
        let (last_fixed, last_own) = (fixed.last().unwrap().1, own.last().unwrap().1);
        assert!(last_fixed < 2.0 * last_own, "{fixed:?} {own:?}");
    }
}
