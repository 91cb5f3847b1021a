//! The formats in which a run can be written, one row each. `--export`, `publish` and the help use
//! this table. A new format is a module and a row.

use crate::formats::{benchstat, csv, dashboards, hyperfine, json, junit, markdown};
use crate::page;
use crate::view::RunView;

/// Reason why a run cannot be written in a format.
pub type FormatError = Box<dyn std::error::Error + Send + Sync>;

/// A format in which a run can be written.
pub struct ExportFormat {
    /// Names that a user can type; the first is the canonical one.
    pub names: &'static [&'static str],
    /// Content of the format, in a few words.
    pub what: &'static str,
    /// File name that `publish` uses; `None` if `publish` does not write the format.
    pub published: Option<&'static str>,
    /// Returns true if the run has content for the format.
    pub has: fn(&RunView) -> bool,
    /// Writes the run in the format.
    pub write: fn(&RunView) -> Result<String, FormatError>,
}

/// Creates a row for a format that every run can be written in.
const fn row(
    names: &'static [&'static str],
    what: &'static str,
    published: Option<&'static str>,
    write: fn(&RunView) -> Result<String, FormatError>,
) -> ExportFormat {
    ExportFormat { names, what, published, has: |_| true, write }
}

pub const FORMATS: [ExportFormat; 13] = [
    row(&["html"], "the page", Some("index.html"), |v| Ok(page::render(v))),
    row(&["md", "markdown"], "the page as Markdown", Some("index.md"), |v| Ok(markdown::write(v))),
    row(&["csv"], "every trial and metric as CSV", Some("trials.csv"), |v| Ok(csv::trials(v))),
    row(&["summaries"], "each treatment as CSV", Some("summaries.csv"), |v| Ok(csv::summaries(v))),
    ExportFormat {
        has: |v| !v.analysis.histograms.is_empty(),
        ..row(
            &["percentiles"],
            "percentiles of merged histograms as CSV",
            Some("percentiles.csv"),
            |v| Ok(csv::percentiles(v)),
        )
    },
    ExportFormat {
        has: |v| v.records.iter().any(|r| !r.curves.is_empty()),
        ..row(&["curves"], "every point of every curve as CSV", Some("curves.csv"), |v| {
            Ok(csv::curves(v))
        })
    },
    row(&["json"], "everything", Some("result.json"), |v| Ok(json::write(v)?)),
    row(&["hyperfine"], "the JSON export of hyperfine", None, |v| Ok(hyperfine::write(v)?)),
    row(&["benchstat"], "Go's benchmark format", None, |v| Ok(benchstat::write(v))),
    row(&["bmf"], "Bencher Metric Format", None, |v| Ok(dashboards::bmf(v)?)),
    row(&["benchmark-list"], "values for github-action-benchmark", None, |v| {
        Ok(dashboards::list(v)?)
    }),
    row(&["openmetrics"], "gauges for Prometheus", None, |v| Ok(dashboards::openmetrics(v))),
    row(&["junit"], "test cases for a CI server", None, |v| Ok(junit::write(v)?)),
];

/// Returns the format with this name.
pub fn format(name: &str) -> Option<&'static ExportFormat> {
    const ALL: &[ExportFormat] = &FORMATS;
    ALL.iter().find(|f| f.names.contains(&name))
}

/// Returns the names with their content: `html (the page), md (the page as Markdown), ...`.
pub fn listed() -> String {
    FORMATS.iter().map(|f| format!("{} ({})", f.names[0], f.what)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn every_format_has_one_row_and_writes_a_run() {
        let view = fixtures::commands();
        let mut names: Vec<&str> = FORMATS.iter().flat_map(|f| f.names).copied().collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        for f in &FORMATS {
            assert!(format(f.names[0]).is_some_and(|found| found.what == f.what));
            assert!(!(f.write)(&view).unwrap().is_empty(), "{}", f.names[0]);
        }
        assert!(format("pdf").is_none());
    }
}
