//! Parameters of a treatment: their declaration and their types.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use assay_model::Scalar;

use crate::WorkloadError;
use crate::declare::{
    argv, flag, int, one_of, or_none, params, path, size, text, time, word, wrong,
};

/// Faults that can be injected: none, a changed amount, a missing row.
pub const FAULTS: [&str; 3] = ["none", "sum", "row"];

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BulkloadParams {
        /// Number of rows in all flat files; each row has about 100 bytes.
        rows: u64 = int(1, 10_000_000_000), 1_000_000;
        /// Number of sessions that load at the same time, each its own files.
        sessions: u64 = int(1, 256), 4;
        /// Number of files per session; each is one COPY and one transaction.
        files: u64 = int(1, 10_000), 4;
        /// Seed of the random numbers; the same seed makes the same rows.
        seed: u64 = int(1, i64::MAX), 1;
        /// If true, the table has its primary key while it is loaded.
        index: bool = flag(), Scalar::Bool(false);
        /// `middle`: kill -9 of the whole server after half of the files are loaded, a restart, and
        /// the other half; committed rows must survive.
        kill: bool = one_of(&[("none", false), ("middle", true)]), "none";
        /// Fault to inject after the load, to test that the check detects it.
        fault: String = word(&FAULTS), "none";
        /// Address of the server on another node; set by `where.server_node` for the nodes that
        /// load it.
        address as "server.address": Option<String> = or_none(text()), "";
        /// Password of the server on another node; a new one is set for each trial.
        key as "server.key": String = text(), "";
        /// Number of this node among those that load one server; set like the address.
        client: u64 = int(0, 1_000_000), 0;
        /// Folder with initdb, postgres and psql; empty: the newest in /usr/lib/postgresql, else
        /// those on PATH.
        bin as "server.bin": Option<PathBuf> = or_none(path()), "";
        /// User that the server runs as if assay is root, because PostgreSQL refuses to run as
        /// root; empty: postgres, else nobody.
        user as "server.user": String = text(), "";
        /// Size of the server's own page cache.
        shared_buffers as "server.shared_buffers": u64 = size(), "128 MiB";
        /// Approximate size of the WAL between checkpoints.
        max_wal_size as "server.max_wal_size": u64 = size(), "1 GiB";
        /// Maximum time between checkpoints.
        checkpoint_timeout as "server.checkpoint_timeout": Duration = time(), "5 min";
        /// Amount of information in the WAL.
        wal_level as "server.wal_level": String = word(&["replica", "minimal"]), "replica";
        /// Compression of full pages in the WAL.
        wal_compression as "server.wal_compression": String =
            word(&["off", "pglz", "lz4", "zstd"]), "off";
        /// If false, the server never waits for the device.
        fsync as "server.fsync": bool = flag(), Scalar::Bool(true);
        /// If true, a COMMIT waits until its WAL is on the device.
        synchronous_commit as "server.synchronous_commit": bool = flag(), Scalar::Bool(true);
        /// If true, the WAL contains the whole page at its first change after a checkpoint.
        full_page_writes as "server.full_page_writes": bool = flag(), Scalar::Bool(true);
        /// If true, data pages carry checksums.
        checksums as "server.checksums": bool = flag(), Scalar::Bool(false);
        /// More settings: `work_mem=64MB autovacuum=off`.
        options as "server.options": Vec<OsString> = argv(), "";
    }
}

impl BulkloadParams {
    /// Reads the parameters of a treatment and checks that they are consistent.
    ///
    /// # Errors
    /// [`WorkloadError::Param`] with a remedy: a value or a combination of values is invalid.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = BulkloadParams::read(map)?;
        if params.rows < params.loads() {
            return Err(wrong(format!(
                "`rows` is {}, fewer than the {} files (`sessions` times `files`)",
                params.rows,
                params.loads()
            )));
        }
        if params.kill && !params.synchronous_commit {
            return Err(wrong(
                "with `server.synchronous_commit = false` a server that is killed may lose \
                 committed rows, so `kill` has nothing to check; leave one of them out",
            ));
        }
        if params.kill && params.loads() < 2 {
            return Err(wrong(
                "`kill = \"middle\"` needs at least 2 files (`sessions` times `files`)",
            ));
        }
        if !(30..=86_400).contains(&params.checkpoint_timeout.as_secs()) {
            return Err(wrong("`server.checkpoint_timeout` is from 30 s to 1 d"));
        }
        if params.shared_buffers < 128 << 10 || params.max_wal_size < 32 << 20 {
            return Err(wrong(
                "`server.shared_buffers` is 128 KiB or more, `server.max_wal_size` 32 MiB or more",
            ));
        }
        let is_setting = |word: &str| {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            !name.is_empty() && name.chars().all(fits)
        };
        if let Some(word) = params.more().find(|word| !is_setting(word)) {
            return Err(wrong(format!("`server.options` takes `name=value`, not `{word}`")));
        }
        Ok(params)
    }

    /// Returns the number of flat files.
    pub fn loads(&self) -> u64 {
        self.sessions * self.files
    }

    /// Returns the first row of a file and its number of rows; files differ by at most one row.
    pub fn part(&self, load: u64) -> (u64, u64) {
        let at = |n: u64| (u128::from(self.rows) * u128::from(n) / u128::from(self.loads())) as u64;
        (at(load), at(load + 1) - at(load))
    }

    fn more(&self) -> impl Iterator<Item = String> + '_ {
        self.options.iter().map(|word| word.to_string_lossy().into_owned())
    }

    /// Returns the server's settings as `name=value` for the sessions of `nodes` nodes; those of
    /// `server.options` come last and take precedence.
    pub fn settings(&self, nodes: u64) -> Vec<String> {
        let on = |on| if on { "on" } else { "off" };
        let mut all = vec![
            format!("shared_buffers={}kB", self.shared_buffers >> 10),
            format!("max_wal_size={}MB", self.max_wal_size >> 20),
            format!("checkpoint_timeout={}s", self.checkpoint_timeout.as_secs()),
            format!("wal_compression={}", self.wal_compression),
            format!("fsync={}", on(self.fsync)),
            format!("synchronous_commit={}", on(self.synchronous_commit)),
            format!("full_page_writes={}", on(self.full_page_writes)),
            format!("max_connections={}", self.sessions * nodes + 10),
        ];
        if self.wal_level == "minimal" {
            all.push("max_wal_senders=0".into());
        }
        all.push(format!("wal_level={}", self.wal_level));
        all.extend(self.more());
        all
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn params(changes: &[(&str, Scalar)]) -> Result<BulkloadParams, WorkloadError> {
        BulkloadParams::from_map(&crate::declare::treatment(BulkloadParams::rows(), changes))
    }

    /// Returns the default parameters with these flat files.
    pub fn of_files(rows: u64, sessions: u64, files: u64, seed: u64) -> BulkloadParams {
        BulkloadParams { rows, sessions, files, seed, ..params(&[]).unwrap() }
    }

    #[test]
    fn parts_cover_all_rows_once() {
        let params = of_files(1003, 3, 4, 1);
        let parts: Vec<(u64, u64)> = (0..params.loads()).map(|n| params.part(n)).collect();
        assert_eq!(parts.iter().map(|p| p.1).sum::<u64>(), 1003);
        assert!(parts.windows(2).all(|w| w[0].0 + w[0].1 == w[1].0));
        assert!(parts.iter().all(|p| (83..=84).contains(&p.1)));
    }

    #[test]
    fn impossible_values_are_errors() {
        let fine = params(&[]).unwrap();
        assert!(fine.settings(1).contains(&"shared_buffers=131072kB".to_owned()));
        assert!(fine.settings(1).contains(&"fsync=on".to_owned()));
        let text = |changes: &[(&str, Scalar)]| params(changes).unwrap_err().to_string();
        assert!(text(&[("rows", 3.into())]).contains("fewer than the 16 files"));
        let lossy = [("kill", "middle".into()), ("server.synchronous_commit", Scalar::Bool(false))];
        assert!(text(&lossy).contains("nothing to check"));
        assert!(text(&[("server.options", "no equals".into())]).contains("name=value"));
        assert!(text(&[("server.options", "a-b=1".into())]).contains("name=value"));
        assert!(text(&[("server.checkpoint_timeout", "1 s".into())]).contains("30 s"));
        let last = params(&[("server.options", "fsync=off work_mem=8MB".into())]).unwrap();
        assert_eq!(last.settings(1).last().unwrap(), "work_mem=8MB");
    }
}
