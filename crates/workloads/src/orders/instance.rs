//! What an instance of the kit says, a JSON object a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A line of an instance.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// It is there.
    Hello(Box<Hello>),
    /// So many warehouses are ready and wait.
    Prepared(u32),
    /// A point is over.
    Point(Box<Point>),
}

/// What an instance is.
#[derive(Debug, Clone, Deserialize)]
pub struct Hello {
    /// Processors that the virtual machine reports.
    pub processors: u32,
    /// Its clock at that line, ns.
    pub now_ns: u64,
    /// The version of Java.
    #[serde(rename = "java.version")]
    pub java: String,
    /// The name of the virtual machine.
    #[serde(rename = "java.vm.name")]
    pub vm: String,
    /// Who made it.
    #[serde(rename = "java.vm.vendor")]
    pub vendor: String,
    /// Its version.
    #[serde(rename = "java.vm.version")]
    pub vm_version: String,
    /// Its collectors.
    pub collectors: String,
    /// Why it does not conform.
    pub wrong: Option<String>,
}

/// What an instance did in a point.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Point {
    /// Its warehouses.
    #[serde(skip_serializing)]
    pub warehouses: u32,
    /// When the last of its threads began, ns.
    pub began_ns: u64,
    /// When the first of its threads stopped, ns.
    pub ended_ns: u64,
    /// The transactions of the measurement by kind.
    pub kinds: BTreeMap<String, Count>,
    /// Those of each thread.
    pub threads: Vec<u64>,
    /// All of them by the second, ramps included.
    pub bins: Vec<u64>,
    /// Collections in the point.
    pub collections: u64,
    /// Milliseconds that the collectors say they took.
    pub collection_ms: u64,
    /// The heap in use at the end, garbage included.
    pub heap_used: u64,
    /// The heap that the system has given.
    pub heap_committed: u64,
    /// A hash of all screens.
    pub screens: String,
    /// What did not add up.
    #[serde(skip_serializing)]
    pub wrong: Option<String>,
}

/// Transactions of a kind.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Count {
    /// How many.
    #[serde(rename = "count")]
    pub number: u64,
    /// What they took together, ns.
    pub total_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
}

impl Point {
    /// All transactions of the measurement.
    pub fn count(&self) -> u64 {
        self.kinds.values().map(|k| k.number).sum()
    }

    /// The longest of any kind, seconds.
    pub fn longest_s(&self) -> f64 {
        self.kinds.values().map(|k| k.max_ns).max().unwrap_or(0) as f64 * 1e-9
    }

    /// The most of a thread less the smallest, over the most.
    pub fn spread(&self) -> Option<f64> {
        let (minimum, most) = (self.threads.iter().min()?, self.threads.iter().max()?);
        (*most > 0).then(|| (most - minimum) as f64 / *most as f64)
    }
}

/// Reads a line; `None` when it is none of the kit's (a warning of the virtual machine).
///
/// # Errors
/// It begins like one of the kit's and cannot be read.
pub fn read(line: &str) -> Result<Option<Line>, String> {
    if !line.starts_with('{') {
        return Ok(None);
    }
    serde_json::from_str(line).map(Some).map_err(|e| {
        format!(
            "it printed what the kit does not print ({e}): {}",
            line.chars().take(80).collect::<String>()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kit_and_of_others() {
        assert!(matches!(read("{\"prepared\":3}"), Ok(Some(Line::Prepared(3)))));
        assert!(matches!(read("OpenJDK 64-Bit Server VM warning: no"), Ok(None)));
        assert!(read("{\"other\":1}").unwrap_err().contains("other"));
        let point = r#"{"point":{"warehouses":2,"collections":1,"collection_ms":4,"heap_used":9,"heap_committed":9,
            "began_ns":1,"ended_ns":9,"kinds":{"payment":{"count":6,"total_ns":12,"max_ns":4}},"threads":[4,2],
            "bins":[6],"screens":"ab"}}"#;
        let Ok(Some(Line::Point(p))) = read(point) else { panic!() };
        assert_eq!((p.count(), p.longest_s(), p.spread()), (6, 4e-9, Some(0.5)));
        assert_eq!(Point::default().spread(), None);
    }
}
