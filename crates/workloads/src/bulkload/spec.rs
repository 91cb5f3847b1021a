//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, ParamSpec, ParamType, Scalar, WorkloadSpec};

use crate::rows::{choice, param};

use super::params::{FAULTS, KILLS};

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: super::NAME.into(),
        help: "PostgreSQL takes in flat files: sessions COPY into a fact table of a cluster that lies on the trial's \
               storage; counts and sums are checked."
            .into(),
        params: [load(), server()].concat(),
        metrics: metrics(),
        suite: None,
    }
}

fn load() -> Vec<ParamSpec> {
    let int = |min, max| ParamType::Int { min, max };
    vec![
        param(
            "rows",
            int(1, 10_000_000_000),
            1_000_000,
            "Rows of the flat files together; each has about 100 bytes.",
        ),
        param("sessions", int(1, 256), 4, "Sessions that load at once, each its own files."),
        param(
            "files",
            int(1, 10_000),
            4,
            "Files of a session; each is one COPY and one transaction.",
        ),
        param("seed", int(1, i64::MAX), 1, "The same seed makes the same rows."),
        param(
            "index",
            ParamType::Bool,
            Scalar::Bool(false),
            "Whether the table has its primary key while it is loaded.",
        ),
        param(
            "kill",
            choice(&KILLS),
            "none",
            "`middle`: kill -9 of the whole server once half of the files are in, a restart, and the rest; committed \
             rows must be there.",
        ),
        param(
            "fault",
            choice(&FAULTS),
            "none",
            "Breaks something on purpose after the load, to see that it is noticed.",
        ),
    ]
}

fn server() -> Vec<ParamSpec> {
    let text = || ParamType::Text;
    vec![
        param(
            "server.address",
            text(),
            "",
            "Where the server of another node is; set by `where.server_node` for the nodes that load it.",
        ),
        param("server.key", text(), "", "Its password; set likewise, anew for each trial."),
        param(
            "client",
            ParamType::Int { min: 0, max: 1_000_000 },
            0,
            "Which of the nodes that load one server this is; set likewise.",
        ),
        param(
            "server.bin",
            text(),
            "",
            "The folder with initdb, postgres and psql; empty: the newest in /usr/lib/postgresql, else those on PATH.",
        ),
        param(
            "server.user",
            text(),
            "",
            "Whom the server runs as when assay is root, which PostgreSQL refuses to be; empty: postgres, else nobody.",
        ),
        param("server.shared_buffers", ParamType::Bytes, "128 MiB", "The server's own page cache."),
        param("server.max_wal_size", ParamType::Bytes, "1 GiB", "WAL between checkpoints, about."),
        param(
            "server.checkpoint_timeout",
            ParamType::Duration,
            "5 min",
            "The longest time between checkpoints.",
        ),
        param(
            "server.wal_level",
            choice(&["replica", "minimal"]),
            "replica",
            "What goes into the WAL.",
        ),
        param(
            "server.wal_compression",
            choice(&["off", "pglz", "lz4", "zstd"]),
            "off",
            "How full pages in the WAL are compressed.",
        ),
        param(
            "server.fsync",
            ParamType::Bool,
            Scalar::Bool(true),
            "Whether the server waits for the device at all.",
        ),
        param(
            "server.synchronous_commit",
            ParamType::Bool,
            Scalar::Bool(true),
            "Whether a COMMIT waits until its WAL is on the device.",
        ),
        param(
            "server.full_page_writes",
            ParamType::Bool,
            Scalar::Bool(true),
            "Whether the WAL has whole pages after a checkpoint.",
        ),
        param(
            "server.checksums",
            ParamType::Bool,
            Scalar::Bool(false),
            "Whether data pages carry checksums.",
        ),
        param("server.options", text(), "", "More settings: `work_mem=64MB autovacuum=off`."),
    ]
}

fn metric(name: &str, unit: &str, better: Better, help: &str) -> MetricSpec {
    crate::rows::metric(name, unit, better, Kind::Measured, help)
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Higher, Lower, Neither};
    vec![
        metric(
            "throughput",
            "rows/s",
            Higher,
            "Rows of all files over the time from the first COPY to the last COMMIT.",
        ),
        metric("bytes", "B/s", Higher, "Bytes of the flat files over the same time."),
        metric(
            "written",
            "rows/s",
            Higher,
            "Rows over the time to the end of a checkpoint that follows the last COMMIT: all of it on the device.",
        ),
        metric("load_time", "s", Lower, "From the first COPY to the last COMMIT."),
        metric("checkpoint_time", "s", Lower, "The checkpoint after the last COMMIT."),
        metric("wal", "B", Lower, "WAL that the load made."),
        metric("table", "B", Neither, "The table with its indexes."),
        metric(
            "server_cpu",
            "s",
            Lower,
            "CPU time of the server's processes during the load; missing with `kill`.",
        ),
        metric(
            "recovery",
            "s",
            Lower,
            "From the restart after the kill until the server takes sessions; else missing.",
        ),
    ]
}
