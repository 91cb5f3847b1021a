//! The columns of the summary: rows of data with a title, a width and a way to the value.

use super::Frame;
use super::number::{percent, short};

/// One column of the summary.
pub struct Column {
    /// What the columns beside it with the same words have in common.
    pub group: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its width without the blank before it.
    pub width: usize,
    /// Where there is not room for all, those with the highest number go first.
    pub rank: u8,
    /// Its text.
    pub text: fn(&Frame) -> String,
}

const fn column(
    group: &'static str,
    title: &'static str,
    width: usize,
    rank: u8,
    text: fn(&Frame) -> String,
) -> Column {
    Column { group, title, width, rank, text }
}

const CPU: &str = "cpu %";
const TASKS: &str = "tasks";
const MEMORY: &str = "memory B";
const DISK: &str = "busiest disk";
const NET: &str = "net B/s";
/// One narrow column whose title says it all.
pub const POWER: &str = "";

/// All columns, from left to right. Without power, those up to rank 2 take 80 characters.
pub const SUMMARY: &[Column] = &[
    column(CPU, "us", 3, 0, |f| {
        percent(f.value("cpu", "all", "user") + f.value("cpu", "all", "nice"))
    }),
    column(CPU, "sy", 3, 0, |f| {
        let part = |field| f.value("cpu", "all", field);
        percent(part("system") + part("irq") + part("softirq"))
    }),
    column(CPU, "wa", 3, 0, |f| percent(f.value("cpu", "all", "iowait"))),
    column(CPU, "st", 2, 0, |f| percent(f.value("cpu", "all", "steal"))),
    column(CPU, "id", 3, 0, |f| percent(f.value("cpu", "all", "idle"))),
    column(TASKS, "r", 2, 0, |f| percent(f.value("switches", "", "runnable"))),
    column(TASKS, "b", 2, 4, |f| percent(f.value("switches", "", "blocked"))),
    column(TASKS, "cs/s", 4, 0, |f| short(f.value("switches", "", "context_switches"))),
    column(MEMORY, "free", 4, 0, |f| short(f.value("memory", "", "free"))),
    column(MEMORY, "cach", 4, 0, |f| short(f.value("memory", "", "cached"))),
    column(MEMORY, "dirt", 4, 2, |f| short(f.value("memory", "", "dirty"))),
    column(DISK, "name", 7, 5, |f| f.busiest_disk().unwrap_or("-").chars().take(7).collect()),
    column(DISK, "r/s", 4, 0, |f| short(disk(f, "r/s"))),
    column(DISK, "w/s", 4, 0, |f| short(disk(f, "w/s"))),
    // From KiB to bytes.
    column(DISK, "B/s", 4, 0, |f| short((disk(f, "rkB/s") + disk(f, "wkB/s")) * 1024.0)),
    column(DISK, "ms", 4, 0, |f| short(mean_wait(f))),
    column(DISK, "%ut", 3, 0, |f| percent(disk(f, "%util"))),
    column(NET, "rx", 4, 0, |f| short(f.network_total("rx") * 1000.0)),
    column(NET, "tx", 4, 0, |f| short(f.network_total("tx") * 1000.0)),
    column("psi", "%", 4, 0, |f| match f.pressure() {
        Some((resource, some)) => format!("{}{some:.0}", &resource[..1]),
        None => "-".to_owned(),
    }),
    column(POWER, "W", 4, 1, |f| short(f.watts())),
];

fn disk(frame: &Frame, field: &str) -> f64 {
    frame.busiest_disk().map_or(f64::NAN, |name| frame.value("disk", name, field))
}

/// The mean time of reads and writes together, ms; NaN if there were none.
fn mean_wait(frame: &Frame) -> f64 {
    let total = |rate: &str, wait: &str| {
        let requests = disk(frame, rate);
        let time = if requests > 0.0 { requests * disk(frame, wait) } else { 0.0 };
        (requests, time)
    };
    let (reads, read_time) = total("r/s", "r_await");
    let (writes, write_time) = total("w/s", "w_await");
    let requests = reads + writes;
    if requests > 0.0 { (read_time + write_time) / requests } else { f64::NAN }
}
