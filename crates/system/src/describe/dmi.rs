//! Describes board, firmware and memory modules, from the firmware's tables (SMBIOS).

use std::collections::BTreeMap;

use assay_model::units::format_bytes;

use super::facts::Facts;

const IDS: [&str; 9] = [
    "sys_vendor",
    "product_name",
    "product_version",
    "board_vendor",
    "board_name",
    "board_version",
    "bios_vendor",
    "bios_version",
    "bios_date",
];
const TABLES: &str = "/sys/firmware/dmi/tables/DMI";
const MEMORY_DEVICE: u8 = 17;

pub(super) fn describe(facts: &mut Facts<'_>) {
    let dir = "/sys/class/dmi/id";
    if facts.root.exists(dir) {
        for id in IDS {
            facts.file(format!("dmi.{id}"), &format!("{dir}/{id}"));
        }
    } else if facts.root.exists("/proc/device-tree/model") {
        let model = facts.root.text("/proc/device-tree/model");
        facts.put("dmi.product_name", model.map(|m| m.trim_matches('\0').to_owned()));
    } else {
        for id in ["sys_vendor", "product_name", "bios_version"] {
            facts.unknown(
                format!("dmi.{id}"),
                format!("`{dir}` is not there: the firmware leaves no tables (SMBIOS)"),
            );
        }
    }
    match std::fs::read(facts.root.path(TABLES)) {
        Ok(bytes) => {
            let modules = memory_modules(&bytes);
            if modules.is_empty() {
                facts.unknown("memory.dimms", "the firmware's tables list no memory module");
            } else {
                facts.set("memory.dimms", summary(&modules));
            }
        }
        Err(e) => facts.unknown(
            "memory.dimms",
            match e.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    format!("`{TABLES}` may only be read by root")
                }
                std::io::ErrorKind::NotFound => {
                    format!("`{TABLES}` is not there: the firmware leaves no tables (SMBIOS)")
                }
                _ => format!("`{TABLES}` cannot be read: {e}"),
            },
        ),
    }
}

/// Summarizes modules as `4 x 32 GiB DDR5 4800 MT/s + 2 empty`: grouped by equal description, in
/// alphabetical order.
fn summary(modules: &[Option<Module>]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for module in modules.iter().flatten() {
        *counts.entry(module.words()).or_default() += 1;
    }
    let mut parts: Vec<String> = counts.iter().map(|(words, n)| format!("{n} x {words}")).collect();
    let empty = modules.iter().filter(|m| m.is_none()).count();
    if empty > 0 {
        parts.push(format!("{empty} empty"));
    }
    parts.join(" + ")
}

/// One memory module as described by the firmware.
#[derive(Debug, PartialEq)]
struct Module {
    bytes: Option<u64>,
    kind: u8,
    /// Configured speed, or else rated speed, in MT/s; `None` if the table has neither.
    speed: Option<u16>,
}

impl Module {
    fn words(&self) -> String {
        let size = self.bytes.map_or_else(|| "unknown size".to_owned(), format_bytes);
        let speed = self.speed.map_or_else(String::new, |s| format!(" {s} MT/s"));
        format!("{size} {}{speed}", kind_name(self.kind))
    }
}

/// Returns the name of a memory type of the SMBIOS reference (DSP0134), table "Memory Device:
/// Type"; only types that are still in use.
fn kind_name(kind: u8) -> &'static str {
    match kind {
        0x14 => "DDR2",
        0x18 => "DDR3",
        0x1a => "DDR4",
        0x1e => "LPDDR4",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x07 => "RAM",
        _ => "memory of another type",
    }
}

/// Parses the memory sockets of the table (structures of type 17, DSP0134): a module, or `None` for
/// an empty socket. Of a truncated table, the complete structures are returned.
fn memory_modules(table: &[u8]) -> Vec<Option<Module>> {
    let mut modules = Vec::new();
    let mut rest = table;
    while let [kind, length, ..] = *rest {
        let length = usize::from(length);
        if length < 4 || rest.len() < length {
            break;
        }
        let (fields, after) = rest.split_at(length);
        if kind == MEMORY_DEVICE {
            modules.push(module(fields));
        }
        // A structure is followed by its texts, which end with two zero bytes.
        let Some(end) = after.windows(2).position(|w| w == [0, 0]) else { break };
        rest = &after[end + 2..];
    }
    modules
}

fn module(fields: &[u8]) -> Option<Module> {
    let word = |at: usize| Some(u16::from_le_bytes([*fields.get(at)?, *fields.get(at + 1)?]));
    let long = |at: usize| Some(u32::from(word(at)?) | u32::from(word(at + 2)?) << 16);
    let bytes = match word(0x0c) {
        Some(0) => return None,
        Some(0xffff) | None => None,
        Some(0x7fff) => long(0x1c).map(|mib| u64::from(mib & 0x7fff_ffff) << 20),
        Some(size) if size & 0x8000 != 0 => Some(u64::from(size & 0x7fff) << 10),
        Some(size) => Some(u64::from(size) << 20),
    };
    let known = |speed: Option<u16>| speed.filter(|s| *s != 0 && *s != 0xffff);
    Some(Module {
        bytes,
        kind: fields.get(0x12).copied().unwrap_or(2),
        speed: known(word(0x20)).or_else(|| known(word(0x15))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(size: u16, extended: u32, kind: u8, rated: u16, configured: u16) -> Vec<u8> {
        let mut s = vec![0u8; 0x28];
        s[0] = MEMORY_DEVICE;
        s[1] = 0x28;
        s[0x0c..0x0e].copy_from_slice(&size.to_le_bytes());
        s[0x12] = kind;
        s[0x15..0x17].copy_from_slice(&rated.to_le_bytes());
        s[0x1c..0x20].copy_from_slice(&extended.to_le_bytes());
        s[0x20..0x22].copy_from_slice(&configured.to_le_bytes());
        s.extend(b"DIMM A\0\0");
        s
    }

    #[test]
    fn modules_are_counted_by_kind() {
        let mut table = vec![0, 4, 0, 0, 0, 0]; // a structure of type 0 without texts
        table.extend(structure(0x4000, 0, 0x1a, 3200, 2933));
        table.extend(structure(0x4000, 0, 0x1a, 3200, 2933));
        table.extend(structure(0x7fff, 65536, 0x22, 4800, 0));
        table.extend(structure(0, 0, 0, 0, 0));
        let modules = memory_modules(&table);
        assert_eq!(modules.len(), 4);
        assert_eq!(
            summary(&modules),
            "2 x 16 GiB DDR4 2933 MT/s + 1 x 64 GiB DDR5 4800 MT/s + 1 empty"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(0u8.., 0..400)) {
            let _ = memory_modules(&bytes);
        }

        #[test]
        fn cut_tables_are_answered(cut in 0usize..0x30) {
            let table = structure(0x4000, 0, 0x1a, 3200, 2933);
            let _ = memory_modules(&table[..cut]);
        }
    }
}
