//! Which processor this is, from `/proc/cpuinfo`.

use std::fmt;
use std::path::Path;

/// A processor's identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// `GenuineIntel`, `AuthenticAMD`, `ARM`.
    pub vendor: String,
    /// The family; on Arm the implementer.
    pub family: u32,
    /// The model; on Arm the part.
    pub model: u32,
}

impl Cpu {
    /// The processor of the system under `root`; `None` when its file does not tell.
    pub fn read(root: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(root.join("proc/cpuinfo")).ok()?)
    }

    /// From the text of `/proc/cpuinfo`.
    pub fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == name).then(|| value.trim())
            })
        };
        if let Some(vendor) = field("vendor_id") {
            let family = field("cpu family")?.parse().ok()?;
            return Some(Cpu {
                vendor: vendor.to_owned(),
                family,
                model: field("model")?.parse().ok()?,
            });
        }
        let hex = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let family = hex(field("CPU implementer")?)?;
        Some(Cpu { vendor: "ARM".to_owned(), family, model: hex(field("CPU part")?)? })
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} family {:#x} model {:#x}", self.vendor, self.family, self.model)
    }
}
