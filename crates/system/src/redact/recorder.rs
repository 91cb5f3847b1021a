//! Filters what the archive records.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;

use assay_model::{Experiment, Fact, TrialRecord, ValidationResult};
use serde_json::Value;

use crate::redact::allowed;
use crate::redact::key::{MARK, RedactionKey};
use crate::redact::token::{
    RULES, Suspect, first_token, is_secret_of, takes_secret, without_tokens,
};

/// Removes private data from a record.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    /// The archive's key; without one, values are recorded as unknown.
    pub key: Option<RedactionKey>,
    /// Environment variables that the experiment adds to the list, as names or prefixes (`MY_*`).
    pub also: Vec<String>,
}

/// Reason of an unknown value if there is no key.
const NO_KEY: &str = "redacted, and the archive has no key to hash it with";

impl Recorder {
    /// Replaces the private values of a system's facts. A second call changes nothing.
    pub fn facts(&self, facts: &mut BTreeMap<String, Fact>) {
        for (path, fact) in facts.iter_mut() {
            let Some(value) = fact.value() else { continue };
            match self.fact(path, value) {
                Ok(Cow::Borrowed(_)) => {}
                Ok(Cow::Owned(new)) => *fact = Fact::known(new),
                Err(reason) => *fact = Fact::unknown(reason),
            }
        }
    }

    /// Returns the recordable form of a fact's value.
    pub(crate) fn fact<'a>(
        &self,
        path: &str,
        value: &'a str,
    ) -> Result<Cow<'a, str>, &'static str> {
        let key = self.key.as_ref();
        let stand_in = |value: &str| key.map_or_else(|| MARK.to_owned(), |key| key.stand_in(value));
        // `node.NAME.env.X` is `env.X` of that node.
        let own = match path.strip_prefix("node.") {
            Some(rest) if rest.ends_with(".kernel.cmdline") => "kernel.cmdline",
            Some(rest) => rest.find(".env.").map_or(path, |at| &rest[at + 1..]),
            None => path,
        };
        let kept = if let Some(name) = own.strip_prefix("env.") {
            if name == "size" || value.starts_with(MARK) {
                return Ok(Cow::Borrowed(value));
            }
            if !allowed::variable(name, &self.also) {
                return key.map(|key| Cow::Owned(key.stand_in(value))).ok_or(NO_KEY);
            }
            Cow::Borrowed(value)
        } else if own == "kernel.cmdline" {
            changed(value, allowed::kernel_line(value, &stand_in))
        } else if own.starts_with("mount.") || own.contains(".mount./") {
            changed(value, mount(value, &stand_in))
        } else {
            Cow::Borrowed(value)
        };
        Ok(match without_tokens(&kept) {
            Cow::Borrowed(_) => kept,
            Cow::Owned(new) => Cow::Owned(new),
        })
    }
}

fn changed(old: &str, new: String) -> Cow<'_, str> {
    if old == new { Cow::Borrowed(old) } else { Cow::Owned(new) }
}

/// Replaces private mount options in `KIND SOURCE OPTIONS`.
fn mount(value: &str, stand_in: &dyn Fn(&str) -> String) -> String {
    match value.rsplit_once(' ') {
        Some((what, options)) => format!("{what} {}", allowed::mount_options(options, stand_in)),
        None => value.to_owned(),
    }
}

/// Joins the words of a command line with NUL; `None` for an array of anything else. `name` is that
/// of the array.
pub(crate) fn arguments(name: &str, items: &[Value]) -> Option<String> {
    let words: Vec<&str> = items.iter().map(Value::as_str).collect::<Option<_>>()?;
    let line = |word: &&str| word.starts_with('-') || takes_secret(word);
    (RULES.command.contains(&name) || words.iter().any(line)).then(|| words.join("\0"))
}

/// Returns the path (`params.command`) of the first value in an experiment that looks like a token,
/// and the reason.
pub(crate) fn token_in(value: &Value) -> Option<(String, Suspect)> {
    fn look(value: &Value, path: &mut Vec<String>) -> Option<Suspect> {
        let mut below = |name: &str, item: &Value| {
            path.push(name.to_owned());
            let found = look(item, path);
            if found.is_none() {
                path.pop();
            }
            found
        };
        match value {
            Value::String(text) => {
                let named = path.iter().rev().find(|p| p.parse::<usize>().is_err());
                let secret = named.is_some_and(|name| is_secret_of(name, text));
                first_token(text).or(secret.then_some(Suspect::Named))
            }
            Value::Array(items) => {
                let mut each = items.iter().enumerate();
                let found = each.find_map(|(i, item)| below(&i.to_string(), item));
                found.or_else(|| first_token(&arguments(path.last().map_or("", |p| p), items)?))
            }
            Value::Object(map) => map.iter().find_map(|(key, item)| below(key, item)),
            _ => None,
        }
    }
    let mut path = Vec::new();
    look(value, &mut path).map(|why| (path.join("."), why))
}

impl Recorder {
    /// Returns the path of the first value in an experiment that looks like a token, and the
    /// reason. Such an experiment is refused, because everything in it is recorded and shown.
    pub fn token_in(experiment: &Experiment) -> Option<(String, Suspect)> {
        token_in(&serde_json::to_value(experiment).ok()?)
    }

    /// Returns the recordable form of an output stream.
    pub fn log(bytes: &[u8]) -> Cow<'_, [u8]> {
        match without_tokens(&String::from_utf8_lossy(bytes)) {
            // If nothing was found, bytes that are not UTF-8 are kept.
            Cow::Borrowed(_) => Cow::Borrowed(bytes),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }
}

/// A trial's record without tokens in its texts.
#[derive(Debug, Clone)]
pub struct CleanRecord(TrialRecord);

impl CleanRecord {
    /// Replaces what looks like a token by `[token]`. `before` is a clean record whose texts are
    /// not checked again, because trials of one treatment mostly have the same texts.
    pub fn new(mut record: TrialRecord, before: Option<&TrialRecord>) -> Self {
        let known = |text: &String| before.is_some_and(|b| texts(b).any(|known| known == text));
        if texts(&record).any(|text| !known(text) && first_token(text).is_some()) {
            each(&mut record, &mut |text| *text = without_tokens(text).into_owned());
        }
        CleanRecord(record)
    }

    pub fn into_inner(self) -> TrialRecord {
        self.0
    }
}

impl Deref for CleanRecord {
    type Target = TrialRecord;

    fn deref(&self) -> &TrialRecord {
        &self.0
    }
}

/// Returns every text of a record.
fn texts(record: &TrialRecord) -> impl Iterator<Item = &String> {
    let detail = match &record.validation {
        ValidationResult::Passed { detail } | ValidationResult::Failed { detail } => Some(detail),
        _ => None,
    };
    std::iter::once(&record.error)
        .chain(&record.notes)
        .chain(record.changed.values())
        .chain(record.observers.iter().flat_map(|o| &o.not_seen))
        .chain(record.findings.iter().flat_map(|f| [&f.message, &f.remedy]))
        .chain(detail)
}

/// Calls `f` on every text of a record.
fn each(record: &mut TrialRecord, f: &mut dyn FnMut(&mut String)) {
    f(&mut record.error);
    record.notes.iter_mut().for_each(&mut *f);
    record.changed.values_mut().for_each(&mut *f);
    record.observers.iter_mut().flat_map(|o| &mut o.not_seen).for_each(&mut *f);
    for finding in &mut record.findings {
        f(&mut finding.message);
        f(&mut finding.remedy);
    }
    if let ValidationResult::Passed { detail } | ValidationResult::Failed { detail } =
        &mut record.validation
    {
        f(detail);
    }
}

#[cfg(test)]
mod tests {
    use assay_model::PlannedTrial;

    use super::*;
    use crate::redact::TOKEN;

    fn facts() -> BTreeMap<String, Fact> {
        [
            ("env.JWT", "abc"),
            ("env.OTHER", "abc"),
            ("env.OMP_NUM_THREADS", "4"),
            ("env.MY_MODE", "fast"),
            ("env.JAVA_TOOL_OPTIONS", "-Dstore.password=hunter2 -Xmx1g"),
            ("env.size", "12 B"),
            ("kernel.cmdline", "root=UUID=1 ro isolcpus=2"),
            ("mount./mnt", "cifs //nas/eve rw,vers=3,password=hunter2"),
            ("node.n2.env.JWT", "abc"),
        ]
        .into_iter()
        .map(|(p, v)| (p.to_owned(), Fact::known(v)))
        .collect()
    }

    #[test]
    fn only_listed_values_are_recorded() {
        let recorder = Recorder { key: Some(RedactionKey::new(*b"k")), also: vec!["MY_*".into()] };
        let mut facts = facts();
        recorder.facts(&mut facts);
        let value = |path: &str| facts[path].value().unwrap().to_owned();
        assert!(value("env.JWT").starts_with(MARK));
        assert_eq!(value("env.JWT"), value("env.OTHER"));
        assert_eq!(value("env.JWT"), value("node.n2.env.JWT"));
        assert_eq!(value("env.OMP_NUM_THREADS"), "4");
        assert_eq!(value("env.MY_MODE"), "fast");
        assert_eq!(value("env.JAVA_TOOL_OPTIONS"), "-Dstore.password=[token] -Xmx1g");
        assert_eq!(value("env.size"), "12 B");
        assert!(value("kernel.cmdline").ends_with(" ro isolcpus=2"));
        assert!(!value("kernel.cmdline").contains("UUID"));
        assert!(value("mount./mnt").starts_with("cifs //nas/eve rw,vers=3,password=redacted:"));
        let once = facts.clone();
        recorder.facts(&mut facts);
        assert_eq!(facts, once, "done twice");
    }

    #[test]
    fn a_sentence_that_is_new_is_looked_at() {
        let trial = PlannedTrial { number: 1, ..PlannedTrial::default() };
        let record = |notes: &[&str]| TrialRecord {
            notes: notes.iter().map(|&n| n.to_owned()).collect(),
            ..TrialRecord::blank(&trial, 1, String::new(), 0)
        };
        let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let first = CleanRecord::new(record(&["short", token]), None);
        assert_eq!(first.notes, ["short", TOKEN]);
        let next = CleanRecord::new(record(&["short", token]), Some(&first));
        assert_eq!(next.into_inner().notes, ["short", TOKEN]);
    }

    #[test]
    fn without_a_key_a_value_is_unknown() {
        let mut facts = facts();
        Recorder::default().facts(&mut facts);
        assert_eq!(facts["env.JWT"], Fact::unknown(NO_KEY));
        assert!(!format!("{facts:?}").contains("hunter2"));
    }

    #[test]
    fn a_token_in_an_experiment_is_found_by_its_place() {
        let at = |json: Value| token_in(&json);
        let (path, why) =
            at(serde_json::json!({"params": {"command": ["x", "--password=hunter2"]}})).unwrap();
        assert_eq!((path.as_str(), why), ("params.command.1", Suspect::Named));
        let (path, _) = at(serde_json::json!({"controls": {"env.DB_PASSWORD": "xyz"}})).unwrap();
        assert_eq!(path, "controls.env.DB_PASSWORD");
        let (path, why) = at(serde_json::json!({"args": ["curl", "-u", "eve:hunter2"]})).unwrap();
        assert_eq!((path.as_str(), why), ("args", Suspect::Login));
        let bare = |value: &str| serde_json::json!({"argv": ["prog", "password", value]});
        assert_eq!(at(bare("hunter2")).unwrap().0, "argv");
        for kept in [
            bare("reset"),
            serde_json::json!({"argv": ["sort", "key", "2"]}),
            serde_json::json!({"columns": ["user", "password", "sha256x4"]}),
        ] {
            assert_eq!(at(kept), None);
        }
        assert_eq!(at(serde_json::json!({"params": {"command": "sleep 1", "token": "$T"}})), None);
    }

    #[test]
    fn a_log_without_tokens_stays_byte_for_byte() {
        assert_eq!(Recorder::log(b"\xff ok"), Cow::Borrowed(&b"\xff ok"[..]));
        assert_eq!(&*Recorder::log(b"password=hunter2\n"), b"password=[token]\n");
    }
}
