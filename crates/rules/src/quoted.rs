//! Results quoted from elsewhere: one row a printed value, with its system, source and date. The
//! columns are those of the CSV files in `published/`, which are built into the program
//! ([`embedded`]); [`read`] takes any other such file.

mod embedded;
mod error;
mod read;
mod source;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use embedded::{DEFINITIONS, FILES, SOURCES};
pub use error::QuotedError;
pub use read::{columns, is_date, read, read_unranked};
pub use source::{Source, read_sources};

/// One value that somebody printed. Its kind is *quoted*: it is never mixed with measured numbers
/// without a mark. A column that the source did not print is `None`, never 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuotedResult {
    /// Unique in its collection.
    pub id: String,
    /// The document that printed it: a key of `sources.csv`.
    pub source: String,
    /// The benchmark (`SPECjbb2005`).
    pub benchmark: String,
    /// The metric (`SPECjbb2005 bops`).
    pub metric: String,
    /// The metric's unit (`bops`).
    pub unit: String,
    /// Which way is better; `None` if the source does not say (a raw observation).
    pub higher_is_better: Option<bool>,
    /// The system as printed.
    pub system: String,
    /// Its vendor.
    pub vendor: Option<String>,
    /// Processor chips.
    pub chips: Option<f64>,
    /// Cores of the system (of the run, where the source counts those).
    pub cores: Option<f64>,
    /// Hardware threads.
    pub threads: Option<f64>,
    /// Instances of the program (JVMs), only where a count was printed.
    pub instances: Option<f64>,
    /// Clock in GHz.
    pub ghz: Option<f64>,
    /// Processor type.
    pub processor: Option<String>,
    /// Memory in GB as printed.
    pub memory_gb: Option<f64>,
    /// Rack units.
    pub rack_units: Option<f64>,
    /// Watts, only where a figure was printed.
    pub watts: Option<f64>,
    /// Price, only where a figure was printed, in `currency`.
    pub price: Option<f64>,
    /// The price's currency (`USD`).
    pub currency: Option<String>,
    /// Operating system.
    pub os: Option<String>,
    /// Compiler or JVM.
    pub compiler_or_jvm: Option<String>,
    /// What else the source states about the configuration.
    pub config_note: Option<String>,
    /// The value, in `unit`.
    pub value: f64,
    /// The value per JVM as printed.
    pub value_per_jvm: Option<f64>,
    /// The date the value was true of (`2009-08-25`), as printed or given by the source.
    pub as_of_date: Option<String>,
    /// Which result this is a printing of: rows that share it are one result of one system, and the
    /// newest printing counts. `None`: the configuration tells results apart.
    pub result: Option<String>,
    /// How many decimals `value` was written with, so that 45.0 is shown as 45.0.
    pub value_decimals: u8,
    /// How many decimals `ghz` was written with.
    pub ghz_decimals: u8,
    /// Columns beyond these, by name.
    pub more: BTreeMap<String, String>,
}

impl QuotedResult {
    /// What stands in a column, as it was written; `None` where it is empty or there is no such
    /// column.
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

    /// The value with the decimals that it was written with: `45.0`.
    pub fn value_text(&self) -> String {
        format!("{:.*}", usize::from(self.value_decimals), self.value)
    }

    /// How many instances (JVMs) ran: the printed count, else the one whole number that takes the
    /// value to the value per JVM as printed (422782 / 26424 is 16 to within rounding); `None` where
    /// neither is there or no whole number does.
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
