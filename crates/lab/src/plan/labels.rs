//! Short names of a factor's levels: their labels, or else their text without the parts that all
//! levels share.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use assay_model::FactorLevel;

use crate::error::{Result, wrong};

/// Maximum length of a label in characters.
const MAX_LABEL: usize = 60;

/// Returns the name of each level of a factor by the level's text; levels whose name is
/// `factor=level` are left out.
///
/// # Errors
/// A label is empty or too long, contains control characters, or is used for two levels.
pub(crate) fn labels(factor: &str, levels: &[FactorLevel]) -> Result<BTreeMap<String, String>> {
    let path = ["factors", factor];
    let mut labels = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for level in levels {
        let Some(label) = level.label() else { continue };
        let bad = label.trim() != label || label.is_empty() || label.chars().any(char::is_control);
        if bad || label.chars().count() > MAX_LABEL || label.contains(", ") {
            let message = format!("`{label}` is not a label");
            let help = format!("use 1 to {MAX_LABEL} characters, without a comma before a blank");
            return Err(wrong(&path, message, help));
        }
        if !seen.insert(label) {
            return Err(wrong(&path, format!("the label `{label}` names two levels"), ""));
        }
        labels.insert(level.value().to_text(), label.to_owned());
    }
    let plain: Vec<String> = levels.iter().map(|l| l.value().to_text()).collect();
    let name = factor.strip_prefix("controls.").unwrap_or(factor);
    // A command line is recognized without the name of its factor.
    let prefix = if name == "command" { String::new() } else { format!("{name}=") };
    for (text, short) in plain.iter().zip(shortened(&plain)) {
        let label = prefix.clone() + &short;
        if label != format!("{name}={text}") && !labels.contains_key(text) {
            labels.insert(text.clone(), label);
        }
    }
    Ok(labels)
}

/// Removes the parts that all texts share: parts between commas, or else the words of command
/// lines, where an ellipsis replaces the removed words. The first part stays, because it says what
/// the rest is about. Returns the texts unchanged if the shortened ones would not differ, or if a
/// quoted part may contain blanks.
fn shortened(texts: &[String]) -> Vec<String> {
    let quoted = texts.iter().any(|t| t.contains(['"', '\'', '\\', '\n']));
    if texts.len() < 2 || quoted {
        return texts.to_vec();
    }
    let separator = if texts.iter().any(|t| t.contains(',')) { "," } else { " " };
    let parts: Vec<Vec<&str>> = texts.iter().map(|t| t.split(separator).collect()).collect();
    let mut holders: HashMap<&str, usize> = HashMap::new();
    for part in parts.iter().flat_map(|p| p.iter().copied().collect::<BTreeSet<_>>()) {
        *holders.entry(part).or_default() += 1;
    }
    let in_all = |part: &&str| holders.get(part) == Some(&parts.len());
    let left_out = if separator == " " { "…" } else { "" };
    let short: Vec<String> = parts
        .iter()
        .map(|p| {
            let own = p.iter().enumerate();
            let own = own.map(|(i, part)| if i == 0 || !in_all(part) { *part } else { left_out });
            let mut own: Vec<&str> = own.filter(|part| !part.is_empty()).collect();
            own.dedup_by(|a, b| a == b && *a == left_out);
            own.join(separator)
        })
        .collect();
    let distinct: BTreeSet<&String> = short.iter().collect();
    if distinct.len() == texts.len() { short } else { texts.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(texts: &[&str]) -> Vec<String> {
        shortened(&texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_all_levels_share_is_left_out() {
        let sizes = ["loop:btrfs,compress=zstd,size=3GiB", "loop:ext4,size=3GiB"];
        assert_eq!(short(&sizes), ["loop:btrfs,compress=zstd", "loop:ext4"]);
        assert_eq!(short(&["zstd -q -1 f", "zstd -q -3 f"]), ["zstd … -1 …", "zstd … -3 …"]);
        // Nothing is removed if nothing is shared or if the rest would be the same.
        assert_eq!(short(&["a,b", "c,d"]), ["a,b", "c,d"]);
        assert_eq!(short(&["sleep 1", "sleep 2"]), ["sleep 1", "sleep 2"]);
        assert_eq!(short(&["x 1 2", "x 2 1"]), ["x 1 2", "x 2 1"]);
        assert_eq!(short(&["sh -c 'a b'", "sh -c 'a c'"]), ["sh -c 'a b'", "sh -c 'a c'"]);
        assert_eq!(short(&["alone,at,last"]), ["alone,at,last"]);
    }

    #[test]
    fn labels_stand_for_their_levels_and_bad_ones_are_refused() {
        let read = |text: &str| {
            let table: toml::Table = toml::from_str(&format!("levels = {text}")).unwrap();
            table["levels"].clone().try_into::<Vec<FactorLevel>>()
        };
        let levels = read(r#"[{ label = "zip", value = "loop:btrfs,c" }, "loop:ext4"]"#).unwrap();
        let found = labels("controls.storage", &levels).unwrap();
        assert_eq!(found, BTreeMap::from([("loop:btrfs,c".to_owned(), "zip".to_owned())]));
        for bad in [
            r#"[{ label = "", value = 1 }]"#,
            r#"[{ label = "a, b", value = 1 }]"#,
            r#"[{ label = "a", value = 1 }, { label = "a", value = 2 }]"#,
        ] {
            assert!(labels("x", &read(bad).unwrap()).is_err(), "{bad}");
        }
        assert!(read(r#"[{ lable = "a", value = 1 }]"#).is_err());
    }
}
