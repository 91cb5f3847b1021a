//! Removes private data from the records of a machine and from everything that leaves the archive.
//!
//! [`Recorder`] filters before the archive. Of environment variables, kernel parameters and mount
//! options, it records the values that are known to affect performance and a keyed hash of
//! all others, and nothing that looks like a token. [`Redactor`] filters behind the archive. Every
//! file of a run that is shown or published passes through it, so that archives of earlier versions
//! are covered too; for a publication it also replaces the names of hosts and people, home folders
//! and network shares. Both work on text; nothing here reads files.

mod allowed;
mod key;
#[cfg(test)]
mod markdown;
mod names;
mod recorder;
mod redactor;
mod token;

pub use key::RedactionKey;
pub use names::HiddenNames;
pub use recorder::{CleanRecord, Recorder};
pub use redactor::{Redactor, ReplacedText, ReplacementKind};
pub use token::{Suspect, TOKEN, first_token, is_secret_of, without_tokens};
