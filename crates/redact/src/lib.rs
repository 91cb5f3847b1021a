//! What may be recorded of a machine, and what may leave the archive.
//!
//! Two doors. [`Recorder`] stands before the archive: of environment variables, kernel parameters and
//! mount options it keeps the values of those that are known to change performance and a keyed hash of
//! all others, and nothing that looks like a token. [`Redactor`] stands behind the archive: every file of
//! a run that is shown or published passes through it, so that archives of earlier versions are covered
//! too, and for a publication the names of hosts and people, home folders and network shares go as well.
//! Text in, text out: nothing here reads files.

mod allowed;
mod key;
mod markdown;
mod names;
mod recorder;
mod redactor;
mod token;

pub use key::Key;
pub use markdown::markdown;
pub use names::Names;
pub use recorder::{CleanRecord, Recorder};
pub use redactor::{Found, Kind, Redactor};
pub use token::{Suspect, TOKEN, first_token, is_secret_of, without_tokens};
