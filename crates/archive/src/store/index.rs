//! The index: a SQLite file that lists runs without opening them. It is only a cache; if anything
//! goes wrong with it, callers read the runs' files.
//!
//! It uses SQLite's rollback journal instead of the write-ahead log, which network file systems
//! cannot share. Only listing touches the index, never a run that is being written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_model::{RunId, RunState, RunSummary};
use rusqlite::{Connection, Row, TransactionBehavior, params};

use crate::{Error, Result};

/// Version of the tables below; an index with another version is rebuilt.
const VERSION: i32 = 4;

const TABLES: &str = "
CREATE TABLE runs (
    id TEXT PRIMARY KEY, experiment TEXT NOT NULL, workload TEXT NOT NULL, tags TEXT NOT NULL,
    host TEXT NOT NULL, started_at TEXT NOT NULL, state TEXT NOT NULL, treatments INTEGER NOT NULL,
    completed INTEGER NOT NULL, failed INTEGER NOT NULL, planned INTEGER NOT NULL,
    metric TEXT NOT NULL, unit TEXT NOT NULL, value REAL, factors TEXT NOT NULL,
    added_tags TEXT NOT NULL, note TEXT NOT NULL
);
CREATE INDEX runs_by_time ON runs (started_at, id);
-- What is known of every folder in runs/: the look of its files when it was last read, whether they
-- will change no more, and why it could not be read.
CREATE TABLE folders (
    id TEXT PRIMARY KEY, look TEXT NOT NULL, settled INTEGER NOT NULL, unreadable TEXT
);
-- The sentence that says what came of a run, made by those who compare.
CREATE TABLE headlines (id TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE listing (one INTEGER PRIMARY KEY CHECK (one = 1), look TEXT NOT NULL);
";

/// The columns that [`summary`] reads, in its order.
pub(crate) const COLUMNS: &str = "id, experiment, workload, tags, host, started_at, state, \
    treatments, completed, failed, planned, metric, unit, value, added_tags, note";

/// A run folder as the index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedFolder {
    pub id: String,
    /// Fingerprint of the folder's files (sizes, times, lock).
    pub look: String,
    /// True if the files will not change any more.
    pub settled: bool,
}

/// A run folder as it was just read.
#[derive(Debug)]
pub(crate) struct Update {
    pub folder: IndexedFolder,
    /// The summary and the factors with their levels (`name`, `name=level`), or the reason why the
    /// folder cannot be read.
    pub found: std::result::Result<(RunSummary, Vec<String>), String>,
}

#[derive(Debug)]
pub(crate) struct Index {
    path: PathBuf,
    db: Connection,
}

impl Index {
    /// Opens the index at `path`; rebuilds it if it is damaged or has another version.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        match Self::open_once(path) {
            Err(Error::Index { source, .. }) if is_damaged(&source) => {
                Self::delete(path)?;
                Self::open_once(path)
            }
            other => other,
        }
    }

    fn open_once(path: &Path) -> Result<Self> {
        let fail = |source| Error::Index { path: path.to_owned(), source };
        let db = Connection::open(path).map_err(fail)?;
        db.busy_timeout(Duration::from_secs(5)).map_err(fail)?;
        let mut index = Index { path: path.to_owned(), db };
        index.prepare().map_err(fail)?;
        Ok(index)
    }

    fn prepare(&mut self) -> rusqlite::Result<()> {
        if version(&self.db)? == VERSION {
            return Ok(());
        }
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have created the tables while this one waited.
        if version(&tx)? != VERSION {
            tx.execute_batch(
                "DROP TABLE IF EXISTS runs; DROP TABLE IF EXISTS folders;
                 DROP TABLE IF EXISTS listing; DROP TABLE IF EXISTS headlines;",
            )?;
            tx.execute_batch(TABLES)?;
            tx.pragma_update(None, "user_version", VERSION)?;
        }
        tx.commit()
    }

    /// Deletes the index's files.
    pub(crate) fn delete(path: &Path) -> Result<()> {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            crate::format::disk::remove(Path::new(&name))?;
        }
        Ok(())
    }

    /// Returns the fingerprint of `runs/` at the time when the index last agreed with it.
    pub(crate) fn listing(&self) -> Result<Option<String>> {
        let found = self.db.query_row("SELECT look FROM listing", [], |row| row.get(0));
        match found {
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            other => other.map(Some).map_err(|e| self.fail(e)),
        }
    }

    /// Returns the known folders; if `unsettled`, only those that may still change.
    pub(crate) fn folders(&self, unsettled: bool) -> Result<Vec<IndexedFolder>> {
        self.query(|db| {
            let mut statement = db.prepare(if unsettled {
                "SELECT id, look, settled FROM folders WHERE settled = 0"
            } else {
                "SELECT id, look, settled FROM folders"
            })?;
            let rows = statement.query_map([], |row| {
                Ok(IndexedFolder { id: row.get(0)?, look: row.get(1)?, settled: row.get(2)? })
            })?;
            rows.collect()
        })
    }

    /// Applies the changes in one transaction.
    pub(crate) fn update(
        &mut self,
        gone: &[String],
        changed: &[Update],
        listing: Option<&str>,
    ) -> Result<()> {
        write(&mut self.db, gone, changed, listing)
            .map_err(|source| Error::Index { path: self.path.clone(), source })
    }

    /// Returns the stored result sentences by run.
    pub(crate) fn headlines(&self) -> Result<BTreeMap<String, String>> {
        self.query(|db| {
            let mut statement = db.prepare("SELECT id, text FROM headlines")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Stores the result sentence of a run until the run changes.
    pub(crate) fn keep_headline(&self, id: &str, text: &str) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO headlines VALUES (?1, ?2)";
        self.db.execute(sql, [id, text]).map(|_| ()).map_err(|e| self.fail(e))
    }

    /// Returns the runs that cannot be read, with the reason.
    pub(crate) fn unreadable(&self) -> Result<Vec<(String, String)>> {
        self.query(|db| {
            let mut statement = db.prepare(
                "SELECT id, unreadable FROM folders WHERE unreadable IS NOT NULL ORDER BY id",
            )?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Runs an arbitrary query.
    pub(crate) fn query<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        question(&self.db).map_err(|e| self.fail(e))
    }

    fn fail(&self, source: rusqlite::Error) -> Error {
        Error::Index { path: self.path.clone(), source }
    }
}

fn version(db: &Connection) -> rusqlite::Result<i32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn write(
    db: &mut Connection,
    gone: &[String],
    changed: &[Update],
    listing: Option<&str>,
) -> rusqlite::Result<()> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for id in gone {
        tx.execute("DELETE FROM runs WHERE id = ?1", [id])?;
        tx.execute("DELETE FROM folders WHERE id = ?1", [id])?;
        tx.execute("DELETE FROM headlines WHERE id = ?1", [id])?;
    }
    for Update { folder, found } in changed {
        tx.execute("DELETE FROM headlines WHERE id = ?1", [&folder.id])?;
        tx.prepare_cached("INSERT OR REPLACE INTO folders VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![folder.id, folder.look, folder.settled, found.as_ref().err()])?;
        let Ok((run, factors)) = found else {
            tx.execute("DELETE FROM runs WHERE id = ?1", [&folder.id])?;
            continue;
        };
        let json = |list: &[String]| serde_json::to_string(list).unwrap_or_default();
        tx.prepare_cached(
            "INSERT OR REPLACE INTO runs
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
             ?17)",
        )?
        .execute(params![
            run.id.as_str(),
            run.experiment,
            run.workload,
            json(&run.tags),
            run.host,
            run.started_at,
            run.state.name(),
            run.treatments,
            run.completed,
            run.failed,
            run.planned,
            run.metric,
            run.unit,
            run.value,
            json(factors),
            json(&run.added_tags),
            run.note
        ])?;
    }
    if let Some(look) = listing {
        tx.execute("INSERT OR REPLACE INTO listing VALUES (1, ?1)", [look])?;
    }
    tx.commit()
}

pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let wrong = |column| {
        rusqlite::Error::InvalidColumnType(
            column,
            "unexpected value".to_owned(),
            rusqlite::types::Type::Text,
        )
    };
    let id: RunId = row.get_ref(0)?.as_str()?.parse().map_err(|_| wrong(0))?;
    let list =
        |column| serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|_| wrong(column));
    let name = row.get_ref(6)?.as_str()?;
    let state = RunState::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| wrong(6))?;
    Ok(RunSummary {
        id,
        experiment: row.get(1)?,
        workload: row.get(2)?,
        tags: list(3)?,
        added_tags: list(14)?,
        note: row.get(15)?,
        host: row.get(4)?,
        started_at: row.get(5)?,
        state,
        treatments: row.get(7)?,
        completed: row.get(8)?,
        failed: row.get(9)?,
        planned: row.get(10)?,
        metric: row.get(11)?,
        unit: row.get(12)?,
        value: row.get(13)?,
    })
}

/// True if the file is not an index of assay, or is corrupted, so that rebuilding it helps.
pub(crate) fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, Unknown};
    match error {
        rusqlite::Error::SqliteFailure(e, _) => {
            matches!(e.code, DatabaseCorrupt | NotADatabase | Unknown)
        }
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::Utf8Error(..) => true,
        _ => false,
    }
}
