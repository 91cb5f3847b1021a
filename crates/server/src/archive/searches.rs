//! Searches of the archive that were saved under a name, in one file of the state folder.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use assay_model::SCHEMA_VERSION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::archive::query::Asked;
use crate::error::{Refusal, ServeError};
use crate::locked;
use crate::queue::store::{read_json, write_json};

/// How many are kept.
const MAX_SEARCHES: usize = 100;
/// The longest name, bytes.
const MAX_NAME: usize = 80;

/// A search that was saved.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedSearch {
    /// What it is called.
    #[schemars(length(min = 1, max = 80))]
    pub name: String,
    /// What is looked for.
    pub search: Asked,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    schema_version: u32,
    searches: Vec<SavedSearch>,
}

/// The saved searches, by name.
pub(crate) struct Searches {
    path: PathBuf,
    held: Mutex<Vec<SavedSearch>>,
}

impl Searches {
    /// Those of the state folder.
    ///
    /// # Errors
    /// The file cannot be read or holds something else.
    pub fn open(state_dir: &Path) -> Result<Self, ServeError> {
        let path = state_dir.join("serve.searches");
        let held = read_json::<Kept>(&path)?.map(|kept| kept.searches).unwrap_or_default();
        Ok(Searches { path, held: Mutex::new(held) })
    }

    fn held(&self) -> MutexGuard<'_, Vec<SavedSearch>> {
        locked(&self.held)
    }

    /// All of them, by name.
    pub fn list(&self) -> Vec<SavedSearch> {
        self.held().clone()
    }

    /// Saves one; another of that name is replaced.
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

    /// Forgets one.
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

    /// On disk first, then here.
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
