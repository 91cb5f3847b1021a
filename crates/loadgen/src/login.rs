//! The first request of a connection: the version of the protocol, and a password.

use crate::config::{Credentials, Protocol};

/// Returns the first request of a connection; empty if it needs none.
pub fn first_request(protocol: Protocol, credentials: Option<&Credentials>) -> Vec<u8> {
    let user = credentials.map_or("", |c| &c.user);
    let user = if user.is_empty() { "default" } else { user };
    match (protocol, credentials) {
        (Protocol::Resp3, None) => resp(&["HELLO", "3"]),
        (Protocol::Resp3, Some(c)) => resp(&["HELLO", "3", "AUTH", user, &c.password]),
        // Servers before Redis 6 have no users.
        (Protocol::Resp2, Some(c)) if c.user.is_empty() => resp(&["AUTH", &c.password]),
        (Protocol::Resp2, Some(c)) => resp(&["AUTH", user, &c.password]),
        (Protocol::Text | Protocol::Meta, Some(c)) => {
            let value = format!("{user} {}", c.password);
            // A server without a list of users stores the value: there it has expired already.
            format!("set assay:login 0 -1 {}\r\n{value}\r\n", value.len()).into_bytes()
        }
        (Protocol::Resp2 | Protocol::Text | Protocol::Meta | Protocol::Binary, _) => Vec::new(),
    }
}

fn resp(words: &[&str]) -> Vec<u8> {
    let word = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
    let all = words.iter().map(word).collect::<String>();
    format!("*{}\r\n{all}", words.len()).into_bytes()
}

/// Returns a line with which a server refused the first request up to its first quote: the words
/// after it may be those of the request, and so the password.
pub fn refusal(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|b| b"'`\"".contains(b));
    &line[..end.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_has_the_password_and_messages_do_not() {
        let with = |user: &str| Credentials { user: user.into(), password: "pa ss".into() };
        let text = |protocol, credentials: Option<&Credentials>| {
            String::from_utf8(first_request(protocol, credentials)).unwrap().replace("\r\n", "|")
        };
        let (ann, nobody) = (with("ann"), with(""));
        for (protocol, credentials, request) in [
            (Protocol::Resp2, None, ""),
            (Protocol::Resp3, None, "*2|$5|HELLO|$1|3|"),
            (Protocol::Resp2, Some(&nobody), "*2|$4|AUTH|$5|pa ss|"),
            (Protocol::Resp2, Some(&ann), "*3|$4|AUTH|$3|ann|$5|pa ss|"),
            (Protocol::Resp3, Some(&nobody), "*5|$5|HELLO|$1|3|$4|AUTH|$7|default|$5|pa ss|"),
            (Protocol::Text, Some(&ann), "set assay:login 0 -1 9|ann pa ss|"),
            (Protocol::Text, None, ""),
        ] {
            assert_eq!(text(protocol, credentials), request);
        }
        assert_eq!(format!("{ann:?}"), "Credentials(\"ann\")");
        let echoed = b"-ERR unknown command `HELLO`, with args beginning with: `3`, `pa ss`";
        assert_eq!(refusal(echoed), b"-ERR unknown command ");
        assert_eq!(refusal(b"-WRONGPASS invalid"), b"-WRONGPASS invalid");
    }
}
