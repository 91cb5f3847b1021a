//! Table of disks, in the columns of iostat on Linux or on Solaris.

use std::fmt::Write;

use super::Frame;
use super::number::hundredths;
use super::renderer::table;
use crate::io::BlockDevices;

/// Set of columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiskTableLayout {
    /// All columns of `iostat -x` on Linux (sysstat): 190 characters wide.
    #[default]
    Linux,
    /// Columns of `iostat -xs` on Linux, for terminals of 80 characters.
    Short,
    /// Columns of `iostat -xn` on Solaris, and `svc_t` of its `iostat -x`. Linux reports the time
    /// in the queue and in the device only as one number, which is shown as `svc_t`; its parts are
    /// missing.
    Solaris,
}

/// Names under which disks are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// Name in the kernel: `dm-0`.
    Kernel,
    /// Name given by a mapper, if there is one: `vg0-data`.
    #[default]
    Mapped,
    /// Mount point, if mounted: `/srv`.
    Mount,
}

/// Layout of the table of disks.
#[derive(Debug, Clone, Default)]
pub struct Disks {
    pub shape: DiskTableLayout,
    /// Leaves out disks without any activity.
    pub skip_idle: bool,
    /// Adds a line about the CPUs in front.
    pub cpu: bool,
    pub naming: Naming,
    /// Devices that provide the names.
    pub devices: BlockDevices,
}

/// Column of one of the shorter sets of columns.
struct DiskColumn {
    title: &'static str,
    width: usize,
    places: usize,
    value: fn(&Frame, &str) -> f64,
}

const fn column(
    title: &'static str,
    width: usize,
    places: usize,
    value: fn(&Frame, &str) -> f64,
) -> DiskColumn {
    DiskColumn { title, width, places, value }
}

const SHORT: &[DiskColumn] = &[
    column("tps", 9, 2, |f, d| sum(f, d, ["r/s", "w/s", "d/s"])),
    column("kB/s", 11, 2, |f, d| sum(f, d, ["rkB/s", "wkB/s", "dkB/s"])),
    column("rqm/s", 9, 2, |f, d| sum(f, d, ["rrqm/s", "wrqm/s", "drqm/s"])),
    column("await", 8, 2, |f, d| f.mean("disk", d, &["r_await", "w_await", "d_await"])),
    column("areq-sz", 9, 2, |f, d| f.mean("disk", d, &["rareq-sz", "wareq-sz", "dareq-sz"])),
    column("aqu-sz", 8, 2, |f, d| f.value("disk", d, "aqu-sz")),
    column("%util", 7, 2, |f, d| f.value("disk", d, "%util")),
];

/// Value of the columns that Linux does not have: the kernel times requests from creation to
/// completion, not from when they were sent to the device.
const UNKNOWN: fn(&Frame, &str) -> f64 = |_, _| f64::NAN;

const SOLARIS: &[DiskColumn] = &[
    column("r/s", 6, 1, |f, d| f.value("disk", d, "r/s")),
    column("w/s", 7, 1, |f, d| f.value("disk", d, "w/s")),
    column("kr/s", 8, 1, |f, d| f.value("disk", d, "rkB/s")),
    column("kw/s", 8, 1, |f, d| f.value("disk", d, "wkB/s")),
    column("wait", 5, 1, UNKNOWN),
    column("actv", 5, 1, UNKNOWN),
    column("wsvc_t", 7, 1, UNKNOWN),
    column("asvc_t", 7, 1, UNKNOWN),
    column("svc_t", 6, 1, |f, d| f.mean("disk", d, &["r_await", "w_await", "d_await"])),
    column("%w", 3, 0, UNKNOWN),
    column("%b", 4, 0, |f, d| f.value("disk", d, "%util")),
];

fn sum(frame: &Frame, disk: &str, fields: [&str; 3]) -> f64 {
    let values = fields.map(|field| frame.value("disk", disk, field));
    // A kernel without discards has only two of the fields.
    values.into_iter().filter(|v| !v.is_nan()).reduce(|a, b| a + b).unwrap_or(f64::NAN)
}

/// Returns true if a disk was idle: no request completed and none was in flight.
fn idle(frame: &Frame, disk: &str) -> bool {
    let values = ["r/s", "w/s", "d/s", "f/s", "aqu-sz", "%util"];
    values.map(|field| frame.value("disk", disk, field)).iter().all(|v| v.is_nan() || *v <= 0.0)
}

impl Disks {
    /// Returns the lines of one interval.
    pub(super) fn lines(&self, frame: &Frame) -> String {
        let disks: Vec<&str> =
            frame.subjects("disk").filter(|d| !(self.skip_idle && idle(frame, d))).collect();
        let mut text = if self.cpu { self.cpu_lines(frame) } else { String::new() };
        match self.shape {
            DiskTableLayout::Linux => {
                text += &table(frame, "disk", "Device", &disks, |disk| self.name(disk));
            }
            DiskTableLayout::Short => text.push_str(&self.short(frame, &disks)),
            DiskTableLayout::Solaris => text.push_str(&self.solaris(frame, &disks)),
        }
        text
    }

    fn name<'a>(&'a self, disk: &'a str) -> &'a str {
        match self.naming {
            Naming::Kernel => disk,
            Naming::Mapped => self.devices.mapped(disk),
            Naming::Mount => self.devices.mount(disk),
        }
    }

    fn name_width(&self, disks: &[&str], corner: &str) -> usize {
        let longest = disks.iter().map(|d| self.name(d).chars().count()).max();
        longest.unwrap_or(0).max(corner.len())
    }

    fn short(&self, frame: &Frame, disks: &[&str]) -> String {
        let name_width = self.name_width(disks, "Device");
        let mut text = format!("{:<name_width$}", "Device");
        titles(&mut text, SHORT);
        text.push('\n');
        for disk in disks {
            let _ = write!(text, "{:<name_width$}", self.name(disk));
            cells(&mut text, SHORT, frame, disk);
            text.push('\n');
        }
        text + "\n"
    }

    fn solaris(&self, frame: &Frame, disks: &[&str]) -> String {
        let mut text = format!("{:20}extended device statistics\n", "");
        titles(&mut text, SOLARIS);
        text.push_str(" device\n");
        for disk in disks {
            cells(&mut text, SOLARIS, frame, disk);
            let _ = writeln!(text, " {}", self.name(disk));
        }
        text
    }

    fn cpu_lines(&self, frame: &Frame) -> String {
        let part = |field| frame.value("cpu", "all", field);
        let system = part("system") + part("irq") + part("softirq");
        if self.shape == DiskTableLayout::Solaris {
            let user = part("user") + part("nice");
            let waits = part("iowait");
            let whole = |v: f64| if v.is_nan() { "-".to_owned() } else { format!("{v:.0}") };
            let [us, sy, wt, id] = [user, system, waits, part("idle")].map(whole);
            return format!("     cpu\n us sy wt id\n{us:>3}{sy:>3}{wt:>3}{id:>3}\n");
        }
        let values =
            [part("user"), part("nice"), system, part("iowait"), part("steal"), part("idle")];
        let mut text =
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n       ".to_owned();
        for value in values {
            let _ = write!(text, "{:>8}", hundredths(value));
        }
        text + "\n\n"
    }
}

fn titles(text: &mut String, columns: &[DiskColumn]) {
    for DiskColumn { title, width, .. } in columns {
        let _ = write!(text, "{title:>width$}");
    }
}

fn cells(text: &mut String, columns: &[DiskColumn], frame: &Frame, disk: &str) {
    for DiskColumn { width, places, value, .. } in columns {
        let value = value(frame, disk);
        let _ = if value.is_nan() {
            write!(text, "{:>width$}", "-")
        } else {
            write!(text, "{value:>width$.places$}")
        };
    }
}
