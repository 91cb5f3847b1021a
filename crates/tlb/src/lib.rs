//! Address translation: what it costs a program to find the physical address behind a virtual one.
//!
//! Two ways to know. A [`Simulator`] takes an address stream (a recorded trace, or one that is made up)
//! through TLBs and TSBs of a [`Machine`] and counts misses; what it says is simulated. [`counters`]
//! asks the processor, where it counts and lets us. Both end in the rows of a [`Table`], the columns of
//! `trapstat -t`.
//!
//! The front door:
//!
//! ```
//! use assay_tlb::{Access, Kind, Machine, Simulator};
//!
//! let machine = Machine::preset("x86-64").expect("it ships");
//! let mut simulator = Simulator::new(&machine).expect("a machine that ships can be");
//! let load = Access { kind: Kind::Load, address: 0x7fff_0000, size: 8 };
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

pub use access::{ADDRESS_BITS, Access, Kind, MAX_ACCESS, Record};
pub use error::Error;
pub use machine::{
    Costs, FixedTsb, Holds, Machine, PRESETS, Pages, Region, Replacement, TlbSpec, TsbSpec,
};
pub use simulate::{MAX_ROWS, Simulation, Wish, simulate};
pub use simulator::{Counts, PageCounts, SideCounts, Simulator, TsbUse};
pub use table::{Row, Side, SideRow, Step, StepCost, Table};
