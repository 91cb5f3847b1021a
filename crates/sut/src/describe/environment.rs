//! Environment variables and locale. Values that look like secrets are replaced by a keyed hash, so
//! that two descriptions from one machine can still be compared.

use std::ffi::OsString;

use super::facts::Facts;
use crate::digest::keyed;

/// Parts of names whose values are not for publication.
const SECRET: [&str; 12] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "KEY",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
    "PRIVATE",
    "SESSION_ID",
    "_PW",
];

pub(super) fn describe(
    facts: &mut Facts<'_>,
    variables: impl Iterator<Item = (OsString, OsString)>,
) {
    // The machine's own id never leaves the machine and is what its documentation names as a key
    // for hashes like this one.
    let key = facts.root.text("/etc/machine-id").ok().filter(|k| !k.is_empty());
    let mut size = 0;
    let mut locale = None;
    for (name, value) in variables {
        // What the kernel copies to a new program's stack: NAME=value and a zero byte.
        size += name.len() + value.len() + 2;
        let name = name.to_string_lossy().into_owned();
        let text = value.to_string_lossy().into_owned();
        if name == "LC_ALL" || (name == "LANG" && locale.is_none()) {
            locale = Some(text.clone()).filter(|t| !t.is_empty()).or(locale);
        }
        let path = format!("env.{name}");
        if !looks_secret(&name, &text) {
            facts.set(path, text);
        } else if let Some(key) = &key {
            let hash = keyed(key.as_bytes(), value.as_encoded_bytes());
            facts.set(path, format!("redacted:{hash}"));
        } else {
            facts.unknown(path, "redacted, and `/etc/machine-id` gives no key to hash it with");
        }
    }
    facts.set("env.size", format!("{size} B"));
    facts.set("locale", locale.unwrap_or_else(|| "C (not set)".to_owned()));
}

/// By name, or by a value that carries a password in an address (`https://user:password@host`).
fn looks_secret(name: &str, value: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET.iter().any(|part| upper.contains(part))
        || value
            .split_once("://")
            .is_some_and(|(_, rest)| rest.split('/').next().is_some_and(|host| host.contains('@')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::Machine;

    #[test]
    fn secrets_are_hashed_and_still_comparable() {
        let machine = Machine::new();
        let root = machine.root();
        let variables = || {
            [
                ("A_TOKEN", "s3cret"),
                ("B_TOKEN", "s3cret"),
                ("C_TOKEN", "other"),
                ("PLAIN", "x"),
                ("PROXY", "http://me:pw@host/"),
                ("URL", "http://host/a@b"),
            ]
            .into_iter()
            .map(|(n, v)| (OsString::from(n), OsString::from(v)))
        };
        let take = || {
            let mut facts = Facts::new(&root);
            describe(&mut facts, variables());
            facts.into_map()
        };
        let without_key = take();
        assert!(without_key["env.A_TOKEN"].value().is_none());

        machine.put("/etc/machine-id", "00ff\n");
        let map = take();
        let value = |name: &str| map[name].value().unwrap().to_owned();
        assert!(value("env.A_TOKEN").starts_with("redacted:"));
        assert_eq!(value("env.A_TOKEN"), value("env.B_TOKEN"));
        assert_ne!(value("env.A_TOKEN"), value("env.C_TOKEN"));
        assert!(value("env.PROXY").starts_with("redacted:"));
        assert_eq!(value("env.PLAIN"), "x");
        assert_eq!(value("env.URL"), "http://host/a@b");
        assert!(map.values().all(|f| f.value().is_none_or(|v| !v.contains("s3cret"))));
        let bytes: usize = variables().map(|(n, v)| n.len() + v.len() + 2).sum();
        assert_eq!(value("env.size"), format!("{bytes} B"));
        assert_eq!(value("locale"), "C (not set)");
    }
}
