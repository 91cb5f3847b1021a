//! Searches of the archive for runs: as query parameters, and saved by name in one file of the
//! state folder.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use assay_archive::{Search, SortOrder};
use assay_model::SCHEMA_VERSION;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::error::{Refusal, Result, ServeError};
use crate::locked;
use crate::queue::store::{read_json, write_json};

/// Default number of runs on a page.
const PAGE: usize = 50;
const MAX_PAGE: usize = 500;
const LAST_PAGE: u32 = 1_000_000;
/// Maximum number of saved searches.
const MAX_SEARCHES: usize = 100;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 80;

/// Search of the archive for runs.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RunQuery {
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
    #[schemars(extend("enum" = SORTS.iter().map(|(name, ..)| *name)
        .chain([""]).collect::<Vec<_>>()))]
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

impl RunQuery {
    pub fn page(&self) -> usize {
        self.page.unwrap_or(1).max(1) as usize
    }

    pub fn limit(&self) -> usize {
        self.limit.map_or(PAGE, |n| n as usize).clamp(1, MAX_PAGE)
    }

    pub fn search(&self) -> Result<Search> {
        let sort = match self.sort.as_str() {
            "" => SortOrder::Newest,
            // Names that earlier versions used.
            "greatest" => SortOrder::Greatest,
            "least" => SortOrder::Least,
            name => SORTS.iter().find(|(n, ..)| *n == name).map(|(_, sort, _)| *sort).ok_or_else(
                || {
                    let known: Vec<&str> = SORTS.iter().map(|(n, ..)| *n).collect();
                    Refusal::bad(format!("sort: `{name}` is not one of {}", known.join(", ")))
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
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Ok(Search {
            text: given(&self.text),
            workload: given(&self.workload),
            experiment: None,
            metric: given(&self.metric),
            tag: given(&self.tag),
            factor: given(&self.factor),
            state: given(&self.state),
            since: given(&self.since),
            until: given(&self.until),
            sort,
            offset: (self.page() - 1) * self.limit(),
            limit: Some(self.limit()),
        })
    }
}

/// Saved search of the archive.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedSearch {
    /// Name of the saved search.
    #[schemars(length(min = 1, max = 80))]
    pub name: String,
    /// Search to repeat, as query parameters.
    pub search: RunQuery,
}

#[derive(Serialize, Deserialize)]
struct SearchesFile {
    schema_version: u32,
    searches: Vec<SavedSearch>,
}

/// Saved searches, sorted by name.
pub(crate) struct Searches {
    path: PathBuf,
    held: Mutex<Vec<SavedSearch>>,
}

impl Searches {
    /// Reads the saved searches of the state folder.
    ///
    /// # Errors
    /// The file cannot be read or has unexpected content.
    pub fn open(state_dir: &Path) -> Result<Self, ServeError> {
        let path = state_dir.join("serve.searches");
        let held = read_json::<SearchesFile>(&path)?.map(|kept| kept.searches).unwrap_or_default();
        Ok(Searches { path, held: Mutex::new(held) })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SavedSearch>> {
        locked(&self.held)
    }

    /// Returns all saved searches, sorted by name.
    pub fn list(&self) -> Vec<SavedSearch> {
        self.lock().clone()
    }

    /// Saves a search. Replaces one with the same name.
    pub fn save(&self, mut new: SavedSearch) -> Result<SavedSearch> {
        new.name = new.name.trim().to_owned();
        (new.search.page, new.search.limit) = (None, None);
        if new.name.is_empty() || new.name.len() > MAX_NAME || new.name.contains(char::is_control) {
            let message = format!("name: 1 to {MAX_NAME} bytes without control characters");
            return Err(Refusal::bad(message));
        }
        new.search.search()?;
        self.change(|all| {
            all.retain(|s| s.name != new.name);
            if all.len() >= MAX_SEARCHES {
                let message =
                    format!("{MAX_SEARCHES} searches are saved already; remove some first");
                return Err(Refusal::conflict(message));
            }
            all.push(new.clone());
            all.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(())
        })?;
        Ok(new)
    }

    /// Removes a saved search.
    pub fn forget(&self, name: &str) -> Result<()> {
        self.change(|all| {
            let before = all.len();
            all.retain(|s| s.name != name);
            if all.len() == before {
                return Err(Refusal::not_found(format!("no search is saved as `{name}`")));
            }
            Ok(())
        })
    }

    /// Changes the searches on disk, then in memory.
    fn change(&self, change: impl FnOnce(&mut Vec<SavedSearch>) -> Result<()>) -> Result<()> {
        let mut held = self.lock();
        let mut searches = held.clone();
        change(&mut searches)?;
        let kept = SearchesFile { schema_version: SCHEMA_VERSION, searches };
        write_json(&self.path, &kept)?;
        *held = kept.searches;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_by_name_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let searches = Searches::open(dir.path()).unwrap();
        let one = |name: &str, tag: &str| SavedSearch {
            name: name.into(),
            search: RunQuery { tag: tag.into(), page: Some(3), ..RunQuery::default() },
        };
        for (name, tag) in [("b", "x"), ("a", "y"), ("b", "z")] {
            searches.save(one(name, tag)).unwrap();
        }
        let again = Searches::open(dir.path()).unwrap();
        let list = again.list();
        let of: Vec<_> = list.iter().map(|s| (s.name.as_str(), s.search.tag.as_str())).collect();
        assert_eq!(of, [("a", "y"), ("b", "z")]);
        assert_eq!(list[0].search.page, None);
        assert!(again.save(one("", "x")).is_err() && again.save(one("a\n", "x")).is_ok());
        again.forget("a").unwrap();
        assert!(again.forget("a").is_err());
        std::fs::write(dir.path().join("serve.searches"), "[").unwrap();
        assert!(Searches::open(dir.path()).is_err());
    }
}
