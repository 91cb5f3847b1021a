//! Secrets that are revealed by a name, an option or a phrase.

use std::ops::Range;

use super::random::{has_extension, is_rooted};
use super::rules::{RULES, has, holds, least};
use super::{Suspect, TOKEN};

/// Maximum distance of evidence in bytes: from a program to its option, and within a value. Text
/// beyond it is read only once the value counts, so that the work is linear in the text and not
/// quadratic.
pub(crate) const LINE: usize = 300;

/// Requirements on a value before it counts as the secret of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The value is not a number with a unit or a decimal point.
    Any,
    /// The value is not a number, with or without a unit, and not a call.
    NoNumber,
    /// The value is not a number, and has at least this many characters.
    Long(usize),
    /// The value has at least this many characters, and at least this many times a digit next to a
    /// letter in one piece of it; with 0 times, the value must be a single piece.
    Mixed(usize, usize),
}

/// Requirement on values of mixed letters and digits that only their position relates to a name.
pub(crate) const MIXED: Proof = Proof::Mixed(6, 1);

impl Proof {
    /// True if the value counts. References (`$PW`, `{pw}`), paths and words such as `true` never
    /// count.
    pub(crate) fn accepts(self, value: &str) -> bool {
        let reference = RULES.reference.iter().any(|start| value.starts_with(start));
        let seen = value.starts_with(crate::redact::key::MARK) || value.contains(TOKEN);
        let plain = has(&RULES.plain, value.trim_end_matches(']')) || is_rooted(value);
        if reference || seen || plain || value.len() < 3 || !value.contains(char::is_alphanumeric) {
            return false;
        }
        match self {
            Proof::Any => !is_number(value) || value.bytes().all(|b| b.is_ascii_digit()),
            Proof::NoNumber => !is_number(value) && !value.contains('('),
            Proof::Long(least) => value.len() >= least && !is_number(value),
            Proof::Mixed(least, turns) => value.len() >= least && is_mixed(value, turns),
        }
    }
}

/// Returns the requirements on a value to be the secret of this name; `None` if the name does not
/// suggest a secret.
pub(crate) fn proof_of(name: &str) -> Option<Proof> {
    let name = name.as_bytes();
    let ends = |words: &[&str]| words.iter().find_map(|word| last_word(name, word));
    let weak = RULES.weak.iter().find(|row| ends(&row[1..]).is_some());
    if ends(&RULES.second).is_some_and(|at| at >= 2) {
        return Some(Proof::Any);
    }
    if let Some(row) = weak.filter(|_| !is_header(name)) {
        return Some(Proof::Mixed(least(row[0]), 1));
    }
    let about = ends(&RULES.about).is_some_and(|at| at > 0) && !part_at_end(name);
    if about || RULES.pointer.iter().any(|word| tail(name, word).is_some()) {
        return None;
    }
    let mut pairs = name.windows(2).enumerate().filter(|(_, pair)| is_part_end(pair));
    if pairs.any(|(at, _)| part_at_end(&name[..at + 2])) || ends(&RULES.end).is_some() {
        return Some(Proof::Any);
    }
    let counted = ends(&RULES.counted).is_some() || is_header(name);
    counted.then_some(Proof::NoNumber)
}

/// True if this value is the secret that the name suggests.
pub fn is_secret_of(name: &str, value: &str) -> bool {
    proof_of(name).is_some_and(|proof| proof.accepts(value))
}

/// True for a program that takes a secret without an option.
pub(crate) fn takes_secret(program: &str) -> bool {
    RULES.oracle.iter().chain(&RULES.redis).any(|known| program.ends_with(known))
}

fn is_header(name: &[u8]) -> bool {
    name.len() > 2
        && name[..2].eq_ignore_ascii_case(b"x-")
        && RULES.header.iter().any(|word| last_word(name, word).is_some())
}

fn is_part_end(pair: &[u8]) -> bool {
    holds(&RULES.part_pairs, &[pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase()])
}

fn part_at_end(name: &[u8]) -> bool {
    RULES.part.iter().any(|part| tail(name, part).is_some())
}

/// Returns the position at which a word of the rules starts if the name ends with it. `_` in the
/// word matches one separator or none.
fn tail(name: &[u8], word: &str) -> Option<usize> {
    let mut at = name.len();
    for w in word.bytes().rev() {
        let before = at.checked_sub(1).map(|before| name[before]);
        match before {
            _ if w == b'_' => at -= usize::from(before.is_some_and(|b| b"_-. ".contains(&b))),
            Some(b) if b.to_ascii_lowercase() == w => at -= 1,
            _ => return None,
        }
    }
    Some(at)
}

/// Like [`tail`], but the position must also start a word of the name: `auth` in `http-auth` and
/// `httpAuth`.
fn last_word(name: &[u8], word: &str) -> Option<usize> {
    tail(name, word).filter(|at| {
        *at == 0
            || b"_-. ".contains(&name[at - 1])
            || (name[at - 1].is_ascii_lowercase() && name[*at].is_ascii_uppercase())
    })
}

/// True for a number with or without a unit, a time, or a date.
fn is_number(value: &str) -> bool {
    let rest = value.trim_start_matches(|c: char| c.is_ascii_digit() || ".,:+-/".contains(c));
    let date = || value.bytes().all(|b| b.is_ascii_digit() || b".,:+-/TZ".contains(&b));
    value.starts_with("0x")
        || (rest.len() < value.len() && (rest.is_empty() || RULES.unit.contains(&rest) || date()))
}

pub(crate) fn is_mixed(value: &str, turns: usize) -> bool {
    let value = value.trim_end_matches('=');
    let uuid = value.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    let other = uuid || value.contains(['=', '(']) || value.ends_with(':') || value.contains("://");
    let least = if turns == 0 { value.len() } else { 5 };
    let turn = |w: &&[u8]| {
        w.iter().all(u8::is_ascii_alphanumeric) && w[0].is_ascii_digit() != w[1].is_ascii_digit()
    };
    let mixed = |piece: &str| {
        piece.len() >= least && piece.as_bytes().windows(2).filter(turn).count() >= turns
    };
    !other
        && !is_number(value)
        && !has_extension(value)
        && value.split(['-', '_', '.', '/', ':']).any(mixed)
}

/// Returns the secret that the word at `word` introduces in the text after it.
pub(crate) fn given(text: &str, word: Range<usize>) -> Option<(Range<usize>, Suspect)> {
    let (bytes, name) = (text.as_bytes(), &text[word.clone()]);
    // Java and make take definitions as `-Dname=value`.
    let bare = name.strip_prefix("-D").unwrap_or_else(|| name.trim_start_matches('-'));
    let option = name.starts_with('-') && bare.len() > 2;
    let rest = &bytes[word.end..];
    let login = rest.starts_with(b"=") && RULES.if_mixed.contains(&name);
    if (name.starts_with('-') || (name.len() < 7 && name.starts_with('/')) || login)
        && let Some(found) = option_value(text, &word)
    {
        return Some(found);
    }
    if bare.len() > 80 || bare.len() < 2 {
        return None;
    }
    let named = |range: Range<usize>| (range, Suspect::Named);
    let part = is_part_end(&bare.as_bytes()[bare.len() - 2..]) && part_at_end(bare.as_bytes());
    if let Some(range) = [placed, sent, called, argument, fed].iter().find_map(|f| f(text, &word)) {
        return Some(named(range));
    }
    match bare {
        "secret" | "secret-id" if option && is_of(text, word.start, &RULES.manager) => return None,
        "AUTH" | "auth" | "LOGIN" if !option && !is_operated(rest) => {
            return redis(text, &word).map(named);
        }
        "PASS" if rest.starts_with(b": ") => return None,
        _ if !option && !is_operated(rest) && has(&["bearer", "basic"], bare) => {
            return credentials(text, word.end).map(named);
        }
        _ if part && is_defined(text, word.start) => {
            let (start, quote) = skip(text, word.end, ",");
            return value(text, start, quote.or(Some(' ')), Proof::Any).map(named);
        }
        _ if is_identified(text, &word) || (part && is_in_sql(text, &word)) => {
            let (start, quote) = skip(text, word.end, "(");
            let proof = if quote.is_some() { Proof::Any } else { MIXED };
            return value(text, start, quote, proof).map(named);
        }
        _ if !(option || part || is_operated(rest)) => return field(text, word.start).map(named),
        _ => {}
    }
    if part && let Some(range) = element(text, &word) {
        return Some(named(range));
    }
    let proof = match word.start.checked_sub(1).map(|at| bytes[at]) {
        _ if option && has(&RULES.flag, bare) => Some(Proof::NoNumber),
        _ if (option || is_upper(bare)) && is_glued(bare) => Some(Proof::NoNumber),
        _ if bare.eq_ignore_ascii_case("pass") && rest.starts_with(b"=") => {
            Some(Proof::Mixed(6, 0))
        }
        // The answer of HTTP's digest login, and no checksum of a response.
        _ if has(&["response"], bare) && before(text, word.start).contains("nonce") => {
            Some(Proof::Mixed(32, 1))
        }
        // A password that was reset: `Password for bob reset.`, then `New value: ...`.
        _ if has(&["value"], bare) => {
            let mut near = words(text, word.start, &[]);
            let new = near.next().is_some_and(|word| has(&["new"], word));
            let of_secret = new && near.take(12).any(|word| part_at_end(word.as_bytes()));
            of_secret.then_some(Proof::Long(6))
        }
        // Names of two words, as in `License key: ...`.
        Some(b' ') if !option && has(&["key", "id"], bare) => {
            let above =
                text[..word.start - 1].trim_end_matches(|c: char| c.is_ascii_alphanumeric());
            if above.ends_with('-') { None } else { proof_of(&text[above.len()..word.end]) }
        }
        Some(b'?' | b'&') => match proof_of(bare) {
            None | Some(Proof::Mixed(..)) => {
                let mut query = RULES.query.iter();
                let last = |word: &&str| last_word(bare.as_bytes(), word).is_some();
                let query = query.find(|row| row[1..].iter().any(last));
                query.map(|row| Proof::Long(least(row[0]))).or_else(|| proof_of(bare))
            }
            sure => sure,
        },
        _ => proof_of(bare),
    }?;
    behind(text, word.end, option, part, proof).map(named)
}

/// Returns the value after a name that ends at `end`.
fn behind(text: &str, end: usize, option: bool, part: bool, proof: Proof) -> Option<Range<usize>> {
    let placed = if part { attribute(text, end) } else { None };
    let mut at = placed.unwrap_or(skip(text, end, if part { "\r\n" } else { "" }).0);
    // MySQL: `SET PASSWORD FOR 'bob'@'%' = 'word'`.
    let phrase = if part { peek_line(text, at) } else { "" };
    let account = phrase.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("for "));
    if account && is_of(text, end, &["SET", "set"]) {
        at += phrase.find('=').unwrap_or(0);
    } else if let Some(range) = prompted(text, at, phrase, account) {
        return Some(range);
    }
    let operator = RULES.operator.iter().find(|operator| text[at..].starts_with(**operator));
    if operator.is_none() && !option && !part {
        return None;
    }
    let is = ["is ", "is: ", "set to ", "has been set to ", "changed to ", "reset to "];
    let is = is.iter().find(|is| part && text[at..].starts_with(**is));
    at = operator.or(is).map_or(end, |operator| at + operator.len());
    let (start, quote) = skip(text, at, if option { "[(,\r\n" } else { "[(\r\n" });
    let gap = &text[placed.unwrap_or(end)..start];
    let weak = if let Proof::Mixed(least, _) = proof { Some(least) } else { None };
    let proof = if gap.contains('\n') || (operator.is_none() && !option) {
        if start == end {
            return None;
        }
        MIXED
    } else if let Some(least) = weak.filter(|_| gap.starts_with(": ") && quote.is_none()) {
        // Test programs print `pass: case12`.
        Proof::Mixed(least, 2)
    } else {
        proof
    };
    let scheme = peek(text, start, quote);
    if text[start + scheme.len()..].starts_with(' ') && has(&RULES.scheme, scheme) {
        return credentials(text, start + scheme.len());
    }
    value(text, start, quote, proof)
}

/// Returns the secret behind the phrase at `at`, which follows a name: `Password for user bob:
/// word`, `The password to log in with:`, and the word alone on the next line.
fn prompted(text: &str, at: usize, phrase: &str, account: bool) -> Option<Range<usize>> {
    let signs = [": ", " = "];
    let inline = signs.iter().find_map(|sign| Some((phrase.split_once(sign)?.0, sign.len())));
    let (to, sign) = inline.or_else(|| Some((phrase.strip_suffix(':')?, 1)))?;
    let start = skip(text, at + to.len() + sign, if sign > 1 { "" } else { "\r\n" }).0;
    // A password that a program prints is any text without blanks.
    let rest = peek_line(text, start);
    let word = rest.split([' ', '"', '\'', '\\', '<', '\0']).next().unwrap_or_default();
    let proof = match sign {
        1 if word != rest => return None,
        1 => Proof::Mixed(8, 2),
        _ if account || phrase.starts_with("is generated for ") => Proof::Any,
        _ => MIXED,
    };
    let begins = phrase.starts_with(|c: char| c.is_ascii_alphabetic() || c == '(');
    let prose = begins && text[..at].ends_with(' ') && to.split(' ').count() < 12;
    (prose && proof.accepts(word)).then(|| start..start + word.len())
}

fn is_upper(name: &str) -> bool {
    !name.contains(|c: char| c.is_ascii_lowercase())
}

/// True for a name such as `SSHPASS`, `storepass` and `dbpass`.
fn is_glued(name: &str) -> bool {
    tail(name.as_bytes(), "pass").is_some_and(|at| at > 1) && !has(&RULES.glued, name)
}

/// Returns the content of `<password>...</password>` and `<entry key="password">...</entry>`.
fn element(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let inner =
        text[..name.start].ends_with(['<', '"', '\'']).then(|| peek_line(text, name.end))?;
    let close = inner.find('>').filter(|close| !inner[..*close].contains('<'))?;
    let range = value(text, name.end + close + 1, None, Proof::Any)?;
    text[range.end..].starts_with("</").then_some(range)
}

/// Returns the last field of a line of `.pgpass` (HOST:PORT:DATABASE:USER:PASSWORD) or of a file of
/// cookies, if it starts at `at`.
fn field(text: &str, at: usize) -> Option<Range<usize>> {
    let separator = text[..at].chars().next_back().filter(|c| matches!(c, ':' | '\t'))?;
    let end = at + peek_line(text, at).len();
    if text[at..end].contains([' ', separator]) {
        return None;
    }
    let line = before(text, at - 1).rsplit(['\n', '"']).next()?;
    let fields: Vec<&str> = line.split(separator).collect();
    let number = |field: &str| field.bytes().all(|b| b.is_ascii_digit());
    let known = match fields[..] {
        _ if line.contains(' ') => false,
        [_, port, database, user] if number(port) => {
            port.len() > 2 && !number(database) && !number(user)
        }
        [_, "*", _, _] | [_, "TRUE" | "FALSE", _, "TRUE" | "FALSE", _, _] => true,
        _ => false,
    };
    (known && Proof::Long(6).accepts(&text[at..end])).then_some(at..end)
}

/// Returns the position of the value in `name="password" value="..."`.
fn attribute(text: &str, end: usize) -> Option<usize> {
    let at = skip(text, end, "{,\r\n").0;
    let word = ["value", "default"].iter().find(|word| text[at..].starts_with(**word))?;
    let at = skip(text, at + word.len(), "").0;
    text[at..].starts_with(['=', ':']).then_some(at)
}

/// Returns `abc123` in `Bearer abc123`; but `Basic block` is an ordinary phrase.
fn credentials(text: &str, end: usize) -> Option<Range<usize>> {
    let (start, quote) = skip(text, end, ":=");
    let word = peek(text, start, quote);
    let phrase = !word.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    let counts = word.len() >= 8 && !phrase && start > end;
    counts.then(|| value(text, start, quote, Proof::NoNumber)).flatten()
}

/// Returns the secret that a program reads from its standard input.
fn fed(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let word = text[name.clone()].trim_start_matches('-').rsplit('/').next()?;
    // `passwd` is a word of file names and searches too.
    let alone = || words(text, name.start, &['\n', '|']).all(|word| word == "sudo");
    let reads = RULES.reader.contains(&word) && (word != "passwd" || alone());
    if reads { piped(text, name.start) } else { None }
}

/// Returns the words that `echo` pipes into the program at `at`, which reads a secret, or that
/// `<<<` gives it.
fn piped(text: &str, at: usize) -> Option<Range<usize>> {
    if let Some((options, _)) = peek_line(text, at).split_once("<<<") {
        let (start, quote) = skip(text, at + options.len() + 3, "");
        return value(text, start, quote, Proof::Any);
    }
    let (left, right) = before(text, at).rsplit_once('|').filter(|line| !line.1.contains('\n'))?;
    let (_, words) = left.rsplit_once("echo ").or_else(|| left.rsplit_once("printf "))?;
    let end = at - right.len() - 1;
    let start = skip(text, end - words.len(), "").0;
    let quoted = words.contains(['"', '\'']);
    let words = text.get(start..end)?.trim_end_matches([' ', '\n', '"', '\'', '\\']);
    let secret = words.rsplit([' ', ':', '"', '\'', '\n', '\\']).next()?;
    let one = ["; ", "& ", "| "].iter().all(|end| !words.contains(end))
        && (quoted || !words.contains('\n'));
    (one && Proof::Any.accepts(secret)).then(|| start..start + words.len())
}

/// Returns the password of `PASS` as FTP and POP3 send it: after a line `USER name`, or after `>`.
/// Test programs print `PASS` too.
fn sent(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let near = (&text[name.clone()] == "PASS").then(|| before(text, name.start))?;
    let user = near.rsplit_once("USER").and_then(|(_, rest)| rest.split_once('\n'));
    let sign = text[name.end..].chars().next()?;
    let user = user.and_then(|(user, _)| user.strip_prefix(sign));
    let one = user.is_some_and(|user| user.split_whitespace().count() == 1);
    let proof = if one { Some(Proof::Any) } else { Some(MIXED).filter(|_| near.ends_with("> ")) };
    value(text, skip(text, name.end, ":").0, None, proof?)
}

/// Returns the password in `login("USER", "PASSWORD")`, and the answer to the prompt before it:
/// `expect "assword:"; send "PASSWORD\r"`.
fn called(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let word = text[name.clone()].rsplit('.').next()?;
    let answer = RULES.answer.contains(&word);
    (answer || has(&RULES.call, word)).then_some(())?;
    let opened = |at: usize| text[..at].ends_with(['"', '\'']).then_some(());
    let (mut start, mut quote) = skip(text, name.end, "=(-");
    opened(start)?;
    if answer {
        let prompt = before(text, name.start).rsplit(['"', '\'']).nth(1)?.to_ascii_lowercase();
        prompt.contains("assw").then_some(())?;
    } else {
        (start, quote) = skip(text, start + peek(text, start, quote).len(), ",");
        opened(start)?;
    }
    let range = value(text, start, quote, Proof::Any)?;
    Some(start..start + text[range].trim_end_matches(['\r', '\\']).len())
}

/// Returns the secret that a program takes by its place: `wpa_passphrase SSID PASSPHRASE`. That of
/// `htpasswd` needs the option `-b`, and has no file before it with `-n`.
fn placed(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let word = text[name.clone()].rsplit('/').next()?;
    let above = |of: &&str| words(text, name.start, &['\n', ';', '|', '&']).any(|word| word == *of);
    let rule = |row: &&Vec<&str>| row[0] == word && row[2..].iter().all(above);
    let place = RULES.place.iter().find(rule)?[1];
    let (mut at, mut options, mut count) = (name.end, String::new(), 0);
    let of_file = word == "htpasswd";
    loop {
        let (start, quote) = skip(text, at, ",=:");
        let word = peek(text, start, quote);
        at = start + word.len();
        match word.strip_prefix('-') {
            _ if word.is_empty() => return None,
            _ if place.parse::<usize>().is_err() && word.starts_with(place) => {
                return value(text, start + place.len(), quote, Proof::NoNumber);
            }
            Some(more) => options += more,
            None if of_file && !options.contains('b') => return None,
            None if place.parse() == Ok(count + usize::from(of_file && options.contains('n'))) => {
                return value(text, start, quote, Proof::Any);
            }
            // A number before the file or user belongs to an option.
            None => count += usize::from(count > 0 || !is_number(word)),
        }
    }
}

/// Returns the password of Redis's `AUTH [USER] PASSWORD`, of SMTP's `AUTH PLAIN PASSWORD` and of
/// IMAP's `a1 LOGIN USER PASSWORD`.
fn redis(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let near = |n| words(text, name.start, &['\n']).nth(n).unwrap_or_default();
    // `redis-cli AUTH` and `redis-cli -p 6379 AUTH`; in a sentence there are other words between
    // them.
    let called = RULES.redis.contains(&near(0))
        || (near(1).starts_with('-') && is_of(text, name.start, &RULES.redis));
    let proof = if called { Proof::NoNumber } else { MIXED };
    let (start, quote) = skip(text, name.end, if called { "," } else { "" });
    let first = peek(text, start, quote);
    let end = start + first.len();
    let auth = &text[name.clone()] == "AUTH";
    let tag = near(0).len() < 6 && near(0).ends_with(|c: char| c.is_ascii_digit());
    let login = &text[name.clone()] == "LOGIN" && tag;
    let two = login || (auth && matches!(first, "PLAIN" | "LOGIN"));
    let after = (called || two) && text[end..].starts_with([' ', '\0']);
    let second = after.then(|| value(text, end + 1, None, proof)).flatten();
    let last = second.or_else(|| value(text, start, quote, proof).filter(|_| !two))?;
    // The arguments of a command line stay separate.
    let start = if two || text[start..last.end].contains('\0') { last.start } else { start };
    (called || auth || two).then_some(start..last.end)
}

/// Returns the value of an option that takes a login or that belongs to a known program.
fn option_value(text: &str, word: &Range<usize>) -> Option<(Range<usize>, Suspect)> {
    let name = &text[word.clone()];
    let joined = name.starts_with("-u") && name.len() > 2 && text[word.end..].starts_with(':');
    if joined || RULES.login.contains(&name) || RULES.if_mixed.contains(&name) {
        let (start, quote) =
            if joined { (word.start + 2, None) } else { skip(text, word.end, "=,") };
        let client = || is_of(text, word.start, &RULES.client);
        let near = start + peek(text, start, quote).len();
        // lftp takes USER,PASSWORD.
        let pair = quote.is_none() && text[near..].starts_with(',') && client();
        let more = if pair { 1 + peek(text, near + 1, None).len() } else { 0 };
        let login = &text[start..near + more];
        let (user, password) = login.split_once([':', '%', ','])?;
        let sure = RULES.login.contains(&name) || client();
        let proof = if sure { Proof::Any } else { Proof::Mixed(5, 1) };
        let number = user.bytes().all(|b| b.is_ascii_digit());
        let path = user.contains('/') && !login.contains('%');
        let found = !number && !path && !password.starts_with('/') && user != password;
        let end = || start + cut(&text[start..], quote) + more;
        return (found && proof.accepts(password)).then(|| (start..end(), Suspect::Login));
    }
    let after = || skip(text, word.end, if name.starts_with('/') { ":" } else { "=," });
    let known = RULES.option.iter().find_map(|row| {
        let (option, programs) = row.split_first()?;
        let stem = option.trim_end_matches('*');
        let joined = stem != *option && name.len() > stem.len() + 2 && name.starts_with(stem);
        if !(joined || name == stem) || !is_of(text, word.start, programs) {
            return None;
        }
        if RULES.pipe.contains(&name) {
            return piped(text, word.start);
        }
        let (start, quote) = if joined { (word.start + stem.len(), None) } else { after() };
        value(text, start, quote, Proof::NoNumber)
    });
    // `-u USER -p PASSWORD` of any program.
    let user = |word: &str| matches!(word, "-u" | "-U" | "--user" | "--username");
    let mut command = words(text, word.start, &['\n', ';', '|', '&']);
    let of_user = || {
        let pair = matches!(name, "-p" | "-P") && command.any(user);
        pair.then(after).and_then(|(start, quote)| value(text, start, quote, MIXED))
    };
    known.or_else(of_user).map(|range| (range, Suspect::Named))
}

/// Returns the text before `at`, up to the maximum distance of evidence.
pub(crate) fn before(text: &str, at: usize) -> &str {
    let from = (at.saturating_sub(LINE)..=at).find(|from| text.is_char_boundary(*from));
    let before = &text[from.unwrap_or(at)..at];
    #[cfg(test)]
    super::sweep::read(before.len());
    before
}

/// Returns the words before `at`, back to one of `ends`, nearest first; of a path, only the last
/// name.
fn words<'a>(text: &'a str, at: usize, ends: &[char]) -> impl Iterator<Item = &'a str> + use<'a> {
    let line = before(text, at).rsplit(ends).next().unwrap_or_default();
    let words = line.rsplit(|c: char| c.is_whitespace() || "\"'`,;|&()[]\0>".contains(c));
    words.filter(|word| !word.is_empty()).filter_map(|word| word.rsplit('/').next())
}

/// True if one of the programs precedes `at` on its line. For `+login`, true if that subcommand
/// follows a known program or has a user option.
pub(crate) fn is_of(text: &str, at: usize, programs: &[&str]) -> bool {
    let mut command = words(text, at, &['\n', ';', '|', '&']);
    let mut user = false;
    let mut is_login = |word: &str| {
        user |= word.starts_with("-u") || word.starts_with("--user");
        word == "login"
    };
    words(text, at, &['\n']).any(|word| programs.contains(&word))
        || (programs.contains(&"+login")
            && command.any(&mut is_login)
            && command.next().is_some_and(|above| {
                RULES.account.contains(&above) || (user && !above.starts_with('-'))
            }))
}

/// True for the name in `#define NAME "..."`, `setenv("NAME", "...")` and `machine HOST login USER
/// password ...`.
fn is_defined(text: &str, at: usize) -> bool {
    let most = if text[..at].ends_with([' ', '\t', '"', '\'']) { 4 } else { 0 };
    let near: Vec<&str> = words(text, at, &[]).take(most).collect();
    near.first().is_some_and(|word| RULES.definer.contains(word))
        || matches!(near[..], [_, "login", _, "machine"])
}

/// Returns the value after a name in an array of arguments: `command = ["prog", "password", ...`.
fn argument(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let quoted = text[..name.start].ends_with(['"', '\'']);
    let at = if quoted && part_at_end(text[name.clone()].as_bytes()) { name.start } else { 0 };
    let near = words(text, at, &['\n']).map(|word| word.trim_matches([':', '=', '\\']));
    near.filter(|word| !word.is_empty()).nth(1).filter(|word| RULES.command.contains(word))?;
    let (start, quote) = skip(text, name.end, ",");
    value(text, start, quote, MIXED)
}

/// True for the `BY` of `IDENTIFIED BY` and `IDENTIFIED WITH plugin BY`.
fn is_identified(text: &str, name: &Range<usize>) -> bool {
    let words = before(text, name.start).rsplit(char::is_whitespace);
    let mut near = words.filter(|word| !word.is_empty()).take(3);
    text[name.clone()].eq_ignore_ascii_case("by")
        && near.any(|word| word.eq_ignore_ascii_case("identified"))
}

/// True if quotes as in `PASSWORD 'word'` or `PASSWORD('word')` follow the name.
fn is_in_sql(text: &str, name: &Range<usize>) -> bool {
    let rest = text[name.end..].strip_prefix([' ', '(']).unwrap_or_default();
    rest.trim_start_matches([' ', '(']).starts_with('\'')
        && (is_upper(&text[name.clone()])
            || text[name.clone()].starts_with("ConvertTo")
            || is_of(text, name.start, &["create", "alter"]))
}

/// True if the text after a name assigns a value to it.
fn is_operated(rest: &[u8]) -> bool {
    let at = rest.iter().position(|b| !is_opening(*b)).unwrap_or(rest.len());
    let rest = &rest[at..];
    matches!(rest.first(), Some(b'=' | b':'))
        || rest.starts_with(b"->")
        || rest.starts_with("→".as_bytes())
        || rest.starts_with("⇒".as_bytes())
}

/// True for characters that may be between a name and its value.
fn is_opening(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | 0)
}

/// Skips blanks, quotes, tags and the characters of `also`. Returns the position after them and the
/// last quote.
fn skip(text: &str, mut at: usize, also: &str) -> (usize, Option<char>) {
    let (from, mut quote) = (at, None);
    while let Some(c) = text[at..].chars().next() {
        if u8::try_from(c).is_ok_and(is_opening) || also.contains(c) {
            quote = Some(c).filter(|c| matches!(c, '"' | '\'')).or(quote);
            at += c.len_utf8();
        } else if let Some(len) = tag_len(&text[at..]).filter(|_| at - from < LINE) {
            at += len;
        } else {
            break;
        }
    }
    #[cfg(test)]
    super::sweep::read(at - from);
    (at, quote)
}

/// Returns the length of an HTML tag at the start of a text.
fn tag_len(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let name = inner.trim_start_matches('/');
    let len = name.find(|c: char| !c.is_ascii_alphanumeric())?;
    let known = len > 0 && (name.len() < inner.len() || RULES.tag.contains(&&name[..len]));
    inner.bytes().take(LINE).position(|b| b == b'>').filter(|_| known).map(|end| end + 2)
}

/// Returns the length of the value at the start of a text.
fn cut(text: &str, quote: Option<char>) -> usize {
    let len = match quote {
        Some(quote) => text.find([quote, '\n', '\0']),
        None => text.find(|c: char| c.is_whitespace() || ",;&)]}\"'`<\0".contains(c)),
    };
    #[cfg(test)]
    super::sweep::read(len.unwrap_or(text.len()));
    text[..len.unwrap_or(text.len())].trim_end_matches('\\').len()
}

/// Returns the value at `start`, or the first part of a long one.
fn peek(text: &str, start: usize, quote: Option<char>) -> &str {
    let end = (start..=text.len().min(start + LINE)).rfind(|end| text.is_char_boundary(*end));
    let near = &text[start..end.unwrap_or(start)];
    &near[..cut(near, quote)]
}

/// Returns the rest of the line at `start`, up to the maximum distance of evidence.
fn peek_line(text: &str, start: usize) -> &str {
    let end = (start..=text.len().min(start + LINE)).rfind(|end| text.is_char_boundary(*end));
    let near = &text[start..end.unwrap_or(start)];
    #[cfg(test)]
    super::sweep::read(near.len());
    near.split(['\r', '\n']).next().unwrap_or_default()
}

fn value(text: &str, start: usize, quote: Option<char>, proof: Proof) -> Option<Range<usize>> {
    let counts = proof.accepts(peek(text, start, quote));
    counts.then(|| start..start + cut(&text[start..], quote))
}
