//! Describes block devices and their queue settings.

use assay_model::units::format_bytes;

use super::facts::Facts;

/// Queue settings that determine how requests are made, ordered and written.
const QUEUE: [&str; 17] = [
    "read_ahead_kb",
    "rotational",
    "nr_requests",
    "max_sectors_kb",
    "write_cache",
    "nomerges",
    "rq_affinity",
    "io_poll",
    "io_timeout",
    "iostats",
    "add_random",
    "wbt_lat_usec",
    "fua",
    "logical_block_size",
    "physical_block_size",
    "discard_max_bytes",
    "dax",
];

pub(super) fn describe(facts: &mut Facts<'_>) {
    let names = facts.root.names("/sys/block");
    if names.is_empty() {
        facts.unknown("block", "`/sys/block` lists no device");
    }
    for name in names {
        let dir = format!("/sys/block/{name}");
        let sectors = facts.root.number::<u64>(&format!("{dir}/size"));
        // A loop or RAM device without a size has no backing.
        if matches!(sectors, Ok(0)) {
            continue;
        }
        // sysfs counts sectors of 512 bytes, whatever the device's own sector size.
        let size = sectors.map(|s| format_bytes(s.saturating_mul(512)));
        facts.put(format!("block.{name}.size"), size);
        for (path, file) in [
            ("model", "device/model"),
            ("vendor", "device/vendor"),
            ("firmware", "device/firmware_rev"),
            ("firmware", "device/rev"),
            ("backing", "loop/backing_file"),
            ("read_only", "ro"),
        ] {
            facts.file_if_there(format!("block.{name}.{path}"), &format!("{dir}/{file}"));
        }
        if !facts.root.exists(&format!("{dir}/device/model")) {
            facts.unknown(format!("block.{name}.model"), "the device does not report its model");
        }
        facts.choice(format!("block.{name}.queue.scheduler"), &format!("{dir}/queue/scheduler"));
        for setting in QUEUE {
            facts.file_if_there(
                format!("block.{name}.queue.{setting}"),
                &format!("{dir}/queue/{setting}"),
            );
        }
    }
}
