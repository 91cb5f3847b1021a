//! The columns of `trapstat -t`: misses a second and the share of time they cost, by side and by step,
//! in lines by interval and in total. Simulation and counters both end here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::simulator::{Counts, PageCounts, SideCounts};

/// A side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Instruction fetches.
    Instruction,
    /// Loads and stores.
    Data,
}

/// Where a translation was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Not in the first of two levels of TLB.
    FirstLevel,
    /// In no TLB: the page tables are walked, or the trap looks into the TSB.
    Tlb,
    /// Not in the TSB: the page tables are searched.
    Tsb,
}

/// Misses of one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepCost {
    /// Which.
    pub step: Step,
    /// How many; `null` if it could not be had.
    pub misses: Option<f64>,
    /// How many a second.
    pub per_second: Option<f64>,
    /// The share of time that they cost, 0 to 1; `null` if it could not be had.
    pub share: Option<f64>,
}

/// One side of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideRow {
    /// Which.
    pub side: Side,
    /// Accesses, where they were counted.
    pub accesses: Option<f64>,
    /// Its steps, in the order in which they are taken.
    pub steps: Vec<StepCost>,
}

impl SideRow {
    /// A step, if the machine has it.
    pub fn step(&self, step: Step) -> Option<&StepCost> {
        self.steps.iter().find(|s| s.step == step)
    }
}

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// When it ended, seconds from the start.
    pub at_s: f64,
    /// How long it took, seconds.
    pub seconds: f64,
    /// The page size that it is of, bytes; `null`: all of them.
    pub page: Option<u64>,
    /// Instruction fetches.
    pub instruction: SideRow,
    /// Loads and stores.
    pub data: SideRow,
    /// The share of time of all steps together; `null` if one of them could not be had.
    pub share: Option<f64>,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// `simulated` or `measured`.
    pub kind: String,
    /// What it is of, as a phrase.
    pub of: String,
    /// Lines by interval, and by page size where there are several.
    pub rows: Vec<Row>,
    /// The total by page size; empty where there is one size, or where it is not known.
    pub by_page: Vec<Row>,
    /// The total.
    pub total: Row,
    /// What the reader must know: what was scaled, what is missing.
    pub notes: Vec<String>,
}

impl Machine {
    /// Cycles that pass in `counts`.
    pub fn cycles_of(&self, counts: &Counts) -> f64 {
        let accesses = counts.instruction.accesses + counts.data.accesses;
        let side = |s: &SideCounts| s.pages.iter().map(|p| self.miss_cycles(p)).sum::<f64>();
        accesses as f64 * self.cycles.access + side(&counts.instruction) + side(&counts.data)
    }

    fn miss_cycles(&self, p: &PageCounts) -> f64 {
        let c = &self.cycles;
        p.first_misses as f64 * self.first_cost()
            + p.tlb_misses as f64 * c.tlb_miss
            + p.tsb_misses as f64 * c.tsb_miss
    }

    fn first_cost(&self) -> f64 {
        if self.levels() > 1 { self.cycles.second_level } else { 0.0 }
    }

    /// A line of `counts`, which were counted from `from_s` on: of all page sizes, or of the one with
    /// this place among the simulator's and this size.
    pub fn row(&self, counts: &Counts, page: Option<(usize, u64)>, from_s: f64) -> Row {
        let cycles = self.cycles_of(counts);
        let seconds = cycles / self.clock_hz;
        let side = |side: Side, s: &SideCounts| {
            let of = match page {
                Some((code, _)) => s.pages[code],
                None => s.pages.iter().fold(PageCounts::default(), |a, b| PageCounts {
                    first_misses: a.first_misses + b.first_misses,
                    tlb_misses: a.tlb_misses + b.tlb_misses,
                    tsb_misses: a.tsb_misses + b.tsb_misses,
                }),
            };
            let cost = |step, misses: u64, each: f64| StepCost {
                step,
                misses: Some(misses as f64),
                per_second: (seconds > 0.0).then(|| misses as f64 / seconds),
                share: (cycles > 0.0).then(|| misses as f64 * each / cycles),
            };
            let mut steps = Vec::new();
            if self.levels() > 1 {
                steps.push(cost(Step::FirstLevel, of.first_misses, self.first_cost()));
            }
            steps.push(cost(Step::Tlb, of.tlb_misses, self.cycles.tlb_miss));
            if self.tsb.is_some() {
                steps.push(cost(Step::Tsb, of.tsb_misses, self.cycles.tsb_miss));
            }
            SideRow { side, accesses: page.is_none().then_some(s.accesses as f64), steps }
        };
        let instruction = side(Side::Instruction, &counts.instruction);
        let data = side(Side::Data, &counts.data);
        let share = total_share(&instruction, &data);
        let page = page.map(|p| p.1);
        Row { at_s: from_s + seconds, seconds, page, instruction, data, share }
    }
}

/// The shares of all steps together; `None` where one is missing.
pub(crate) fn total_share(instruction: &SideRow, data: &SideRow) -> Option<f64> {
    instruction.steps.iter().chain(&data.steps).map(|s| s.share).sum()
}

impl Counts {
    /// What was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        let side = |a: &SideCounts, b: &SideCounts| {
            let mut pages = a.pages;
            for (now, then) in pages.iter_mut().zip(&b.pages) {
                now.first_misses -= then.first_misses;
                now.tlb_misses -= then.tlb_misses;
                now.tsb_misses -= then.tsb_misses;
            }
            SideCounts { accesses: a.accesses - b.accesses, pages }
        };
        Counts {
            instruction: side(&self.instruction, &earlier.instruction),
            data: side(&self.data, &earlier.data),
        }
    }
}
