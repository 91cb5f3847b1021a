//! The parameters of a treatment, as types.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::{Scalar, units};
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::values::{Values, wrong};
use crate::words::split_words;

/// What can be broken on purpose: a changed amount, a missing row.
pub const FAULTS: [&str; 3] = ["none", "sum", "row"];
/// When the server is killed.
pub const KILLS: [&str; 2] = ["none", "middle"];

/// What the flat files are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Rows of all files.
    pub rows: u64,
    /// Sessions.
    pub sessions: u64,
    /// Files of each session.
    pub files: u64,
    /// The seed.
    pub seed: u64,
    /// Which of the nodes that load one server this is, from 0.
    #[serde(default)]
    pub client: u64,
}

impl Shape {
    /// How many files there are.
    pub fn loads(&self) -> u64 {
        self.sessions * self.files
    }

    /// The first row of a file, and how many it has; they differ by at most one row.
    pub fn part(&self, load: u64) -> (u64, u64) {
        let at = |n: u64| (u128::from(self.rows) * u128::from(n) / u128::from(self.loads())) as u64;
        (at(load), at(load + 1) - at(load))
    }
}

/// The parameters of a treatment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// The flat files.
    pub shape: Shape,
    /// Whether there is a primary key.
    pub index: bool,
    /// Whether the server is killed in the middle.
    pub kill: bool,
    /// What is broken after the load: one of [`FAULTS`].
    pub fault: String,
    /// The folder of the programs.
    pub bin: Option<PathBuf>,
    /// Whom the server runs as; empty: chosen.
    pub user: String,
    /// Whether data pages have checksums.
    pub checksums: bool,
    /// The server's settings, as `name=value`.
    pub settings: Vec<String>,
    /// Where another node's server is; `None`: it has one of its own.
    pub address: Option<String>,
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let values = Values(map);
        let shape = Shape {
            rows: values.int("rows")?,
            sessions: values.int("sessions")?,
            files: values.int("files")?,
            seed: values.int("seed")?,
            client: values.int("client")?,
        };
        if shape.rows < shape.loads() {
            return Err(wrong(format!(
                "`rows` is {}, fewer than the {} files (`sessions` times `files`)",
                shape.rows,
                shape.loads()
            )));
        }
        let kill = values.text("kill")? == "middle";
        if kill && !values.bool("server.synchronous_commit")? {
            return Err(wrong(
                "with `server.synchronous_commit = false` a server that is killed may lose committed rows, so \
                 `kill` has nothing to check; leave one of them out",
            ));
        }
        if kill && shape.loads() < 2 {
            return Err(wrong(
                "`kill = \"middle\"` needs at least 2 files (`sessions` times `files`)",
            ));
        }
        Ok(Params {
            index: values.bool("index")?,
            kill,
            fault: values.text("fault")?,
            bin: Some(values.text("server.bin")?).filter(|t| !t.is_empty()).map(PathBuf::from),
            user: values.text("server.user")?,
            checksums: values.bool("server.checksums")?,
            settings: settings(&values, &shape)?,
            address: Some(values.text("server.address")?).filter(|t| !t.is_empty()),
            shape,
        })
    }
}

/// The server's settings; those of `server.options` come last and so win.
fn settings(values: &Values<'_>, shape: &Shape) -> Result<Vec<String>, WorkloadError> {
    let on = |name: &str| values.bool(name).map(|on| if on { "on" } else { "off" });
    let timeout = units::duration_of(&Scalar::Text(values.text("server.checkpoint_timeout")?))
        .map_err(|e| wrong(format!("`server.checkpoint_timeout`: {e}")))?;
    if !(30..=86_400).contains(&timeout.as_secs()) {
        return Err(wrong("`server.checkpoint_timeout` is from 30 s to 1 d"));
    }
    let buffers = values.bytes("server.shared_buffers")?;
    let wal = values.bytes("server.max_wal_size")?;
    if buffers < 128 << 10 || wal < 32 << 20 {
        return Err(wrong(
            "`server.shared_buffers` is 128 KiB or more, `server.max_wal_size` 32 MiB or more",
        ));
    }
    let level = values.text("server.wal_level")?;
    let mut all = vec![
        format!("shared_buffers={}kB", buffers >> 10),
        format!("max_wal_size={}MB", wal >> 20),
        format!("checkpoint_timeout={}s", timeout.as_secs()),
        format!("wal_compression={}", values.text("server.wal_compression")?),
        format!("fsync={}", on("server.fsync")?),
        format!("synchronous_commit={}", on("server.synchronous_commit")?),
        format!("full_page_writes={}", on("server.full_page_writes")?),
        format!("max_connections={}", shape.sessions + 10),
    ];
    if level == "minimal" {
        all.push("max_wal_senders=0".into());
    }
    all.push(format!("wal_level={level}"));
    for word in split_words(&values.text("server.options")?)
        .map_err(|e| wrong(format!("`server.options`: {e}")))?
    {
        let word = word.to_string_lossy().into_owned();
        let name = word.split_once('=').map_or("", |(name, _)| name);
        if name.is_empty()
            || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        {
            return Err(wrong(format!("`server.options` takes `name=value`, not `{word}`")));
        }
        all.push(word);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(changes: &[(&str, Scalar)]) -> Result<Params, WorkloadError> {
        let mut map: BTreeMap<String, Scalar> = super::super::spec::spec()
            .params
            .into_iter()
            .filter_map(|p| Some((p.name, p.default?)))
            .collect();
        map.extend(changes.iter().map(|(k, v)| ((*k).to_owned(), v.clone())));
        Params::from_map(&map)
    }

    #[test]
    fn parts_cover_all_rows_once() {
        let shape = Shape { rows: 1003, sessions: 3, files: 4, seed: 1, client: 0 };
        let parts: Vec<(u64, u64)> = (0..shape.loads()).map(|n| shape.part(n)).collect();
        assert_eq!(parts.iter().map(|p| p.1).sum::<u64>(), 1003);
        assert!(parts.windows(2).all(|w| w[0].0 + w[0].1 == w[1].0));
        assert!(parts.iter().all(|p| (83..=84).contains(&p.1)));
    }

    #[test]
    fn what_cannot_be_is_said() {
        let fine = params(&[]).unwrap();
        assert!(fine.settings.contains(&"shared_buffers=131072kB".to_owned()));
        assert!(fine.settings.contains(&"fsync=on".to_owned()));
        let text = |changes: &[(&str, Scalar)]| params(changes).unwrap_err().to_string();
        assert!(text(&[("rows", 3.into())]).contains("fewer than the 16 files"));
        let lossy = [("kill", "middle".into()), ("server.synchronous_commit", Scalar::Bool(false))];
        assert!(text(&lossy).contains("nothing to check"));
        assert!(text(&[("server.options", "no equals".into())]).contains("name=value"));
        assert!(text(&[("server.options", "a-b=1".into())]).contains("name=value"));
        assert!(text(&[("server.checkpoint_timeout", "1 s".into())]).contains("30 s"));
        let last = params(&[("server.options", "fsync=off work_mem=8MB".into())]).unwrap();
        assert_eq!(last.settings.last().unwrap(), "work_mem=8MB");
    }
}
