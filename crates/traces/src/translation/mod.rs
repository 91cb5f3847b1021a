//! Measures or simulates the cost of address translation: the time a program spends to translate
//! virtual addresses to physical ones.
//!
//! There are two ways. A [`Simulator`] runs an address stream (a recorded trace, or a synthetic
//! one) through the TLBs and TSBs of a [`SimulatedMachine`] and counts misses; its results are
//! simulated. [`counters`] reads the processor's own counters, if the processor has them and the
//! kernel grants access. Both produce the rows of a [`TranslationTable`], with the columns of
//! `trapstat -t`.
//!
//! For example, one load through a preset machine:
//!
//! ```
//! use assay_traces::translation::{Access, AccessKind, SimulatedMachine, Simulator};
//!
//! let machine = SimulatedMachine::preset("x86-64").expect("it ships");
//! let mut simulator = Simulator::new(&machine).expect("a machine that ships can be");
//! let load = Access { kind: AccessKind::Load, address: 0x7fff_0000, size: 8 };
//! let mut batch = Vec::new();
//! load.pack(&mut batch).expect("it is inside the address space");
//! simulator.run(&batch).expect("it is a record");
//! assert_eq!(simulator.counts().data.accesses, 1);
//! ```

mod access;
pub mod counters;
mod error;
mod machine;
pub mod perf_event;
mod resident;
mod simulate;
mod simulator;
pub mod source;
pub mod synthetic;
mod table;
mod tlb;
mod tsb;

pub use access::{ADDRESS_BITS, Access, AccessError, AccessKind, MAX_ACCESS, Record};
pub use error::Error;
pub use machine::{
    Costs, FixedTsb, PRESETS, PageSizes, Region, Replacement, SimulatedMachine, TlbScope, TlbSpec,
    TsbSpec,
};
pub use simulate::{MAX_ROWS, Simulation, SimulationOptions, simulate};
pub use simulator::{LookupCounts, PageCounts, SideCounts, Simulator, TsbUse};
pub use table::{
    SideRow, StepCost, TranslationRow, TranslationSide, TranslationStep, TranslationTable,
};
