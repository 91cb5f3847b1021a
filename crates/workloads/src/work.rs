//! The programs of the built-in workloads: what `assay __work NAME JSON` does in its own, fresh
//! process.

mod channel;
pub(crate) mod life;

use std::fmt::Display;
use std::io::{self, Write};

pub use channel::Channel;

use crate::{
    block_size, bulkload, cae, memcached, orders, pointer_chase, side_by_side, span, startup,
    tlb_sim,
};

/// Runs the program of the built-in workload `name` as `json` says, and returns the exit code: 0 when
/// it did its work (whether the work was right is an event), 1 when it failed, 2 when there is no
/// such program. Events go to the file named by `ASSAY_METRICS`, else to file descriptor 3 if that
/// is open for writing, else to standard output; what went wrong is a sentence on standard error.
pub fn serve(name: &str, json: &str) -> i32 {
    let done = match name {
        "block-size" => reported(|channel| block_size::trial(json, channel)),
        "bulkload" => reported(|channel| bulkload::trial(json, channel)),
        "cae" => reported(|channel| cae::trial(json, channel)),
        "memcached" => reported(|channel| memcached::trial(json, channel)),
        "orders" => reported(|channel| orders::trial(json, channel)),
        "pointer-chase" => reported(|channel| pointer_chase::trial(json, channel)),
        startup::NAME => reported(|channel| startup::trial(json, channel)),
        "tlb-sim" => reported(|channel| tlb_sim::trial(json, channel)),
        side_by_side::CREW => reported(|channel| side_by_side::trial(json, channel)),
        side_by_side::COPY => match side_by_side::become_program(json) {
            Ok(never) => match never {},
            Err(e) => Err(e.to_string()),
        },
        bulkload::SERVER => reported(|channel| bulkload::server(json, channel)),
        cae::WATCH => reported(|channel| cae::watch(json, channel)),
        span::RANK => span::rank(json).map_err(|e| e.to_string()),
        // It is there to be started, and that is all.
        "noop" => Ok(()),
        block_size::WORKER => block_size::worker(json).map_err(|e| e.to_string()),
        _ => {
            complain(&format!("there is no built-in workload `{name}` to run"));
            return 2;
        }
    };
    match done {
        Ok(()) => 0,
        Err(message) => {
            complain(&message);
            1
        }
    }
}

/// Runs a trial with a channel for its events.
fn reported<E: Display>(trial: impl FnOnce(&mut Channel) -> Result<(), E>) -> Result<(), String> {
    let unwritten = |e: io::Error| format!("events cannot be written: {e}");
    let mut channel = Channel::open().map_err(unwritten)?;
    trial(&mut channel).map_err(|e| e.to_string())?;
    channel.close().map_err(unwritten)
}

fn complain(message: &str) {
    // When standard error is gone too, the exit code has to do.
    let _ = writeln!(io::stderr(), "{message}");
}
