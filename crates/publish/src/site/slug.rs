//! Converts names to parts of addresses.

use sha2::{Digest as _, Sha256};

/// Returns a name as a permanent part of an address: small letters, digits, `.`, `_` and `-`. If
/// that is not the name itself, six digits of the name's hash distinguish it from similar ones.
pub fn slug(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    let mut out = String::new();
    for c in name.chars().flat_map(char::to_lowercase).take(80) {
        if plain(c) {
            out.push(c);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    let trimmed = out.trim_matches(['-', '.']);
    if trimmed == name && !matches!(name, "" | "index") {
        return name.to_owned();
    }
    let hash = Sha256::digest(name.as_bytes());
    let dash = if trimmed.is_empty() { "" } else { "-" };
    format!("{trimmed}{dash}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_safe_name_of_its_own() {
        assert_eq!(slug("2009-06-12-memcached"), "2009-06-12-memcached");
        assert_eq!(slug("host-1a2b3c"), "host-1a2b3c");
        let names = [
            "C++",
            "c",
            "C",
            "c--",
            "../../etc/passwd",
            "",
            "..",
            "Ünïcode",
            "a/b",
            "a b",
            "index",
        ];
        let mut slugs: Vec<String> = names.iter().map(|n| slug(n)).collect();
        for slug in &slugs {
            let good = slug.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
            assert!(
                good && !slug.is_empty() && !slug.starts_with('.') && slug != "index",
                "{slug}"
            );
        }
        slugs.sort();
        slugs.dedup();
        assert_eq!(slugs.len(), names.len(), "{slugs:?}");
    }
}
