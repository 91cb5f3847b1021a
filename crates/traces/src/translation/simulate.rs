//! Runs a complete simulation: takes a source through a machine to its end, with a row after every
//! interval of records, and optionally saves the stream in assay's own format.

use std::io::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::translation::error::Error;
use crate::translation::machine::SimulatedMachine;
use crate::translation::simulator::{LookupCounts, Simulator, TsbUse};
use crate::translation::source::{AccessStream, Writer};
use crate::translation::table::{TranslationRow, TranslationTable};

/// Maximum number of rows by interval.
pub const MAX_ROWS: usize = 10_000;

/// Result of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Simulation {
    /// Costs per interval and in total.
    pub table: TranslationTable,
    /// Number of accesses simulated.
    pub accesses: u64,
    /// Number of processes in the stream.
    pub processes: usize,
    /// State of the TSBs at the end.
    pub tsbs: Vec<TsbUse>,
    /// Format of the trace.
    pub format: String,
}

/// Options of a simulation.
#[derive(Default)]
pub struct SimulationOptions<'a> {
    /// Number of records per row; `None` for the total only.
    pub every: Option<u64>,
    /// Destination for a copy of the stream.
    pub record: Option<&'a mut Writer<Box<dyn Write>>>,
    /// Called from time to time with the number of records simulated.
    pub progress: Option<&'a dyn Fn(u64)>,
}

/// Simulates the records of `source` on `machine`.
///
/// # Errors
/// If the machine is impossible, the source is invalid, or there would be too many rows.
pub fn simulate(
    machine: &SimulatedMachine,
    source: &mut dyn AccessStream,
    wish: SimulationOptions<'_>,
) -> Result<Simulation, Error> {
    let mut simulator = Simulator::new(machine)?;
    let mut lines = IntervalRows {
        rows: Vec::new(),
        before: LookupCounts::default(),
        every: wish.every,
        left: 0,
    };
    lines.left = wish.every.unwrap_or(u64::MAX).max(1);
    let mut recorder = wish.record;
    let mut batch = Vec::with_capacity(crate::translation::source::BATCH);
    let mut done = 0u64;
    let format = source.format().to_owned();
    loop {
        source.next(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        if let Some(writer) = &mut recorder {
            writer
                .write(&batch)
                .map_err(|source| Error::Io { path: "the recording".into(), source })?;
        }
        let mut rest = batch.as_slice();
        while !rest.is_empty() {
            let (now, later) =
                rest.split_at(rest.len().min(usize::try_from(lines.left).unwrap_or(usize::MAX)));
            simulator.run(now)?;
            lines.took(now.len() as u64, machine, &simulator)?;
            rest = later;
        }
        done += batch.len() as u64;
        if let Some(hear) = wish.progress {
            hear(done);
        }
    }
    let counts = simulator.counts();
    let sizes = simulator.page_sizes().to_vec();
    let pages = sizes.iter().enumerate().filter(|_| sizes.len() > 1);
    let table = TranslationTable {
        kind: "simulated".into(),
        of: machine.name.clone(),
        rows: lines.rows,
        by_page: pages.map(|(code, size)| machine.row(&counts, Some((code, *size)), 0.0)).collect(),
        total: machine.row(&counts, None, 0.0),
        notes: Vec::new(),
    };
    Ok(Simulation {
        table,
        accesses: counts.instruction.accesses + counts.data.accesses,
        processes: simulator.processes(),
        tsbs: simulator.tsbs(),
        format,
    })
}

struct IntervalRows {
    rows: Vec<TranslationRow>,
    before: LookupCounts,
    every: Option<u64>,
    left: u64,
}

impl IntervalRows {
    fn took(
        &mut self,
        records: u64,
        machine: &SimulatedMachine,
        simulator: &Simulator,
    ) -> Result<(), Error> {
        self.left -= records;
        let Some(every) = self.every.filter(|_| self.left == 0) else { return Ok(()) };
        if self.rows.len() == MAX_ROWS {
            return Err(Error::machine(
                "every",
                format!("more than {MAX_ROWS} lines; set --every above {every} accesses"),
            ));
        }
        self.left = every.max(1);
        let now = simulator.counts();
        let at = self.rows.last().map_or(0.0, |r| r.at_s);
        self.rows.push(machine.row(&now.since(&self.before), None, at));
        self.before = now;
        Ok(())
    }
}
