//! Identifies the processor from `/proc/cpuinfo`.

use std::fmt;
use std::path::Path;

/// Identity of a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuIdentity {
    /// Vendor: `GenuineIntel`, `AuthenticAMD` or `ARM`.
    pub vendor: String,
    /// Family; on Arm, the implementer.
    pub family: u32,
    /// Model; on Arm, the part.
    pub model: u32,
}

impl CpuIdentity {
    /// Returns the processor of the system under `root`, or `None` if its `/proc/cpuinfo` does not
    /// identify it.
    pub fn read(root: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(root.join("proc/cpuinfo")).ok()?)
    }

    /// Parses the text of `/proc/cpuinfo`.
    pub fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == name).then(|| value.trim())
            })
        };
        if let Some(vendor) = field("vendor_id") {
            let family = field("cpu family")?.parse().ok()?;
            return Some(CpuIdentity {
                vendor: vendor.to_owned(),
                family,
                model: field("model")?.parse().ok()?,
            });
        }
        let hex = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let family = hex(field("CPU implementer")?)?;
        Some(CpuIdentity { vendor: "ARM".to_owned(), family, model: hex(field("CPU part")?)? })
    }
}

impl fmt::Display for CpuIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} family {:#x} model {:#x}", self.vendor, self.family, self.model)
    }
}
