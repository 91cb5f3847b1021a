//! Output of an instance of the kit: one JSON object per line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::builtin::orders::response::InstanceResponses;

/// A line that an instance printed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstanceLine {
    /// The instance has started.
    Hello(Box<Hello>),
    /// This number of warehouses is prepared and waits.
    Prepared(u32),
    /// A point is complete.
    Point(Box<InstanceResult>),
}

/// Description of an instance.
#[derive(Debug, Clone, Deserialize)]
pub struct Hello {
    /// Number of processors that the virtual machine reports.
    pub processors: u32,
    /// The instance's clock at this line, ns.
    pub now_ns: u64,
    #[serde(rename = "java.version")]
    pub java: String,
    #[serde(rename = "java.vm.name")]
    pub vm: String,
    #[serde(rename = "java.vm.vendor")]
    pub vendor: String,
    #[serde(rename = "java.vm.version")]
    pub vm_version: String,
    /// Garbage collectors of the virtual machine.
    pub collectors: String,
    /// Reason why the instance does not conform; `None` if it does.
    pub wrong: Option<String>,
}

/// Results of an instance in a point.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct InstanceResult {
    /// Number of warehouses of the instance.
    #[serde(skip_serializing)]
    pub warehouses: u32,
    /// Time at which the last of the threads began, ns.
    pub began_ns: u64,
    /// Time at which the first of the threads stopped, ns.
    pub ended_ns: u64,
    /// Transactions in the measurement by kind.
    pub kinds: BTreeMap<String, TransactionCount>,
    /// Transactions in the measurement by thread.
    pub threads: Vec<u64>,
    /// Transactions by second, ramps included.
    pub bins: Vec<u64>,
    /// Number of garbage collections in the point.
    pub collections: u64,
    /// Time of the collections as reported by the collectors, in milliseconds.
    pub collection_ms: u64,
    /// Used heap at the end in bytes, garbage included.
    pub heap_used: u64,
    /// Heap in bytes that the system has committed.
    pub heap_committed: u64,
    /// Requests and their response times; `None` in a point without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<InstanceResponses>,
    /// Hash of all screens.
    pub screens: String,
    /// Description of inconsistent books; `None` if they are consistent.
    #[serde(skip_serializing)]
    pub wrong: Option<String>,
}

/// Count and response times of transactions of a kind.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct TransactionCount {
    #[serde(rename = "count")]
    pub number: u64,
    /// Sum of the response times, ns.
    pub total_ns: u64,
    /// Longest response time, ns.
    pub max_ns: u64,
}

impl InstanceResult {
    /// Returns the number of transactions in the measurement.
    pub fn count(&self) -> u64 {
        self.kinds.values().map(|k| k.number).sum()
    }

    /// Returns the longest transaction of any kind in seconds.
    pub fn longest_s(&self) -> f64 {
        self.kinds.values().map(|k| k.max_ns).max().unwrap_or(0) as f64 * 1e-9
    }

    /// Returns the spread across threads: `(max - min) / max`.
    pub fn spread(&self) -> Option<f64> {
        let (minimum, most) = (self.threads.iter().min()?, self.threads.iter().max()?);
        (*most > 0).then(|| (most - minimum) as f64 / *most as f64)
    }
}

/// A line that starts like one of the kit's and cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("it printed an unexpected line ({source}): {line}")]
pub struct UnexpectedLine {
    /// Beginning of the line.
    line: String,
    source: serde_json::Error,
}

/// Parses a line; `None` if the kit did not print it (a warning of the virtual machine).
///
/// # Errors
/// Fails if the line starts like one of the kit's and cannot be parsed.
pub fn read(line: &str) -> Result<Option<InstanceLine>, UnexpectedLine> {
    if !line.starts_with('{') {
        return Ok(None);
    }
    serde_json::from_str(line)
        .map(Some)
        .map_err(|source| UnexpectedLine { line: line.chars().take(80).collect(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kit_and_of_others() {
        assert!(matches!(read("{\"prepared\":3}"), Ok(Some(InstanceLine::Prepared(3)))));
        assert!(matches!(read("OpenJDK 64-Bit Server VM warning: no"), Ok(None)));
        assert!(read("{\"other\":1}").unwrap_err().to_string().contains("other"));
        let point = r#"{"point":{"warehouses":2,"collections":1,"collection_ms":4,
            "heap_used":9,"heap_committed":9,
            "began_ns":1,"ended_ns":9,"kinds":{"payment":{"count":6,"total_ns":12,"max_ns":4}},
                "threads":[4,2],
            "bins":[6],"screens":"ab"}}"#;
        let Ok(Some(InstanceLine::Point(p))) = read(point) else { panic!() };
        assert_eq!((p.count(), p.longest_s(), p.spread()), (6, 4e-9, Some(0.5)));
        assert_eq!(InstanceResult::default().spread(), None);
    }
}
