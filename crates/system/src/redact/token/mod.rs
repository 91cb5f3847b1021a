//! Detects values that look like tokens: by a known shape, by the name to which they are assigned,
//! or because they look random. Plain hexadecimal hashes count only if their name suggests a
//! secret, because reports are full of commits and digests.

mod named;
mod random;
mod rules;
mod shape;
mod spelling;
#[cfg(test)]
mod sweep;

use std::borrow::Cow;
use std::ops::Range;

pub use named::is_secret_of;
pub(crate) use named::{proof_of, takes_secret};
pub(crate) use rules::{Pairs, RULES, add, holds};
use spelling::PlainText;

/// Replacement of a token.
pub const TOKEN: &str = "[token]";

/// Reason why a value counts as a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspect {
    /// The value starts like the tokens of a known service, or is a private key.
    Shape,
    /// The name of the value suggests a secret: `password=`, `--token`, `Authorization:`.
    Named,
    /// The value is a login in a URL or after an option.
    Login,
    /// The characters of the value look random.
    Random,
}

impl Suspect {
    /// Returns the reason as the end of a sentence: "it ...".
    pub fn reason(self) -> &'static str {
        match self {
            Suspect::Shape => "has the shape of a service's token or a private key",
            Suspect::Named => "belongs to a name such as password, token or secret",
            Suspect::Login => "is a login",
            Suspect::Random => "looks random, as keys do",
        }
    }
}

/// Returns the text with every token replaced by [`TOKEN`].
pub fn without_tokens(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, _) in found {
        out.push_str(&text[at..range.start]);
        out.push_str(TOKEN);
        at = range.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// Returns the reason why a text contains a token; `None` if it contains none.
pub fn first_token(text: &str) -> Option<Suspect> {
    find(text).first().map(|(_, why)| *why)
}

/// Returns the positions of tokens, in order and without overlap.
pub(crate) fn find(text: &str) -> Vec<(Range<usize>, Suspect)> {
    match PlainText::convert(text) {
        None => find_plain(text),
        Some(plain) => {
            let found = find_plain(&plain.text).into_iter();
            found.map(|(range, why)| (plain.original(range), why)).collect()
        }
    }
}

fn find_plain(text: &str) -> Vec<(Range<usize>, Suspect)> {
    let mut found = Vec::new();
    // Most tunables are numbers, and a trial that prints nothing calls this between two programs.
    if text.bytes().all(|b| b.is_ascii_digit() || b" \t\n.-".contains(&b)) {
        return found;
    }
    shape::private_keys(text, &mut found);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (b, known) = (bytes[at], found.len());
        if is_word(b) {
            let start = at;
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
            word(text, start..at, &mut found);
        } else {
            if b == b':' && text[at..].starts_with("://") {
                shape::address(text, at + 3, &mut found);
            } else if b == b'@' {
                found.extend(shape::login(text, at).map(|range| (range, Suspect::Login)));
            }
            at += 1;
        }
        // Of a secret, only the last word is checked again: it may introduce a secret after it.
        let (secret, _) = found[known..].last().unwrap_or(&(0..0, Suspect::Shape));
        let inner = bytes.get(at..secret.end).unwrap_or_default();
        let end = inner.iter().rposition(|b| is_word(*b)).map_or(0, |last| last + 1);
        at += inner[..end].iter().rposition(|b| !is_word(*b)).map_or(0, |before| before + 1);
    }
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    found.dedup_by(|(next, _), (range, _)| {
        let overlap = next.start < range.end;
        range.end = if overlap { range.end.max(next.end) } else { range.end };
        overlap
    });
    found
}

/// Bytes that names and tokens consist of.
static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut b = 0u8;
    while b < 128 {
        word[b as usize] =
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+' | b'/');
        b += 1;
    }
    word
};

fn is_word(b: u8) -> bool {
    WORD[usize::from(b)]
}

/// Checks whether a word is a token or introduces a secret after it.
fn word(text: &str, range: Range<usize>, found: &mut Vec<(Range<usize>, Suspect)>) {
    let word = &text[range.clone()];
    if word.len() >= 14 {
        let whole = || shape::is_crypt(text, &range) || shape::is_mailchimp(word);
        if let Some(at) = shape::prefix(word).or_else(|| whole().then_some(0)) {
            found.push((range.start + at..range.end, Suspect::Shape));
            return;
        }
        if random::is_random(word, &text[..range.start]) {
            // The padding of Base64 is part of the token.
            let pad = text[range.end..].bytes().take_while(|b| *b == b'=').count();
            found.push((range.start..range.end + pad, Suspect::Random));
            return;
        }
    }
    found.extend(named::given(text, range));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_seen() {
        for (text, left) in [
            ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[token]"),
            (
                "curl -H 'Authorization: Bearer abc123def456' x",
                "curl -H 'Authorization: Bearer [token]' x",
            ),
            ("curl -u x https://eve:hunter2@host/p", "curl -u x https://[token]@host/p"),
            ("mysql --password=hunter2 db", "mysql --password=[token] db"),
            ("mysql --password hunter2 db", "mysql --password [token] db"),
            (r#"["--password","hunter2","x"]"#, r#"["--password","[token]","x"]"#),
            ("password = \"correct horse\" # x", "password = \"[token]\" # x"),
            ("DB_PASS=s3cr3t ./run", "DB_PASS=[token] ./run"),
            ("AKIAIOSFODNN7EXAMPLE", "[token]"),
            ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "[token]"),
            ("key q7Zt0XvB2mLk9RfWc4Ye8PnH end", "key [token] end"),
            ("https://hooks.slack.com/services/T0/B0/xyz", "https://hooks.slack.com/[token]"),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[token]\nb",
            ),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N", "[token]"),
            ("Cookie: session9", "Cookie: [token]"),
            ("-Dtoken=abcdef -Xmx1g", "-Dtoken=[token] -Xmx1g"),
            (r#"{"token": "abcd"}"#, r#"{"token": "[token]"}"#),
        ] {
            assert_eq!(without_tokens(text), left);
            assert_eq!(without_tokens(left), left, "done twice");
        }
    }

    #[test]
    fn what_is_no_token_stays() {
        for text in [
            "commit 6684bb6d9c2f1b0a7e5d4c3b2a19080706050403",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "550e8400-e29b-41d4-a716-446655440000",
            "20261121-093000-1a2b",
            "/usr/lib/x86_64-linux-gnu/libpthread.so.0",
            "AbstractSingletonProxyFactoryBean2Impl",
            "linux-image-6.12.41+deb13-amd64",
            "-XX:+UseParallelGC -XX:ParallelGCThreads=4",
            "--password=$PGPASSWORD",
            "tokens: 1500 tokens/s, 12 passed: 12, pass: 120",
            "Basic block vectorization",
            "secret = none",
            "org.openjdk.jmh.samples.JMHSample_01_HelloWorld",
            "http://example.org/a@b",
            "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz",
            "-march=x86-64-v3 -O3 -fno-omit-frame-pointer",
            "x86_64-unknown-linux-gnu",
        ] {
            assert_eq!(without_tokens(text), text);
        }
    }

    #[test]
    fn what_is_drawn_by_chance_is_seen_in_nearly_all_cases() {
        // SplitMix64, so that the texts are the same everywhere.
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z ^ (z >> 27)
        };
        let set = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let seen = (0..1000)
            .filter(|_| {
                let text: String =
                    (0..32).map(|_| char::from(set[(next() % 62) as usize])).collect();
                first_token(&text) == Some(Suspect::Random)
            })
            .count();
        assert!(seen >= 980, "{seen} of 1000");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(
            text in "\\PC{0,80}",
            name in "(--?)?(password|token|Bearer|key|u|by|jdbc:|&amp;|\x1b\\[)[ =:<>/@→\"'é\n\
                \u{200b}]{0,6}\\PC{0,12}",
        ) {
            let _ = without_tokens(&text);
            let _ = without_tokens(&name);
        }
    }
}
