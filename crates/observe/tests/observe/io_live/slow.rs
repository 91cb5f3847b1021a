//! A null block device with a long service time.

use std::path::Path;
use std::process::Command;

/// A device that takes seconds per request, one request at a time; removed when dropped.
pub struct Slow {
    pub name: String,
}

impl Slow {
    const FOLDER: &str = "/sys/kernel/config/nullb/assay-slow";

    pub fn new() -> Option<Slow> {
        let made = Command::new("modprobe").args(["null_blk", "nr_devices=0"]).output().ok()?;
        if !made.status.success() || std::fs::create_dir(Self::FOLDER).is_err() {
            return None;
        }
        let mut slow = Slow { name: "assay-slow".to_owned() };
        for (what, value) in [
            ("size", "64"),
            ("irqmode", "2"),
            ("completion_nsec", "3000000000"),
            ("submit_queues", "1"),
            ("hw_queue_depth", "1"),
            ("power", "1"),
        ] {
            std::fs::write(format!("{}/{what}", Self::FOLDER), value).unwrap();
        }
        // Before Linux 6.0 the device is named by a number.
        if !Path::new("/sys/block/assay-slow").exists() {
            let index = std::fs::read_to_string(format!("{}/index", Self::FOLDER)).unwrap();
            slow.name = format!("nullb{}", index.trim());
        }
        for (what, value) in [("scheduler", "mq-deadline"), ("nr_requests", "16")] {
            std::fs::write(format!("/sys/block/{}/queue/{what}", slow.name), value).unwrap();
        }
        Some(slow)
    }

    /// Returns the completed reads and the merged reads, as the kernel counts them.
    pub fn reads(&self) -> (u64, u64) {
        let text = std::fs::read_to_string(format!("/sys/block/{}/stat", self.name)).unwrap();
        let fields: Vec<u64> =
            text.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        (fields[0], fields[1])
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(Self::FOLDER);
    }
}
