//! Charts as SVG for pages and as characters for terminals. Each chart is a plain struct and a pure
//! function that turns it into markup. The markup has no colours of its own (classes and the
//! variables of [`STYLE`] define them), a title and a description for people who cannot see it, and
//! marks that can be focused to read their values. Lengths are SVG user units; a chart is [`WIDTH`]
//! or [`NARROW`] wide and as high as it needs to be.
//!
//! Missing values are NaN in the data and gaps in the drawing. With more than
//! [`axes::reduce::MAX_MARKS`] marks, a chart draws the mean and the range of each stretch of
//! points instead of every point.
//!
//! | chart | content |
//! |---|---|
//! | [`curve`] | values over a size or count, with interval bands and highlighted points |
//! | [`intervals::ratio`] | ratios to a baseline on a log axis, with the margin |
//! | [`intervals::absolute`] | each treatment's mean, interval and trials |
//! | [`ecdf`] | cumulative distribution of the trials |
//! | [`order`] | values in the order of measurement |
//! | [`area`] | shares stacked over time, with phases |
//! | [`lines`] | series over time, with phases |
//! | [`heat`] | counts over time and a second quantity |
//! | [`matrix`] | values by row and column |
//! | [`history`] | a metric over revisions, with its changes; also small |
//! | [`flame`] | stacks: each function as wide as its time, with its callees below it |
//! | [`histogram`] | counts by powers of two, series side by side |
//! | [`scaling`] | speedup and efficiency over a count |
//! | [`small`] | means and intervals in a line of text |
//! | [`bars`] | results as horizontal bars from zero |
//! | [`text`] | bars, sparklines and intervals for a terminal |

pub mod area;
pub mod axes;
pub mod bars;
pub mod curve;
pub mod ecdf;
pub mod flame;
pub mod heat;
pub mod histogram;
pub mod history;
pub mod intervals;
pub mod lines;
pub mod matrix;
pub mod order;
pub mod scaling;
pub mod small;

pub use axes::frame::{Head, NARROW, WIDTH};
pub use axes::reach::ScaleRanges;
pub use axes::scale::ScaleKind;
pub use axes::timeline::PhaseSpan;

/// Style sheet of the charts: colours as CSS variables for light, dark and print.
pub const STYLE: &str = include_str!("style.css");
