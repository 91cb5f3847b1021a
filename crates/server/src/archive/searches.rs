//! Saved searches of the archive, by name, in one file of the state folder.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use assay_model::SCHEMA_VERSION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::archive::query::Asked;
use crate::error::{Refusal, ServeError};
use crate::locked;
use crate::queue::store::{read_json, write_json};

/// Maximum number of saved searches.
const MAX_SEARCHES: usize = 100;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 80;

/// Saved search of the archive.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedSearch {
    /// Name of the saved search.
    #[schemars(length(min = 1, max = 80))]
    pub name: String,
    /// Search to repeat, as query parameters.
    pub search: Asked,
}

#[derive(Serialize, Deserialize)]
struct Kept {
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
        let held = read_json::<Kept>(&path)?.map(|kept| kept.searches).unwrap_or_default();
        Ok(Searches { path, held: Mutex::new(held) })
    }

    fn held(&self) -> MutexGuard<'_, Vec<SavedSearch>> {
        locked(&self.held)
    }

    /// Returns all saved searches, sorted by name.
    pub fn list(&self) -> Vec<SavedSearch> {
        self.held().clone()
    }

    /// Saves a search. Replaces one with the same name.
    pub fn save(&self, mut new: SavedSearch) -> Result<SavedSearch, Refusal> {
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
    pub fn forget(&self, name: &str) -> Result<(), Refusal> {
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
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<SavedSearch>) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut held = self.held();
        let mut searches = held.clone();
        change(&mut searches)?;
        let kept = Kept { schema_version: SCHEMA_VERSION, searches };
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
            search: Asked { tag: tag.into(), page: Some(3), ..Asked::default() },
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
