//! The token: who has it may submit, cancel and read. It is made once, kept in a file that only its
//! owner reads, and compared in constant time.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use assay_sut::sha256;

use crate::error::ServeError;

/// The name of the cookie that stands for the token in a browser.
pub(crate) const COOKIE: &str = "assay";
/// The shortest token that is taken from a person.
const SHORTEST: usize = 16;

/// The token, as digests: a comparison of digests says nothing of how much of a guess was right.
#[derive(Clone)]
pub(crate) struct Token {
    digest: String,
    cookie: String,
}

/// Where the token of a state folder is.
pub(crate) fn path_in(state_dir: &Path) -> PathBuf {
    state_dir.join("serve.token")
}

impl Token {
    /// Reads the token of `state_dir`, or makes one. Returns it in clear too, for the person.
    pub fn load(state_dir: &Path) -> Result<(Self, String), ServeError> {
        let path = path_in(state_dir);
        let fail = |e| ServeError::io("read", &path)(e);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text.trim().to_owned(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => make(&path)?,
            Err(e) => return Err(fail(e)),
        };
        let mode = std::fs::metadata(&path).map_err(fail)?.permissions().mode();
        if text.len() < SHORTEST || mode & 0o077 != 0 {
            let reason = if mode & 0o077 != 0 {
                format!("others may read it (mode {:o}); run chmod 600 on it", mode & 0o777)
            } else {
                format!(
                    "a token has at least {SHORTEST} characters; remove the file to get a new one"
                )
            };
            return Err(fail(std::io::Error::other(reason)));
        }
        Ok((Token::of(&text), text))
    }

    pub fn of(text: &str) -> Self {
        Token {
            digest: sha256(text.as_bytes()),
            cookie: sha256(format!("cookie of assay\0{text}").as_bytes()),
        }
    }

    /// Whether this is the token.
    pub fn is(&self, given: &str) -> bool {
        same(sha256(given.as_bytes()).as_bytes(), self.digest.as_bytes())
    }

    /// Whether this is the value of the cookie.
    pub fn is_cookie(&self, given: &str) -> bool {
        same(given.as_bytes(), self.cookie.as_bytes())
    }

    /// The cookie's value.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }
}

/// Compares in a time that does not depend on where two texts of one length differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0, |sum, (x, y)| std::hint::black_box(sum | (x ^ y)));
    a.len() == b.len() && difference == 0
}

fn make(path: &Path) -> Result<String, ServeError> {
    let mut bytes = [0; 32];
    let random = Path::new("/dev/urandom");
    File::open(random)
        .and_then(|mut f| f.read_exact(&mut bytes))
        .map_err(ServeError::io("read", random))?;
    let token = sha256(&bytes);
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| writeln!(file, "{token}").and_then(|()| file.sync_all()))
        .map_err(ServeError::io("write", path))?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_once_and_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let (token, text) = Token::load(dir.path()).unwrap();
        assert_eq!(Token::load(dir.path()).unwrap().1, text);
        assert!(token.is(&text) && token.is_cookie(token.cookie()));
        for wrong in ["", &text[1..], &text.to_uppercase(), token.cookie()] {
            assert!(!token.is(wrong));
        }
        assert!(!token.is_cookie(&text) && !token.is_cookie(""));
        let path = path_in(dir.path());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::load(dir.path()).err().unwrap().to_string().contains("chmod 600"));
    }
}
