//! Exports everything about a run as one JSON document, for programs. Nothing is withheld here: the
//! document has the findings next to the numbers.

use assay_model::SCHEMA_VERSION;
use serde::Serialize;

use crate::view::RunView;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    #[serde(flatten)]
    view: &'a RunView,
}

/// Writes the document, indented. Values that are not finite become `null`.
///
/// # Errors
/// Fails if a map of the view has a key that JSON does not allow, which none of the current types
/// has.
pub fn write(view: &RunView) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&Document { schema_version: SCHEMA_VERSION, view })
}

#[cfg(test)]
mod tests {
    use assay_model::{Analysis, TrialRecord};

    use super::*;
    use crate::fixtures;

    #[test]
    fn reads_back_as_the_types_it_was_made_from() {
        let view = fixtures::missing();
        let value: serde_json::Value = serde_json::from_str(&write(&view).unwrap()).unwrap();
        assert_eq!(value["schema_version"], SCHEMA_VERSION);
        let analysis: Analysis = serde_json::from_value(value["analysis"].clone()).unwrap();
        // The JSON reader may be off by the last bit of a value, so values are not compared
        // exactly.
        for (read, written) in analysis.summaries.iter().zip(&view.analysis.summaries) {
            for (a, b) in read.values.iter().zip(&written.values) {
                assert_eq!(a.is_some(), b.is_some());
                assert!((a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-12);
            }
        }
        let records: Vec<TrialRecord> = serde_json::from_value(value["records"].clone()).unwrap();
        assert_eq!(records.len(), view.records.len());
        let head = view.ledger_head.unwrap();
        assert_eq!(value["ledger_head"]["sha256"], head.sha256);
        assert_eq!(value["ledger_head"]["seq"], view.ledger.last().unwrap().seq);
        assert_eq!(value["records"][0]["metrics"][3]["value"], serde_json::Value::Null);
    }
}
