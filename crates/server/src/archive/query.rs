//! Search of the archive for runs, as query parameters.

use assay_archive::{Search, SortOrder};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::error::Refusal;

/// Default number of runs on a page.
pub(crate) const PAGE: usize = 50;
const MAX_PAGE: usize = 500;
const LAST_PAGE: u32 = 1_000_000;
/// Search of the archive for runs.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Asked {
    /// Part of the id, experiment, workload, host, note or a tag
    pub text: String,
    /// Name of the workload
    pub workload: String,
    /// Name of the deciding metric
    pub metric: String,
    /// One of the run's tags
    pub tag: String,
    /// Factor of the run, as `name` or `name=level`
    pub factor: String,
    /// State of the run
    pub state: String,
    /// First day to include, UTC
    #[schemars(schema_with = "day")]
    pub since: String,
    /// Last day to include, UTC
    #[schemars(schema_with = "day")]
    pub until: String,
    /// Order of the runs
    #[schemars(extend("enum" = SORTS.iter().map(|(name, ..)| *name).chain([""]).collect::<Vec<_>>()))]
    pub sort: String,
    /// Number of the page, from 1
    #[schemars(range(min = 1, max = 1_000_000))]
    pub page: Option<u32>,
    /// Number of runs on a page
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// Returns the schema of an optional day: empty, or a date.
fn day(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "const": "" }, { "type": "string", "format": "date" }] })
}

/// Orders of runs: name in an address, sort of the archive, label on the page.
pub(crate) const SORTS: [(&str, SortOrder, &str); 6] = [
    ("newest", SortOrder::Newest, "newest first"),
    ("oldest", SortOrder::Oldest, "oldest first"),
    ("experiment", SortOrder::Experiment, "by experiment"),
    ("workload", SortOrder::Workload, "by workload"),
    ("max", SortOrder::Greatest, "highest value first"),
    ("min", SortOrder::Least, "lowest value first"),
];

impl Asked {
    pub fn page(&self) -> usize {
        self.page.unwrap_or(1).max(1) as usize
    }

    pub fn limit(&self) -> usize {
        self.limit.map_or(PAGE, |n| n as usize).clamp(1, MAX_PAGE)
    }

    pub fn search(&self) -> Result<Search, Refusal> {
        let sort = match self.sort.as_str() {
            "" => SortOrder::Newest,
            // Names that earlier versions used.
            "greatest" => SortOrder::Greatest,
            "least" => SortOrder::Least,
            name => SORTS.iter().find(|(n, ..)| *n == name).map(|(_, sort, _)| *sort).ok_or_else(
                || {
                    let known: Vec<&str> = SORTS.iter().map(|(n, ..)| *n).collect();
                    Refusal::bad(format!("sort: `{name}` is none of {}", known.join(", ")))
                },
            )?,
        };
        for (name, day) in [("since", &self.since), ("until", &self.until)] {
            let known =
                day.is_empty() || (day.len() == 10 && day.parse::<jiff::civil::Date>().is_ok());
            if !known {
                let message = format!("{name}: `{day}` is not a day such as 2026-11-21");
                return Err(Refusal::bad(message));
            }
        }
        let inside = |n: Option<u32>, most: u32| n.is_none_or(|n| (1..=most).contains(&n));
        if !inside(self.page, LAST_PAGE) || !inside(self.limit, MAX_PAGE as u32) {
            let message = format!("page is 1 to {LAST_PAGE}, limit is 1 to {MAX_PAGE}");
            return Err(Refusal::bad(message));
        }
        let trimmed = |text: &str| text.trim().to_owned();
        Ok(Search {
            text: trimmed(&self.text),
            workload: trimmed(&self.workload),
            metric: trimmed(&self.metric),
            tag: trimmed(&self.tag),
            factor: trimmed(&self.factor),
            state: trimmed(&self.state),
            since: self.since.clone(),
            until: self.until.clone(),
            sort,
            offset: (self.page() - 1) * self.limit(),
            limit: self.limit(),
        })
    }
}
