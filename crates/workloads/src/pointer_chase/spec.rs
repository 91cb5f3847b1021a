//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, ParamType, WorkloadSpec};

use crate::rows::{choice, metric, param};

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: super::NAME.into(),
        help: "Follows a chain of pointers through working sets of many sizes, each load waiting for the \
               one before: what a load costs, and where caches and TLBs end."
            .into(),
        params: vec![
            param(
                "working_set",
                ParamType::Text,
                "sweep",
                "`sweep` from `min_size` to `max_size`; or one size, or several with commas.",
            ),
            param("min_size", ParamType::Bytes, "4 KiB", "The smallest working set of a sweep."),
            param("max_size", ParamType::Bytes, "64 MiB", "The largest working set of a sweep."),
            param(
                "per_octave",
                ParamType::Int { min: 1, max: 16 },
                4,
                "Working sets for each doubling of a sweep.",
            ),
            param(
                "stride",
                ParamType::Bytes,
                64,
                "Bytes from link to link. 4160 (a page and a line) touches one line of each page, in all \
                 sets of the caches: mostly translation is left.",
            ),
            param(
                "order",
                choice(&["random", "pages", "forward"]),
                "random",
                "`random` is one cycle that no prefetcher foresees; `pages` goes to another page each \
                 time, as lmbench's `lat_mem_rd -t`; `forward` goes upwards, as lat_mem_rd without.",
            ),
            param(
                "page_size",
                choice(&["control", "any", "4KiB", "thp", "2MiB", "1GiB"]),
                "control",
                "Which pages: `control` as the control `pages` says (any without it), `thp` asks for \
                 transparent ones, `2MiB` and `1GiB` take explicit ones from a pool. A trial whose memory \
                 did not get them is invalid.",
            ),
            param("min_time", ParamType::Duration, "5 ms", "How long one measurement lasts at least."),
            param(
                "rounds",
                ParamType::Int { min: 1, max: 1000 },
                5,
                "Measurements of each working set; the least counts, as what disturbs only adds.",
            ),
        ],
        metrics: vec![
            metric(
                "latency",
                "s",
                Better::Lower,
                Kind::Measured,
                "The time of a load in the largest working set.",
            ),
            metric(
                "mean_latency",
                "s",
                Better::Lower,
                Kind::Measured,
                "The geometric mean over all working sets of the trial.",
            ),
            metric(
                "large_share",
                "1",
                Better::Neither,
                Kind::Measured,
                "The share of the memory that large pages back, from smaps, at the end.",
            ),
            metric(
                "plateaus",
                "1",
                Better::Neither,
                Kind::Estimated,
                "Levels of the curve; their edges are its knees. Missing below ten working sets.",
            ),
        ],
        suite: None,
    }
}
