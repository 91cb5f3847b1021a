//! The programs of the built-in workloads: what `assay __work NAME JSON` does in its own, fresh
//! process.

mod channel;
pub(crate) mod life;

use std::io::{self, Write};

pub use channel::Channel;

use crate::{
    block_size, bulkload, cae, memcached, orders, pointer_chase, side_by_side, startup, tlb_sim,
};

/// Runs the program of the built-in workload `name` as `json` says, and returns the exit code: 0 when
/// it did its work (whether the work was right is an event), 1 when it failed, 2 when there is no
/// such program. Events go to the file named by `ASSAY_METRICS`, else to file descriptor 3 if that
/// is open for writing, else to standard output; what went wrong is a sentence on standard error.
pub fn serve(name: &str, json: &str) -> i32 {
    let done = match name {
        "block-size" => Channel::open()
            .map_err(|e| format!("events cannot be written: {e}"))
            .and_then(|mut channel| {
                block_size::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            }),
        "bulkload" => Channel::open()
            .map_err(|e| format!("events cannot be written: {e}"))
            .and_then(|mut channel| {
                bulkload::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            }),
        "cae" => Channel::open().map_err(|e| format!("events cannot be written: {e}")).and_then(
            |mut channel| {
                cae::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            },
        ),
        "memcached" => Channel::open()
            .map_err(|e| format!("events cannot be written: {e}"))
            .and_then(|mut channel| {
                memcached::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            }),
        side_by_side::CREW => Channel::open()
            .map_err(|e| format!("events cannot be written: {e}"))
            .and_then(|mut channel| {
                side_by_side::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            }),
        side_by_side::COPY => match side_by_side::become_program(json) {
            Ok(never) => match never {},
            Err(e) => Err(e.to_string()),
        },
        "orders" => Channel::open().map_err(|e| format!("events cannot be written: {e}")).and_then(
            |mut channel| {
                orders::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            },
        ),
        "pointer-chase" => Channel::open()
            .map_err(|e| format!("events cannot be written: {e}"))
            .and_then(|mut channel| {
                pointer_chase::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            }),
        startup::NAME => Channel::open()
            .map_err(|e| format!("events cannot be written: {e}"))
            .and_then(|mut channel| {
                startup::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            }),
        "tlb-sim" => Channel::open()
            .map_err(|e| format!("events cannot be written: {e}"))
            .and_then(|mut channel| {
                tlb_sim::trial(json, &mut channel).map_err(|e| e.to_string())?;
                channel.close().map_err(|e| format!("events cannot be written: {e}"))
            }),
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

fn complain(message: &str) {
    // When standard error is gone too, the exit code has to do.
    let _ = writeln!(io::stderr(), "{message}");
}
