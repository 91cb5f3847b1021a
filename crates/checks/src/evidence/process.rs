//! How a result came to be shown: what it is compared with, who is quoted, what was registered.

use assay_model::Interval;

/// What a result is compared with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BaselineEvidence {
    /// The rival's name and version.
    pub rival: Option<String>,
    /// Whether the only baseline is an older version of the same thing.
    pub own_older_version_only: Option<bool>,
    /// Days from the rival version's release to the measurement.
    pub rival_age_days: Option<f64>,
    /// Whether a newer version of the rival was out.
    pub newer_rival_out: Option<bool>,
    /// Knobs tuned on our side and on the rival's.
    pub knobs: Option<[u32; 2]>,
    /// Hours of tuning on our side and on the rival's.
    pub hours: Option<[f64; 2]>,
}

/// A result of others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuoteEvidence {
    /// What is quoted.
    pub what: String,
    /// Where it stands.
    pub url: Option<String>,
    /// Whether everybody can read it there.
    pub public: Option<bool>,
    /// SHA-256 of the copy that was kept.
    pub archived_sha256: Option<String>,
    /// Who tested.
    pub tester: Option<String>,
    /// When it was retrieved.
    pub retrieved: Option<String>,
    /// Whether a newer result of the same system is known; `None`: nobody looked.
    pub newer_known: Option<bool>,
}

/// What a benchmark's rules want beside its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DisclosureEvidence {
    /// The benchmark.
    pub benchmark: String,
    /// The fields that its rules want, from a rule pack; empty: no pack is loaded.
    pub required: Vec<String>,
    /// The fields that stand beside the number.
    pub present: Vec<String>,
}

/// What was registered before the run, and what of it is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Registered {
    /// Registered metrics, workloads and treatments, and measured losses.
    pub items: Vec<String>,
    /// Those that are shown.
    pub shown: Vec<String>,
    /// Whether what is not shown would reverse the headline; `None`: nobody looked.
    pub reverses_headline: Option<bool>,
}

/// What somebody would need to repeat a result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RepeatEvidence {
    /// Whether the raw data are kept and given.
    pub raw_data: Option<bool>,
    /// Whether the experiment, kit or script is given.
    pub scripts: Option<bool>,
    /// The versions of what ran; `None`: not recorded.
    pub version: Option<String>,
    /// Whether what ran had changes that no version names.
    pub dirty: Option<bool>,
    /// The published value and the interval of a rerun, where there was one.
    pub rerun: Option<(f64, Interval)>,
}
