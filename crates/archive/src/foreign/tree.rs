//! JSON whose keys are not known beforehand, as a tree of a bounded number of values.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::Flaw;

/// The most values of a tree.
const MAX_VALUES: usize = 2_000_000;

/// A JSON value; the fields of an object in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Nothing,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// The field of an object; the last one where a key is there twice, as JSON readers have it.
    pub(super) fn get(&self, key: &str) -> Option<&Tree> {
        self.fields().iter().rev().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The fields of an object; none of anything else.
    pub(super) fn fields(&self) -> &[(String, Tree)] {
        match self {
            Tree::Object(fields) => fields,
            _ => &[],
        }
    }

    /// The values of a list; none of anything else.
    pub(super) fn items(&self) -> &[Tree] {
        match self {
            Tree::List(items) => items,
            _ => &[],
        }
    }

    /// A field that is a number; `None` where there is none or a null.
    pub(super) fn number(&self, key: &str, path: &str) -> Result<Option<f64>, Flaw> {
        match self.get(key) {
            None | Some(Tree::Nothing) => Ok(None),
            Some(Tree::Number(n)) => Ok(Some(*n)),
            Some(_) => Err(Flaw::field(joined(path, key), "it is not a number")),
        }
    }

    /// A number that is not negative.
    pub(super) fn amount(&self, key: &str, path: &str) -> Result<Option<f64>, Flaw> {
        match self.number(key, path)? {
            Some(n) if n < 0.0 => Err(Flaw::field(joined(path, key), format!("{n} is negative"))),
            other => Ok(other),
        }
    }

    /// A field that is a text.
    pub(super) fn text(&self, key: &str, path: &str) -> Result<Option<&str>, Flaw> {
        match self.get(key) {
            None | Some(Tree::Nothing) => Ok(None),
            Some(Tree::Text(t)) => Ok(Some(t)),
            Some(_) => Err(Flaw::field(joined(path, key), "it is not a text")),
        }
    }

    /// An error unless it is an object.
    pub(super) fn object(&self, path: &str) -> Result<&Self, Flaw> {
        match self {
            Tree::Object(_) => Ok(self),
            _ => Err(Flaw::field(path, "it is not an object")),
        }
    }
}

/// The path of a field: `a.b`, or `a["b c"]` where the key is no plain word.
pub(super) fn joined(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    match (plain, path.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{path}.{key}"),
        (false, _) => format!("{path}[\"{key}\"]"),
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Seed(&Cell::new(MAX_VALUES)).deserialize(deserializer)
    }
}

/// Builds a tree, with how many values may still be added to all of it.
#[derive(Clone, Copy)]
struct Seed<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        use serde::de::Error;
        let left = self
            .0
            .get()
            .checked_sub(1)
            .ok_or_else(|| D::Error::custom(format!("it has more than {MAX_VALUES} values")))?;
        self.0.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, v: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Tree, E> {
        Ok(Tree::Number(v as f64))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Tree, E> {
        Ok(Tree::Number(v as f64))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Tree, E> {
        Ok(Tree::Number(v))
    }

    fn visit_str<E>(self, v: &str) -> Result<Tree, E> {
        Ok(Tree::Text(v.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            fields.push((key, map.next_value_seed(self)?));
        }
        Ok(Tree::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_paths_are_named() {
        let tree: Tree =
            serde_json::from_str(r#"{"b": 1, "a": [true, null, "x"], "c d": -2}"#).unwrap();
        let keys: Vec<&str> = tree.fields().iter().map(|(k, _)| k.as_str()).collect();
        assert_eq!(keys, ["b", "a", "c d"]);
        assert_eq!(tree.get("a").unwrap().items()[2], Tree::Text("x".into()));
        assert_eq!(tree.amount("b", "").unwrap(), Some(1.0));
        assert_eq!(tree.number("none", "").unwrap(), None);
        let flaw = tree.amount("c d", "x").unwrap_err();
        assert_eq!(flaw.to_string(), ": at x[\"c d\"]: -2 is negative");
        assert_eq!(tree.text("b", "x").unwrap_err().to_string(), ": at x.b: it is not a text");
    }

    #[test]
    fn more_values_than_are_read_are_an_error() {
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        let error = serde_json::from_str::<Tree>(&many).unwrap_err().to_string();
        assert!(error.contains("more than 2000000 values"), "{error}");
    }
}
