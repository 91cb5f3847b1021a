//! Results quoted from other publications: one row for each printed value, with its system, source
//! and date. The columns are those of the CSV files in `published/`, which are built into the
//! program ([`embedded`]); [`read`] reads any other file of this format.

mod embedded;
mod error;
mod read;
mod source;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use embedded::{DEFINITIONS, FILES, SOURCES};
pub use error::QuotedError;
pub use read::{columns, is_date, read, read_unranked};
pub use source::{QuotedSource, read_sources};

/// A value that somebody else published. Its kind is *quoted*: it must not be mixed with measured
/// numbers without a label. A column that the source did not print is `None`, never 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuotedResult {
    /// Id of the row, unique in its collection.
    pub id: String,
    /// Document that printed the value: a key of `sources.csv`.
    pub source: String,
    /// Name of the benchmark (`SPECjbb2005`).
    pub benchmark: String,
    /// Name of the metric (`SPECjbb2005 bops`).
    pub metric: String,
    /// Unit of the metric (`bops`).
    pub unit: String,
    /// True if higher values are better; `None` if the source does not say (a raw observation).
    pub higher_is_better: Option<bool>,
    /// Name of the system, as printed.
    pub system: String,
    pub vendor: Option<String>,
    pub chips: Option<f64>,
    /// Number of cores of the system (or of the run, if the source counts those).
    pub cores: Option<f64>,
    pub threads: Option<f64>,
    /// Number of instances of the program (JVMs), if a count was printed.
    pub instances: Option<f64>,
    /// Clock rate in GHz.
    pub ghz: Option<f64>,
    pub processor: Option<String>,
    /// Memory in GB, as printed.
    pub memory_gb: Option<f64>,
    /// Height in rack units.
    pub rack_units: Option<f64>,
    /// Power in watts, if a figure was printed.
    pub watts: Option<f64>,
    /// Price in `currency`, if a figure was printed.
    pub price: Option<f64>,
    /// Currency of the price (`USD`).
    pub currency: Option<String>,
    pub os: Option<String>,
    pub compiler_or_jvm: Option<String>,
    /// Further statements of the source about the configuration.
    pub config_note: Option<String>,
    pub value: f64,
    /// Value per JVM, as printed.
    pub value_per_jvm: Option<f64>,
    /// Date on which the value was true (`2009-08-25`), as printed or given by the source.
    pub as_of_date: Option<String>,
    /// Id of the result that this row is a printing of: rows with the same id are one result of one
    /// system, and the newest printing counts. `None` if results are distinguished by their
    /// configuration.
    pub result: Option<String>,
    /// Number of decimals of the printed `value`, so that 45.0 is shown as 45.0.
    pub value_decimals: u8,
    /// Number of decimals of the printed `ghz`.
    pub ghz_decimals: u8,
    /// Further columns, by name.
    pub more: BTreeMap<String, String>,
}

impl QuotedResult {
    /// Returns the text of a column as it was written; `None` if it is empty or does not exist.
    pub fn field(&self, column: &str) -> Option<Cow<'_, str>> {
        let number = |n: Option<f64>| n.map(|n| Cow::Owned(n.to_string()));
        match column {
            "id" => words(&self.id),
            "source" => words(&self.source),
            "benchmark" => words(&self.benchmark),
            "metric" => words(&self.metric),
            "unit" => words(&self.unit),
            "higher_is_better" => self.higher_is_better.map(|b| Cow::Owned(b.to_string())),
            "system" => words(&self.system),
            "vendor" => borrowed(self.vendor.as_ref()),
            "chips" => number(self.chips),
            "cores" => number(self.cores),
            "threads" => number(self.threads),
            "instances" => number(self.instances),
            "ghz" => {
                let decimals = usize::from(self.ghz_decimals);
                self.ghz.map(|n| Cow::Owned(format!("{n:.decimals$}")))
            }
            "processor" => borrowed(self.processor.as_ref()),
            "memory_gb" => number(self.memory_gb),
            "rack_units" => number(self.rack_units),
            "watts" => number(self.watts),
            "price" => number(self.price),
            "currency" => borrowed(self.currency.as_ref()),
            "os" => borrowed(self.os.as_ref()),
            "compiler_or_jvm" => borrowed(self.compiler_or_jvm.as_ref()),
            "config_note" => borrowed(self.config_note.as_ref()),
            "value" => Some(Cow::Owned(self.value_text())),
            "value_per_jvm" => number(self.value_per_jvm),
            "as_of_date" => borrowed(self.as_of_date.as_ref()),
            "result" => borrowed(self.result.as_ref()),
            other => borrowed(self.more.get(other)),
        }
    }

    /// Formats the value with its original decimals: `45.0`.
    pub fn value_text(&self) -> String {
        format!("{:.*}", usize::from(self.value_decimals), self.value)
    }

    /// Returns the number of instances (JVMs): the printed count, or else the integer by which the
    /// value must be divided to get the value per JVM as printed (422782 / 26424 is 16 within
    /// rounding). `None` if neither is printed or no integer fits.
    pub fn instances_or_inferred(&self) -> Option<f64> {
        if self.instances.is_some() {
            return self.instances;
        }
        let each = self.value_per_jvm?;
        let count = (self.value / each).round();
        (count >= 1.0 && (self.value / count - each).abs() <= 0.5).then_some(count)
    }
}

fn words(text: &str) -> Option<Cow<'_, str>> {
    (!text.is_empty()).then_some(Cow::Borrowed(text))
}

fn borrowed(text: Option<&String>) -> Option<Cow<'_, str>> {
    text.map(|t| Cow::Borrowed(t.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_inferred_only_where_a_whole_number_fits() {
        let of = |value, each| {
            QuotedResult { value, value_per_jvm: Some(each), ..QuotedResult::default() }
                .instances_or_inferred()
        };
        assert_eq!(of(422_782.0, 26_424.0), Some(16.0));
        assert_eq!(of(223_691.0, 111_846.0), Some(2.0));
        assert_eq!(of(100.0, 40.0), None, "2.5 is no count");
        assert_eq!(QuotedResult::default().instances_or_inferred(), None);
    }
}
