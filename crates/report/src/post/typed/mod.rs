//! What a person typed into a post: quantities that no function printed, and words that compare. Both are found
//! after rendering, distinguished from the names in the data, marked in every form of the post, and
//! counted. A typed quantity in a sentence that compares is refused, and so is a comparison that
//! the post's results contradict.

mod atoms;
mod bind;
mod dates;
mod detect;
mod fold;
mod mark;
mod names;
mod stretch;
mod vocabulary;
mod words;

pub(super) use atoms::{COMPARING, COMPUTED, atoms};
pub(super) use bind::{Bound, Held, Measured, judge, set_beside};
pub(super) use detect::{Found, find};
pub(super) use mark::{Marks, daggers, events_of};
pub(super) use names::Names;
pub(super) use stretch::{Kind, Stretch, events, stretches};
pub(super) use words::sayings;
