//! Replaces names of machines and people, and home folders, in texts.

use std::collections::BTreeSet;

use crate::redact::key::RedactionKey;
use crate::redact::redactor::ReplacementKind;
use crate::redact::token::{Pairs, RULES, add, holds};

/// Names that a publication must not show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenNames {
    hosts: BTreeSet<String>,
    users: BTreeSet<String>,
    homes: BTreeSet<String>,
    begins: Beginnings,
}

/// First two bytes of names and home folders.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Beginnings(Pairs);

impl Default for Beginnings {
    fn default() -> Self {
        let mut begins = [0; 256];
        for root in HOME_ROOTS {
            add(&mut begins, root.as_bytes());
        }
        Beginnings(begins)
    }
}

/// Parents of home folders, and root's home folder.
const HOME_ROOTS: [&str; 3] = ["/home/", "/Users/", "/root"];

/// Minimum length of a name that is searched for in texts.
const SHORTEST: usize = 3;

/// Text length up to which a search for the first bytes of all names is faster than a search for
/// each name.
const SHORT: usize = 100;

impl HiddenNames {
    /// Adds a machine's name, and the first part of a fully qualified one.
    pub fn host(&mut self, name: &str) {
        let name = name.trim();
        for name in [name, name.split('.').next().unwrap_or_default()] {
            if looked_for(name) {
                add(&mut self.begins.0, name.as_bytes());
                self.hosts.insert(name.to_owned());
            }
        }
    }

    /// Returns the replacement of a machine's name.
    pub(crate) fn host_stands_in(key: &RedactionKey, name: &str) -> String {
        format!("host-{}", key.digits(name.split('.').next().unwrap_or(name), 6))
    }

    /// Adds the name of a user of a machine.
    pub fn user(&mut self, name: &str) {
        if looked_for(name.trim()) {
            add(&mut self.begins.0, name.trim().as_bytes());
            self.users.insert(name.trim().to_owned());
        }
    }

    /// Adds a home folder and the name of its owner.
    pub fn home(&mut self, path: &str) {
        let path = path.trim().trim_end_matches('/');
        let Some((above, last)) = path.rsplit_once('/') else { return };
        self.user(last);
        if !above.is_empty() && path.starts_with('/') {
            add(&mut self.begins.0, path.as_bytes());
            self.homes.insert(path.to_owned());
        }
    }

    /// Adds the owners of the home folders that a text mentions.
    pub fn learn(&mut self, text: &str) {
        for root in ["/home/", "/Users/"] {
            for (at, _) in text.match_indices(root) {
                let rest = &text[at + root.len()..];
                self.user(&rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())]);
            }
        }
    }

    /// True if a text may contain any of the names. Fast, and a false result is always right.
    pub(crate) fn may_be_in(&self, text: &str) -> bool {
        let mut pairs = text.as_bytes().windows(2);
        if text.len() <= SHORT && !pairs.any(|pair| holds(&self.begins.0, pair)) {
            return false;
        }
        let names = self.homes.iter().chain(&self.hosts).chain(&self.users);
        HOME_ROOTS.iter().any(|root| text.contains(root))
            || names.into_iter().any(|name| text.contains(name.as_str()))
    }

    /// Returns the text without the names; `found` is called for every replacement with the old and
    /// the new text.
    pub(crate) fn remove(
        &self,
        text: &str,
        key: &RedactionKey,
        found: &mut dyn FnMut(ReplacementKind, &str, &str),
    ) -> String {
        let mut text = text.to_owned();
        for home in self.homes.iter().rev() {
            text = replace(&text, home, false, &mut |old| {
                found(ReplacementKind::Home, old, "~");
                "~".to_owned()
            });
        }
        text = homes(&text, found);
        for (names, kind, word) in [
            (&self.hosts, ReplacementKind::Host, "host"),
            (&self.users, ReplacementKind::User, "user"),
        ] {
            // The longest first, because a name may start with another.
            for name in names.iter().rev() {
                let first =
                    if kind == ReplacementKind::Host { name.split('.').next() } else { None };
                let new = format!("{word}-{}", key.digits(first.unwrap_or(name), 6));
                text = replace(&text, name, kind == ReplacementKind::Host, &mut |old| {
                    found(kind, old, &new);
                    new.clone()
                });
            }
        }
        text
    }
}

fn looked_for(name: &str) -> bool {
    name.len() >= SHORTEST
        && !RULES.common.contains(&name)
        && !name.bytes().all(|b| b.is_ascii_digit())
        && name.chars().all(in_name)
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Replaces `name` where it is a whole word; if `domain`, including the rest of a fully qualified
/// name.
fn replace(text: &str, name: &str, domain: bool, with: &mut dyn FnMut(&str) -> String) -> String {
    if !text.contains(name) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find(name).map(|i| at + i) {
        let mut end = found + name.len();
        let before = text[..found].chars().next_back();
        let after = text[end..].chars().next();
        out.push_str(&text[at..found]);
        if before.is_some_and(joins) || after.is_some_and(joins) {
            out.push_str(name);
        } else {
            if domain {
                end += domain_len(&text[end..]);
            }
            out.push_str(&with(&text[found..end]));
        }
        at = end;
    }
    out.push_str(&text[at..]);
    out
}

/// Returns the length of `.example.org` at the start of a text: at least two labels, else 0.
fn domain_len(text: &str) -> usize {
    let label = |text: &str| {
        let rest = text.strip_prefix('.')?;
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        (len > 0).then_some(len + 1)
    };
    let (mut at, mut labels) = (0, 0);
    while let Some(len) = label(&text[at..]) {
        at += len;
        labels += 1;
    }
    if labels >= 2 { at } else { 0 }
}

/// Replaces `/home/NAME`, `/Users/NAME` and `/root` by `~`.
fn homes(text: &str, found: &mut dyn FnMut(ReplacementKind, &str, &str)) -> String {
    if !HOME_ROOTS.iter().any(|root| text.contains(root)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let tail = &rest[at..];
        let len = match ["/home/", "/Users/"].iter().find(|root| tail.starts_with(**root)) {
            Some(root) => {
                let name = &tail[root.len()..];
                let len = name.find(|c| !in_name(c)).unwrap_or(name.len());
                if len == 0 { 0 } else { root.len() + len }
            }
            None if tail.starts_with("/root") && !tail[5..].starts_with(in_name) => 5,
            None => 0,
        };
        out.push_str(&rest[..at]);
        if len == 0 || before.is_some_and(|c| in_name(c) || c == '/') {
            out.push('/');
            rest = &rest[at + 1..];
        } else {
            found(ReplacementKind::Home, &tail[..len], "~");
            out.push('~');
            rest = &tail[len..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(names: &HiddenNames, text: &str) -> String {
        names.remove(text, &RedactionKey::new(*b"k"), &mut |_, _, _| ())
    }

    #[test]
    fn names_are_found_in_texts_of_any_length() {
        let mut names = HiddenNames::default();
        names.host("kestrel");
        names.user("eve");
        names.home("/export/people/mallory");
        for name in
            ["kestrel", "eve", "mallory", "/export/people/mallory", "/home/", "/Users/", "/root"]
        {
            for around in [0, 1, 60, 200] {
                let blanks = " ".repeat(around);
                assert!(names.may_be_in(&format!("{blanks}{name}{blanks}")), "{name}, {around}");
                let cut = &name[..name.len() - 1];
                assert!(!names.may_be_in(&format!("{blanks}{cut}{blanks}")), "{cut}, {around}");
            }
        }
        assert!(!names.may_be_in(""));
    }

    #[test]
    fn names_go_where_they_stand_as_words() {
        let mut names = HiddenNames::default();
        names.host("kestrel.example.org");
        names.home("/export/people/eve");
        names.learn("PATH=/home/mallory/bin:/usr/bin");
        let host = format!("host-{}", RedactionKey::new(*b"k").digits("kestrel", 6));
        let eve = format!("user-{}", RedactionKey::new(*b"k").digits("eve", 6));
        let mallory = format!("user-{}", RedactionKey::new(*b"k").digits("mallory", 6));
        assert_eq!(clean(&names, "on kestrel: kestrels"), format!("on {host}: kestrels"));
        assert_eq!(
            clean(&names, "http://kestrel.lab.example.org:80/x"),
            format!("http://{host}:80/x")
        );
        assert_eq!(clean(&names, "/export/people/eve/x eve@"), format!("~/x {eve}@"));
        assert_eq!(clean(&names, "/home/mallory/bin:/root/.x"), "~/bin:~/.x");
        assert_eq!(clean(&names, "/srv/home/mallory"), format!("/srv/home/{mallory}"));
        assert_eq!(
            clean(&names, "/proc/self/root /rootfs /home/ never"),
            "/proc/self/root /rootfs /home/ never"
        );
    }

    #[test]
    fn words_of_everyday_are_not_taken_for_names() {
        let mut names = HiddenNames::default();
        for name in ["root", "test", "a", "42", "localhost"] {
            names.host(name);
            names.user(name);
        }
        assert_eq!(names, HiddenNames::default());
        assert_eq!(clean(&names, "/home/test/x"), "~/x");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(/home/|/root|\\PC){0,20}") {
            let mut names = HiddenNames::default();
            names.learn(&text);
            names.host("é-host");
            let _ = clean(&names, &text);
        }
    }
}
