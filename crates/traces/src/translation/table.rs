//! Rows with the columns of `trapstat -t`: misses per second and the share of time they cost, by
//! side and step, per interval and in total. Both the simulator and the counters produce them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::translation::machine::SimulatedMachine;
use crate::translation::simulator::{LookupCounts, PageCounts, SideCounts};

/// Side of address translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TranslationSide {
    /// Fetches of program instructions.
    Instruction,
    /// Loads and stores of data.
    Data,
}

/// Step of address translation at which a lookup missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TranslationStep {
    /// Miss in the first of two TLB levels.
    FirstLevel,
    /// Miss in all TLBs: the page tables are walked, or a trap looks up the TSB.
    Tlb,
    /// Miss in the TSB: the page tables are searched.
    Tsb,
}

assay_model::names! {
    /// Returns the name of the step in column titles.
    pub TranslationStep::name: FirstLevel = "tlb1", Tlb = "tlb-miss", Tsb = "tsb-miss"
}

/// Misses of one step and their cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepCost {
    /// Step of the translation that missed.
    pub step: TranslationStep,
    /// Number of misses; `null` if unavailable.
    pub misses: Option<f64>,
    /// Misses per second; `null` if unavailable.
    pub per_second: Option<f64>,
    /// Share of time that the misses cost, 0 to 1; `null` if unavailable.
    pub share: Option<f64>,
}

/// One side of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideRow {
    /// Side that is counted.
    pub side: TranslationSide,
    /// Number of accesses; `null` if not counted.
    pub accesses: Option<f64>,
    /// Steps in the order in which they are taken.
    pub steps: Vec<StepCost>,
}

impl SideRow {
    /// Returns a step, if the machine has it.
    pub fn step(&self, step: TranslationStep) -> Option<&StepCost> {
        self.steps.iter().find(|s| s.step == step)
    }
}

/// One row of the table: an interval or a total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslationRow {
    /// End of the interval, in seconds from the start.
    pub at_s: f64,
    /// Length of the interval, in seconds.
    pub seconds: f64,
    /// Page size of the row, in bytes; `null` for all page sizes.
    pub page: Option<u64>,
    /// Costs of instruction fetches.
    pub instruction: SideRow,
    /// Costs of loads and stores.
    pub data: SideRow,
    /// Share of time of all steps together, 0 to 1; `null` if one of them is unavailable.
    pub share: Option<f64>,
}

/// Table of translation costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslationTable {
    /// Origin of the numbers: `simulated` or `measured`.
    pub kind: String,
    /// Subject of the table, as a phrase.
    pub of: String,
    /// Rows by interval, each over all page sizes.
    pub rows: Vec<TranslationRow>,
    /// Totals by page size; empty if there is only one size or sizes are unknown.
    pub by_page: Vec<TranslationRow>,
    /// Total over all intervals.
    pub total: TranslationRow,
    /// Remarks for the reader, such as scaled counts and missing events.
    pub notes: Vec<String>,
}

impl SimulatedMachine {
    /// Returns the cycles that the accesses and misses in `counts` take.
    pub fn cycles_of(&self, counts: &LookupCounts) -> f64 {
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

    /// Returns a row for `counts`, which start at `from_s`. `page` selects one page size by its
    /// index in the simulator's list and its size in bytes; `None` adds up all sizes.
    pub fn row(
        &self,
        counts: &LookupCounts,
        page: Option<(usize, u64)>,
        from_s: f64,
    ) -> TranslationRow {
        let cycles = self.cycles_of(counts);
        let seconds = cycles / self.clock_hz;
        let side = |side: TranslationSide, s: &SideCounts| {
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
                steps.push(cost(TranslationStep::FirstLevel, of.first_misses, self.first_cost()));
            }
            steps.push(cost(TranslationStep::Tlb, of.tlb_misses, self.cycles.tlb_miss));
            if self.tsb.is_some() {
                steps.push(cost(TranslationStep::Tsb, of.tsb_misses, self.cycles.tsb_miss));
            }
            SideRow { side, accesses: page.is_none().then_some(s.accesses as f64), steps }
        };
        let instruction = side(TranslationSide::Instruction, &counts.instruction);
        let data = side(TranslationSide::Data, &counts.data);
        let share = total_share(&instruction, &data);
        let page = page.map(|p| p.1);
        TranslationRow { at_s: from_s + seconds, seconds, page, instruction, data, share }
    }
}

/// Adds up the shares of all steps. Returns `None` if one is missing.
pub(crate) fn total_share(instruction: &SideRow, data: &SideRow) -> Option<f64> {
    instruction.steps.iter().chain(&data.steps).map(|s| s.share).sum()
}

impl LookupCounts {
    /// Returns the counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &LookupCounts) -> LookupCounts {
        let side = |a: &SideCounts, b: &SideCounts| {
            let mut pages = a.pages;
            for (now, then) in pages.iter_mut().zip(&b.pages) {
                now.first_misses -= then.first_misses;
                now.tlb_misses -= then.tlb_misses;
                now.tsb_misses -= then.tsb_misses;
            }
            SideCounts { accesses: a.accesses - b.accesses, pages }
        };
        LookupCounts {
            instruction: side(&self.instruction, &earlier.instruction),
            data: side(&self.data, &earlier.data),
        }
    }
}
