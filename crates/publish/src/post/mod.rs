//! Posts: Markdown templates whose numbers are computed, not typed. `{{ better("t5240-1.6",
//! than="p570-4chip") }}` becomes "5% better" with a link to its inputs; `statement(...)` around it
//! becomes the whole sentence, made from the data, with a mark of certification that nothing else
//! can carry. Findings of the checks are shown with the number, and an invalid number prevents the
//! publication of the post. The author's own words are not judged.
//!
//! [`Template::read`] parses a template, [`Template::evaluate`] computes a [`Post`], and [`html`],
//! [`markdown`], [`numbers_csv`], [`results_csv`] and [`json`] write it. All of them are pure
//! functions.

mod amount;
mod answer;
mod arguments;
mod bindings;
mod body;
mod checks;
mod claim;
mod disclosure;
mod document;
mod error;
mod evaluate;
mod evaluator;
mod exact;
mod expression;
mod fair_use;
mod files;
mod front;
mod functions;
mod html;
mod identity;
mod library;
mod markdown;
mod normal;
mod operand;
mod placement;
mod read;
mod score;
mod seal;
mod template;
#[cfg(test)]
mod tests;
mod typed;

pub use answer::{Claim, LocalOutcome};
pub use bindings::Bindings;
pub use document::{
    ComputedNumber, Facts, Input, Post, PostFinding, RunLocation, TypedQuantity, UsedResult,
};
pub use error::PostError;
pub use evaluate::Template;
pub use files::{json, numbers_csv, results_csv};
pub use front::{FrontMatter, RunSpec};
pub use html::{content, html};
pub use library::Library;
pub use markdown::markdown;
pub use read::{MAX_SIZE, decode};
