//! Arguments of `assay archive`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::arguments::format_names;

/// `assay archive`.
#[derive(Debug, Subcommand)]
pub enum Archive {
    /// List the runs, newest first.
    List {
        /// List only runs of this workload.
        #[arg(long)]
        workload: Option<String>,
        /// List only runs of this experiment.
        #[arg(long)]
        experiment: Option<String>,
        /// List only runs with this tag.
        #[arg(long)]
        tag: Option<String>,
        /// List only runs with this text in id, experiment, workload, tags, note or host.
        #[arg(long)]
        text: Option<String>,
        /// List at most this many runs.
        #[arg(long, default_value_t = 30, allow_negative_numbers = true)]
        limit: usize,
        /// List the deleted runs that can be restored, instead of the others.
        #[arg(long, conflicts_with_all = ["workload", "experiment", "tag", "text"])]
        deleted: bool,
    },
    /// Show one run: its trials, metrics, findings and system.
    Show {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        #[arg(default_value = "last")]
        run: String,
    },
    /// Check the hashes, ledger and files of one run or of all.
    Verify {
        /// The run to check [default: all].
        run: Option<String>,
    },
    /// Write a run as one file, or all results as a Parquet data set.
    Export {
        /// The run to export; not with --dataset.
        run: Option<String>,
        /// The file (`.tar.zst`) or folder to write.
        #[arg(short, long)]
        output: PathBuf,
        /// Write all results as Parquet files that pandas, Polars and DuckDB open.
        #[arg(long)]
        dataset: bool,
        /// Write the same copy that `publish` would write, without names of machines and people.
        /// Without this option, the run is written byte for byte.
        #[arg(long, conflicts_with = "dataset")]
        redact: bool,
    },
    /// Import an exported run, or results of another program (hyperfine, fio, JMH, profiles, ...:
    /// `--as` lists the formats).
    Import {
        /// The files; several results of one program become one run.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The format of the file [default: detected from the content].
        #[arg(long = "as", value_name = "FORMAT", value_parser = format_names())]
        format: Option<String>,
        /// The name of the run's experiment.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// A word to find the run by, such as `host=lab1`. May be given several times.
        #[arg(long, value_name = "WORD")]
        tag: Vec<String>,
        /// Import results again that were imported before.
        #[arg(long)]
        again: bool,
        /// Refuse an exported run that unpacks to more than this size.
        #[arg(long, default_value = "4 GiB", value_name = "SIZE", value_parser = size)]
        max_size: u64,
        /// Refuse an exported run that has more files than this.
        #[arg(long, default_value_t = 100_000, value_name = "N")]
        max_files: usize,
        /// Refuse an exported run that unpacks to more than 64 MiB and to this many times its own
        /// size.
        #[arg(long, default_value_t = 200, value_name = "N")]
        max_ratio: u64,
    },
    /// Rebuild the index from the files.
    Reindex,
    /// Add tags to a run, or remove added ones; without either, print them. The record stays as it
    /// is.
    Tag {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
        /// The tags to add.
        #[arg(value_name = "TAG")]
        tags: Vec<String>,
        /// Remove this tag. May be given several times.
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
    },
    /// Write a note about a run; without a text, print it. The record stays as it is.
    Note {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
        /// The text of the note; it replaces the existing one, and "" removes it.
        text: Option<String>,
    },
    /// Delete a run. It can be restored until the day (UTC) ends.
    #[command(alias = "remove")]
    Delete {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
        /// Delete it immediately and permanently.
        #[arg(long)]
        now: bool,
    },
    /// Restore a deleted run.
    Restore {
        /// The run, or `last` for the one that was deleted last.
        #[arg(default_value = "last")]
        run: String,
    },
}

fn size(text: &str) -> Result<u64, String> {
    assay_model::units::parse_bytes(text).map_err(|e| e.to_string())
}
