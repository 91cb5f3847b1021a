//! Detects tokens by their shape: prefixes of services, private keys, logins and webhooks in URLs.

use std::ops::Range;

use super::named::{LINE, MIXED, Proof, before, is_mixed, is_of};
use super::rules::{RULES, has, holds, least};
use super::{Suspect, TOKEN};

/// Finds private keys in the formats of PEM and PuTTY.
pub(crate) fn private_keys(text: &str, found: &mut Vec<(Range<usize>, Suspect)>) {
    for (at, head) in text.match_indices("Private-Lines: ") {
        let key = &text[at + head.len()..];
        let other = |c: char| !c.is_ascii_alphanumeric() && !"+/=\r\n".contains(c);
        let key = key.split(other).next().unwrap_or_default().trim_end_matches("Private");
        let range = at + head.len()..at + head.len() + key.trim_end().len();
        found.extend((range.len() > 32).then_some((range, Suspect::Shape)));
    }
    let mut from = 0;
    while let Some(begin) = text[from..].find("-----BEGIN ").map(|i| from + i) {
        let head = &text[begin..text[begin..].find('\n').map_or(text.len(), |i| begin + i)];
        let end = text[begin..].find("-----END ").and_then(|i| {
            let tail = begin + i + "-----END ".len();
            text[tail..].find("-----").map(|j| tail + j + 5)
        });
        let end = end.unwrap_or(text.len());
        if head.contains("PRIVATE KEY") {
            found.push((begin..end, Suspect::Shape));
        }
        from = end;
    }
}

/// Checks a URL whose host starts at `at`, after `://`.
pub(crate) fn address(text: &str, at: usize, found: &mut Vec<(Range<usize>, Suspect)>) {
    let rest = &text[at..];
    let stop = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ',' | ')');
    let near = (0..=rest.len().min(LINE)).rfind(|end| rest.is_char_boundary(*end)).unwrap_or(0);
    let near = rest[..near].split(stop).next().unwrap_or_default();
    let host = rest.find(|c| stop(c) || matches!(c, '/' | '?' | '#'));
    let mut host = &rest[..host.unwrap_or(rest.len())];
    #[cfg(test)]
    super::sweep::read(host.len() + near.len());
    // Only a port may be between a host's colon and its path, so this is an unescaped password.
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    if !host.contains('@') && !port.bytes().all(|b| b.is_ascii_digit() || b == b']') {
        host = near;
    }
    if let Some(login) = host.rfind('@').filter(|n| *n > 0 && host[..*n] != *TOKEN) {
        found.push((at..at + login, Suspect::Login));
    }
    let behind = |hook: &&str| near.find(*hook).map(|i| i + hook.len());
    let drawn = |from: &usize| is_mixed(&near[*from..], 1);
    let by_folder = || RULES.hook.iter().find_map(|hook| behind(hook).filter(drawn));
    if let Some(from) = RULES.webhook.iter().find_map(behind).or_else(by_folder) {
        let end = rest.find(stop).unwrap_or(rest.len());
        #[cfg(test)]
        super::sweep::read(end);
        found.extend((end > from).then(|| (at + from..at + end, Suspect::Shape)));
    }
}

/// Returns the login in `USER:PASSWORD@HOST` without a scheme, and in `USER/PASSWORD@HOST` of
/// Oracle; `at` is the position of its `@`.
pub(crate) fn login(text: &str, at: usize) -> Option<Range<usize>> {
    let stop = |c: char| c.is_whitespace() || "\"'`,;=<>()[]{}|/\0".contains(c);
    let word = before(text, at).rsplit(|c| c != '/' && stop(c)).next()?;
    let last = word.rsplit(':').next()?;
    if let Some((_, password)) = last.split_once('/')
        && (word.starts_with("jdbc:") || is_of(text, at, &RULES.oracle))
    {
        return Proof::Any.accepts(password).then(|| at - last.len()..at);
    }
    let (user, password) = word.rsplit_once(':').filter(|(_, word)| !word.contains(['/', '@']))?;
    let host = text[at + 1..].split(stop).next()?;
    let (host, port) = host.split_once(':').unwrap_or((host, ""));
    // The last part of a version, which follows the `@` of packages, is a number.
    let end = host.rsplit('.').next()?.trim_start_matches('v');
    let known = host.parse::<std::net::Ipv4Addr>().is_ok() || end.starts_with(char::is_alphabetic);
    let sure = match user.split([':', '/']).collect::<Vec<_>>()[..] {
        ["", _, user] => !user.is_empty(),
        [domain, _] => !domain.is_empty() && user.contains('/') && host.contains('.'),
        [user] if !has(&RULES.contact, user) => port.parse::<u16>().is_ok_and(|port| port > 9),
        _ => return None,
    };
    let known = known && !has(&RULES.contact, host) && !has(&RULES.digest, host);
    let proof = if sure { Proof::Any } else { MIXED };
    (known && proof.accepts(password)).then(|| at - word.len()..at)
}

/// True for a key of Mailchimp: 32 hexadecimal digits and a data center, such as `-us12`.
pub(crate) fn is_mailchimp(word: &str) -> bool {
    let hex = |text: &str| text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    word.rsplit_once("-us").is_some_and(|(key, center)| hex(key) && center.parse::<u8>().is_ok())
}

/// True for the hash in `$6$SALT$HASH`, as passwords are stored.
pub(crate) fn is_crypt(text: &str, word: &Range<usize>) -> bool {
    let known = word.len() >= 20 && text[..word.start].ends_with('$');
    let salt = || before(text, word.start).rsplit(char::is_whitespace).next();
    known && salt().is_some_and(|salt| salt.matches('$').count() > 2)
}

/// Returns the position in a word at which a service's token starts.
pub(crate) fn prefix(word: &str) -> Option<usize> {
    let bytes = word.as_bytes();
    let apart = |at: usize| at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
    let pairs = bytes.windows(2).enumerate();
    let mut starts = pairs.filter(|(at, pair)| holds(&RULES.shape_pairs, pair) && apart(*at));
    starts.find_map(|(at, _)| {
        let is_token = RULES.shape.iter().any(|shape| {
            let mut behind = shape[2..].iter().filter_map(|start| word[at..].strip_prefix(start));
            behind.any(|rest| {
                let len = rest.bytes().take(LINE).take_while(|b| is_in(shape[0], *b)).count();
                #[cfg(test)]
                super::sweep::read(len);
                len >= least(shape[1]) && is_drawn(shape[0], &rest[..len], at)
            })
        });
        is_token.then_some(at)
    })
}

fn is_in(alphabet: &str, b: u8) -> bool {
    match alphabet {
        "hex" => b.is_ascii_hexdigit(),
        "upper" => b.is_ascii_uppercase() || b.is_ascii_digit(),
        "caps" => b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-',
        _ if b.is_ascii_alphanumeric() => true,
        "word" => b"-_".contains(&b),
        "dotted" => b"-_.".contains(&b),
        "base64" => b"+/".contains(&b),
        _ => false,
    }
}

/// True if the text after a prefix is not a name made of words.
fn is_drawn(alphabet: &str, text: &str, at: usize) -> bool {
    let odd = |piece: &str| piece.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    match alphabet {
        // Many names have a digest at their end.
        "hex" => at == 0 && odd(text),
        "word" | "dotted" => text.split(['-', '_', '.']).any(|p| p.len() >= 6 && odd(p)),
        _ => odd(text),
    }
}
