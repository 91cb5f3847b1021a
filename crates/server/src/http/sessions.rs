//! Sessions of signed-in browsers. The browser holds a random value in a cookie. The server stores
//! its digest in memory and in a file, so that sessions survive a restart. A session ends when the
//! user signs out, when it expires, or when its token is replaced.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use assay_model::SCHEMA_VERSION;
use assay_system::sha256;
use axum::http::{HeaderMap, header};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::ServeError;
use crate::http::token::{Role, Tokens, constant_time_eq, random_value};
use crate::locked;
use crate::queue::store::{read_json, write_json};

/// Name of the session cookie.
pub(crate) const COOKIE: &str = "assay";
/// Lifetime of a session, in seconds.
pub(crate) const LIFETIME_S: i64 = 7 * 24 * 3600;
/// Maximum number of sessions. At the limit, a new session ends the oldest one.
const MAX_SESSIONS: usize = 1000;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Session {
    /// SHA-256 of the cookie's value.
    digest: String,
    role: Role,
    /// SHA-256 of the token that the session began with.
    token: String,
    /// Time of expiry, in seconds since 1970 (UTC).
    until: i64,
}

#[derive(Serialize, Deserialize)]
struct SessionsFile {
    schema_version: u32,
    sessions: Vec<Session>,
}

/// Returns the values of the session cookie.
pub(crate) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|c| c.to_str().ok())
        .flat_map(|c| c.split(';'))
        .filter_map(|c| c.trim().split_once('='))
        .filter_map(|(name, value)| (name == COOKIE).then_some(value))
}

/// Sessions of a server, oldest first.
pub(crate) struct Sessions {
    path: PathBuf,
    sessions: Mutex<Vec<Session>>,
}

impl Sessions {
    /// Reads the sessions of the state folder whose tokens are still valid. An unreadable file
    /// counts as empty: users sign in again.
    pub fn open(state_dir: &Path, tokens: &Tokens) -> Self {
        let path = state_dir.join("serve.sessions");
        let kept: Option<SessionsFile> = read_json(&path).ok().flatten();
        let mut sessions = kept.map(|k| k.sessions).unwrap_or_default();
        sessions.retain(|s| constant_time_eq(s.token.as_bytes(), tokens.digest(s.role).as_bytes()));
        Sessions { path, sessions: Mutex::new(sessions) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Session>> {
        locked(&self.sessions)
    }

    /// Starts a session and returns the value of its cookie.
    pub fn begin(&self, role: Role, tokens: &Tokens) -> Result<String, ServeError> {
        let value = random_value()?;
        let now = Timestamp::now().as_second();
        let mut sessions = self.lock();
        sessions.retain(|s| s.until > now);
        if sessions.len() >= MAX_SESSIONS {
            sessions.remove(0);
        }
        sessions.push(Session {
            digest: sha256(value.as_bytes()),
            role,
            token: tokens.digest(role).to_owned(),
            until: now + LIFETIME_S,
        });
        // If the file cannot be written (full disk), the session lasts until the server ends.
        let _ = self.write(&sessions);
        Ok(value)
    }

    /// Returns the role of the session with this cookie, or `None` if it is unknown or has expired.
    pub fn role_of(&self, cookie: &str) -> Option<Role> {
        let digest = sha256(cookie.as_bytes());
        let now = Timestamp::now().as_second();
        let sessions = self.lock();
        sessions.iter().find(|s| s.until > now && s.digest == digest).map(|s| s.role)
    }

    /// Ends the session of this cookie.
    ///
    /// # Errors
    /// The session has ended, but its file could not be updated or removed: a restarted server
    /// would accept the session again.
    pub fn end(&self, cookie: &str) -> Result<(), ServeError> {
        let digest = sha256(cookie.as_bytes());
        let mut sessions = self.lock();
        sessions.retain(|s| s.digest != digest);
        // If the file cannot be written, it may still be removable. After a restart everyone then
        // signs in again.
        self.write(&sessions).or_else(|error| match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
    }

    fn write(&self, sessions: &[Session]) -> Result<(), ServeError> {
        let kept = SessionsFile { schema_version: SCHEMA_VERSION, sessions: sessions.to_vec() };
        write_json(&self.path, &kept)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn random_kept_as_a_digest_and_over_when_signed_out() {
        let dir = tempfile::tempdir().unwrap();
        let (tokens, keys) = Tokens::load(dir.path()).unwrap();
        let sessions = Sessions::open(dir.path(), &tokens);
        let one = sessions.begin(Role::Full, &tokens).unwrap();
        let two = sessions.begin(Role::ReadOnly, &tokens).unwrap();
        assert_ne!(one, two);
        let path = dir.path().join("serve.sessions");
        let text = std::fs::read_to_string(&path).unwrap();
        for secret in [&one, &two, &keys.full, &keys.read_only] {
            assert!(!text.contains(secret.as_str()), "digests only");
        }
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        sessions.end(&one).unwrap();
        let again = Sessions::open(dir.path(), &tokens);
        for of in [&sessions, &again] {
            assert_eq!((of.role_of(&one), of.role_of(&two)), (None, Some(Role::ReadOnly)));
            assert_eq!(of.role_of(""), None);
        }
    }

    #[test]
    fn a_new_token_ends_what_the_old_one_began() {
        let dir = tempfile::tempdir().unwrap();
        let (tokens, _) = Tokens::load(dir.path()).unwrap();
        let cookie = Sessions::open(dir.path(), &tokens).begin(Role::Full, &tokens).unwrap();
        std::fs::remove_file(crate::http::token::token_file(dir.path())).unwrap();
        let (tokens, _) = Tokens::load(dir.path()).unwrap();
        assert_eq!(Sessions::open(dir.path(), &tokens).role_of(&cookie), None);
    }

    #[test]
    fn time_ends_it() {
        let dir = tempfile::tempdir().unwrap();
        let (tokens, _) = Tokens::load(dir.path()).unwrap();
        let sessions = Sessions::open(dir.path(), &tokens);
        let cookie = sessions.begin(Role::Full, &tokens).unwrap();
        sessions.lock()[0].until = Timestamp::now().as_second();
        assert_eq!(sessions.role_of(&cookie), None);
    }
}
