//! Watcher on a node that runs ranks of another node's MUMPS: `assay __work cae-watch JSON` samples
//! the trial's folder and its devices until it is asked to end.

use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::Failure;
use crate::builtin::cae::Spec;
use crate::builtin::cae::devices::Devices;
use crate::builtin::cae::run::{FULL, LOOK, full_folder, no_room, space, stalled_s};
use crate::driver::work::Channel;

/// Name of the watcher's trial program.
pub const WATCH: &str = "cae-watch";

/// Watches as `json` describes and reports on `channel`.
///
/// # Errors
/// [`Failure`] if it cannot watch, or the ranks hang in a full folder.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec = Spec::read(json)?;
    let stop = spec.stop_flag()?;
    let dir = &spec.dir;
    let devices = Devices::below(dir);
    if let Some(devices) = &devices {
        channel.note(format!("the solver's files are on {}", devices.names()));
    }
    let bytes = || devices.as_ref().and_then(Devices::bytes);
    let (before, stalled, beside) = (bytes(), stalled_s(), space(dir));
    let began = Instant::now();
    let (mut most, mut full): (u64, Option<Instant>) = (0, None);
    while !stop.load(Ordering::Acquire) {
        std::thread::sleep(LOOK);
        most = most.max(space(dir).saturating_sub(beside));
        full = if no_room(dir) { full.or_else(|| Some(Instant::now())) } else { None };
        if full.is_some_and(|since| since.elapsed() > FULL) {
            return Err(full_folder(dir));
        }
    }
    let elapsed_s = began.elapsed().as_secs_f64();
    let done = bytes().zip(before);
    let stalled = stalled_s().zip(stalled).map(|(now, then)| now - then);
    let metrics = [
        ("io_stall_share", stalled.map(|s| (s / elapsed_s).min(1.0))),
        ("device_read", done.map(|(a, b)| a.read.saturating_sub(b.read) as f64)),
        ("device_written", done.map(|(a, b)| a.written.saturating_sub(b.written) as f64)),
        ("scratch", Some(most as f64)),
    ];
    channel.metrics(crate::builtin::cae::spec(), metrics);
    Ok(())
}
