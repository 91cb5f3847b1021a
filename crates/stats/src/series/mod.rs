//! Analyses a metric over the revisions of a program. The crate finds change points, with intervals
//! for their place and size, and slow slopes in a series; links reference revisions; chooses the
//! revisions to measure next; and searches for the commit that made a step. All of it is pure
//! functions: nothing here does I/O, reads a clock or starts a trial. `docs/track/history.md`
//! explains the methods.
//!
//! Start at [`analyse`], [`ChangePoint::judge`], [`chain`], [`next_to_measure`] and
//! [`bisect::Search`].

mod analyse;
pub mod bisect;
mod change_point;
mod detect;
mod fill;
mod known;
mod limit;
mod link;
mod locate;
mod noise;
mod points;
mod quoted;
mod shown;
#[cfg(any(test, feature = "simulation"))]
pub mod simulate;
mod slope;
mod together;

pub use analyse::{analyse, analyse_family, analyse_with};
pub use change_point::{ChangePoint, ChangeState, Confirmation, SeriesAnalysis, Slope};
pub use detect::{MIN_POINTS, MIN_SIDE, largest_score};
pub use fill::next_to_measure;
pub use known::{
    Functions, HistoryDefinition, HistoryFindings, KNOWN_VERSION, KnownChange, analysis, commits,
};
pub use limit::limit;
pub use link::{Link, LinkError, Ratio, ReferencePoints, chain};
pub use points::{
    BenchmarkGap, Commit, FreshResult, HistoryData, MachineSeries, SeriesKey, SeriesPoint,
    SuiteBenchmark,
};
pub use quoted::{
    ImportedSeries, QuotedChange, QuotedHistory, QuotedPoint, QuotedSeries, QuotedSeriesView,
    quoted,
};
pub use shown::{ChangeView, HistoryView, SeriesView, shown};
pub use together::CommonMove;
