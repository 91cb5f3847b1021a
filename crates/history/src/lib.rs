//! What changed over revisions, as pure functions: series of a metric, change points with an interval
//! for place and size, slow slopes, links between reference revisions, which revision to measure next,
//! and the search for the commit that made a step. Nothing here does I/O, reads a clock or starts a
//! trial. `docs/history.md` says what is computed and why.
//!
//! The front doors are [`analyse`], [`ChangePoint::judge`], [`chain`], [`next_to_measure`]
//! and [`bisect::Search`].

mod analyse;
pub mod bisect;
mod change;
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
pub mod simulate;
mod slope;
mod together;

pub use analyse::{analyse, analyse_with};
pub use change::{Analysis, ChangePoint, Confirmation, Slope, State};
pub use detect::{MIN_POINTS, MIN_SIDE, largest_score};
pub use fill::next_to_measure;
pub use known::{About, Change, Functions, KNOWN_VERSION, Known, analysis, commits};
pub use limit::limit;
pub use link::{Link, LinkError, Part, Ratio, chain};
pub use points::{Commit, Fresh, Past, Point, Series};
pub use quoted::{Imported, Quoted, QuotedChange, QuotedPoint, QuotedSeries, QuotedShown, quoted};
pub use shown::{Shown, ShownChange, ShownSeries, shown};
pub use together::Together;
