//! Access tokens. The full token permits submitting, cancelling and reading; the read-only one only
//! reading. Tokens are created once, stored in files that only their owner can read, and compared
//! in constant time.

use std::convert::Infallible;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assay_system::state_file::{URANDOM, random};
use assay_system::{sha256, state_file};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::{Deserialize, Serialize};

use crate::error::{Refusal, ServeError};

/// Minimum length of a token, in bytes.
const SHORTEST: usize = 16;

/// Permissions of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Submit, reorder, cancel, resume and read.
    Full,
    /// Read, without changing anything.
    ReadOnly,
}

impl Role {
    /// Refuses a role that may only read.
    pub fn may_write(self) -> Result<(), Refusal> {
        if self == Role::Full {
            return Ok(());
        }
        Err(Refusal::forbidden(
            "this token is read-only; use the one in `serve.token` of the server's state folder",
        ))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Role {
    type Rejection = Infallible;

    /// Returns the role that the guard has given to the request.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or(Role::ReadOnly))
    }
}

/// Tokens of a server in clear text, for the person who started it.
#[derive(Clone)]
pub struct Keys {
    /// Token that permits everything.
    pub full: String,
    /// Token that permits only reading.
    pub read_only: String,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

/// Digests of the tokens. Comparing digests does not reveal how much of a guess was right.
#[derive(Clone)]
pub(crate) struct Tokens {
    full: String,
    read_only: String,
}

/// Returns the path of the full token in a state folder.
pub(crate) fn token_file(state_dir: &Path) -> PathBuf {
    state_dir.join("serve.token")
}

impl Tokens {
    /// Reads the tokens of `state_dir`, or creates them.
    pub fn load(state_dir: &Path) -> Result<(Self, Keys), ServeError> {
        let full = read_or_create(&token_file(state_dir))?;
        let path = state_dir.join("serve.read-token");
        let read_only = read_or_create(&path)?;
        if full == read_only {
            let reason = "it is the same as the full token; remove the file to get a new one";
            return Err(ServeError::io("use", &path)(std::io::Error::other(reason)));
        }
        let keys = Keys { full, read_only };
        let digest = |text: &str| sha256(text.as_bytes());
        Ok((Tokens { full: digest(&keys.full), read_only: digest(&keys.read_only) }, keys))
    }

    /// Returns the role of the token `given`, or `None` if the token is unknown.
    pub fn role_of(&self, given: &str) -> Option<Role> {
        let given = sha256(given.as_bytes());
        let is = |role: Role| constant_time_eq(given.as_bytes(), self.digest(role).as_bytes());
        // Always compare with both.
        match (is(Role::Full), is(Role::ReadOnly)) {
            (true, _) => Some(Role::Full),
            (false, true) => Some(Role::ReadOnly),
            (false, false) => None,
        }
    }

    pub fn digest(&self, role: Role) -> &str {
        match role {
            Role::Full => &self.full,
            Role::ReadOnly => &self.read_only,
        }
    }
}

/// Compares two byte strings. For strings of one length, the time does not depend on where they
/// differ.
pub(crate) fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0, |sum, (x, y)| std::hint::black_box(sum | (x ^ y)));
    a.len() == b.len() && difference == 0
}

/// Returns a random value of 256 bits, in hexadecimal.
pub(crate) fn random_value() -> Result<String, ServeError> {
    let bytes: [u8; 32] = random().map_err(ServeError::io("read", Path::new(URANDOM)))?;
    Ok(sha256(&bytes))
}

fn read_or_create(path: &Path) -> Result<String, ServeError> {
    let fail = |e| ServeError::io("read", path)(e);
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text.trim().to_owned(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => create(path)?,
        Err(e) => return Err(fail(e)),
    };
    let mode = std::fs::metadata(path).map_err(fail)?.permissions().mode();
    if text.len() < SHORTEST || mode & 0o077 != 0 {
        let reason = if mode & 0o077 != 0 {
            format!("other users can read it (mode {:o}); run chmod 600 on it", mode & 0o777)
        } else {
            format!("a token has at least {SHORTEST} characters; remove the file to get a new one")
        };
        return Err(fail(std::io::Error::other(reason)));
    }
    Ok(text)
}

fn create(path: &Path) -> Result<String, ServeError> {
    let token = random_value()?;
    state_file::write(path, format!("{token}\n").as_bytes())
        .map_err(ServeError::io("write", path))?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_once_and_for_their_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let (tokens, keys) = Tokens::load(dir.path()).unwrap();
        let again = Tokens::load(dir.path()).unwrap().1;
        assert_eq!((&again.full, &again.read_only), (&keys.full, &keys.read_only));
        assert_eq!(tokens.role_of(&keys.full), Some(Role::Full));
        assert_eq!(tokens.role_of(&keys.read_only), Some(Role::ReadOnly));
        for wrong in ["", &keys.full[1..], &keys.full.to_uppercase(), tokens.digest(Role::Full)] {
            assert_eq!(tokens.role_of(wrong), None);
        }
        let path = token_file(dir.path());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Tokens::load(dir.path()).err().unwrap().to_string().contains("chmod 600"));
    }

    #[test]
    fn one_token_cannot_be_both() {
        let dir = tempfile::tempdir().unwrap();
        Tokens::load(dir.path()).unwrap();
        std::fs::copy(token_file(dir.path()), dir.path().join("serve.read-token")).unwrap();
        assert!(Tokens::load(dir.path()).err().unwrap().to_string().contains("the same"));
    }
}
