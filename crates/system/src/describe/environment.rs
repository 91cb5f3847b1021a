//! Describes environment variables and locale, unfiltered: the description is recorded through a
//! [`crate::redact::Recorder`], which decides which values are kept.

use std::ffi::OsString;

use super::facts::Facts;

pub(super) fn describe(
    facts: &mut Facts<'_>,
    variables: impl Iterator<Item = (OsString, OsString)>,
) {
    let mut size = 0;
    let mut locale = None;
    for (name, value) in variables {
        // As the kernel copies it to a new program's stack: NAME=value and a zero byte.
        size += name.len() + value.len() + 2;
        let name = name.to_string_lossy().into_owned();
        let text = value.to_string_lossy().into_owned();
        if name == "LC_ALL" || (name == "LANG" && locale.is_none()) {
            locale = Some(text.clone()).filter(|t| !t.is_empty()).or(locale);
        }
        facts.set(format!("env.{name}"), text);
    }
    facts.set("env.size", format!("{size} B"));
    facts.set("locale", locale.unwrap_or_else(|| "C (not set)".to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn the_size_is_that_of_the_stack() {
        let machine = FakeMachine::new();
        let root = machine.root();
        let variables = [("A", "xyz"), ("B_TOKEN", "")];
        let mut facts = Facts::new(&root);
        describe(&mut facts, variables.iter().map(|(n, v)| (OsString::from(n), OsString::from(v))));
        let map = facts.into_map();
        let bytes: usize = variables.iter().map(|(n, v)| n.len() + v.len() + 2).sum();
        assert_eq!(map["env.size"].value(), Some(format!("{bytes} B").as_str()));
        assert_eq!(map["env.A"].value(), Some("xyz"));
        assert_eq!(map["locale"].value(), Some("C (not set)"));
    }
}
