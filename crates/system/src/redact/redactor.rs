//! Filters what leaves the archive.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::redact::key::RedactionKey;
use crate::redact::names::HiddenNames;
use crate::redact::recorder::{Recorder, arguments};
use crate::redact::token::{TOKEN, find, first_token, is_secret_of, proof_of, without_tokens};

/// Kind of a replaced text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplacementKind {
    /// A value that looks like a token.
    Token,
    /// The value of an unlisted environment variable, kernel parameter or mount option.
    Value,
    /// The name of a machine.
    Host,
    /// The name of a user on a machine.
    User,
    Home,
    /// A share of a network file system.
    Share,
}

impl ReplacementKind {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            ReplacementKind::Token => "token",
            ReplacementKind::Value => "value",
            ReplacementKind::Host => "host name",
            ReplacementKind::User => "user name",
            ReplacementKind::Home => "home folder",
            ReplacementKind::Share => "network share",
        }
    }
}

/// A replaced text and the number of its replacements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedText {
    pub kind: ReplacementKind,
    /// The replaced text if it is not secret, such as a fact's path or a host's name; for a token,
    /// the file and the reason.
    pub what: String,
    /// The text that took its place.
    pub by: String,
    /// Number of times that it was replaced.
    pub times: u64,
}

/// Redacts files and texts that leave an archive.
#[derive(Debug)]
pub struct Redactor {
    recorder: Recorder,
    key: RedactionKey,
    /// The names to replace; `None` for output that only the archive's owner sees.
    names: Option<HiddenNames>,
    found: Mutex<BTreeMap<(ReplacementKind, String, String), u64>>,
}

/// Keys whose values are vocabulary, numbers as text, hashes or packed data, and never a person's
/// text.
const VERBATIM: [&str; 22] = [
    "schema_version",
    "hdr",
    "prev",
    "sha256",
    "experiment_sha256",
    "plan_sha256",
    "record_sha256",
    "ledger_sha256",
    "outcome",
    "better",
    "kind",
    "unit",
    "x_unit",
    "event",
    "state",
    "phase",
    "result",
    "severity",
    "id",
    "at",
    "started_at",
    "taken_at",
];

/// Fact with the names of a run's nodes.
const NODES: &str = "cluster.node_names";

impl Redactor {
    /// Makes a redactor for the archive's owner: replaces tokens and values of unlisted variables,
    /// but keeps names.
    pub fn secrets(key: RedactionKey, also: Vec<String>) -> Self {
        let recorder = Recorder { key: Some(key.clone()), also };
        Redactor { recorder, key, names: None, found: Mutex::default() }
    }

    /// Makes a redactor for publications: also replaces names of machines and people, home folders
    /// and network shares.
    pub fn publication(key: RedactionKey, also: Vec<String>, names: HiddenNames) -> Self {
        Redactor { names: Some(names), ..Redactor::secrets(key, also) }
    }

    /// Returns the replacements made so far.
    pub fn found(&self) -> Vec<ReplacedText> {
        let found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let rows = found.iter().map(|((kind, what, by), times)| {
            let (what, by) = (what.clone(), by.clone());
            ReplacedText { kind: *kind, what, by, times: *times }
        });
        rows.collect()
    }

    fn count(&self, kind: ReplacementKind, what: &str, by: &str) {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *found.entry((kind, what.to_owned(), by.to_owned())).or_default() += 1;
    }

    /// Redacts a file of a run, given its name within the run. Returns `None` if it is not text, so
    /// that its content is unknown.
    pub fn file<'a>(&self, name: &str, bytes: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let text = String::from_utf8_lossy(bytes);
        let clean = match name.rsplit('.').next() {
            // A program's output may contain anything.
            Some("log") => self.text(name, &text),
            _ if matches!(text, Cow::Owned(_)) => return None,
            Some("json") => self.json(name, &text),
            Some("jsonl") => self.lines(name, &text),
            Some("toml") => self.toml(name, &text),
            _ => self.text(name, &text),
        };
        Some(match clean {
            Cow::Borrowed(_) => Cow::Borrowed(bytes),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })
    }

    /// Redacts a text; `place` names its origin.
    pub fn text<'a>(&self, place: &str, text: &'a str) -> Cow<'a, str> {
        let clean = without_tokens(text);
        if let Cow::Owned(_) = &clean {
            for (_, why) in find(text) {
                self.count(
                    ReplacementKind::Token,
                    &format!("{place} (it {})", why.reason()),
                    TOKEN,
                );
            }
        }
        let Some(names) = self.names.as_ref().filter(|names| names.may_be_in(&clean)) else {
            return clean;
        };
        let named =
            names.remove(&clean, &self.key, &mut |kind, old, new| self.count(kind, old, new));
        if named == *clean { clean } else { Cow::Owned(named) }
    }

    fn lines<'a>(&self, name: &str, text: &'a str) -> Cow<'a, str> {
        let clean: Vec<Cow<'_, str>> = text.split('\n').map(|line| self.json(name, line)).collect();
        if clean.iter().all(|line| matches!(line, Cow::Borrowed(_))) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(clean.join("\n"))
    }

    fn toml<'a>(&self, name: &str, text: &'a str) -> Cow<'a, str> {
        let clean = self.text(name, text);
        let reads = |text: &str| text.parse::<toml::Table>();
        match reads(text) {
            // A name was also a keyword of the format, so change only the values.
            Ok(table) if reads(&clean).is_err() => {
                let Ok(mut value) = serde_json::to_value(&table) else { return clean };
                self.value(name, &mut Vec::new(), &mut value);
                let table = serde_json::from_value::<toml::Table>(value).ok();
                let written = table.and_then(|t| toml::to_string_pretty(&t).ok());
                written.map_or(clean, Cow::Owned)
            }
            _ => clean,
        }
    }

    /// Redacts JSON, changing only values that a person or a machine may have written.
    pub fn json<'a>(&self, name: &str, text: &'a str) -> Cow<'a, str> {
        if self.is_clean(text) {
            return Cow::Borrowed(text);
        }
        let Ok(mut value) = serde_json::from_str::<Value>(text) else {
            return self.text(name, text);
        };
        if !self.value(name, &mut Vec::new(), &mut value) {
            return Cow::Borrowed(text);
        }
        let pretty = text.trim_end().contains('\n');
        let written = if pretty {
            serde_json::to_string_pretty(&value)
        } else {
            serde_json::to_string(&value)
        };
        written.map_or_else(|_| Cow::Owned("null".into()), Cow::Owned)
    }

    /// True if a scan of the whole text shows that nothing in it would change, as for most records.
    /// Without facts only the texts matter, and a name or token in a part of the text is also
    /// visible in the whole. Exceptions are escapes, which hide characters and join neighbors
    /// (`\nghp_...`), hosts, which may be any word, and keys that suggest a secret, which may
    /// contain blanks.
    fn is_clean(&self, text: &str) -> bool {
        let named = |names: &HiddenNames| text.contains("\"host\"") || names.may_be_in(text);
        !text.contains('\\')
            && !text.contains("\"facts\"")
            && !text.contains("\"default\"")
            && !self.names.as_ref().is_some_and(named)
            && !keys(text).any(|key| proof_of(key).is_some())
            && first_token(text).is_none()
    }

    /// Redacts a value in place. Returns true if anything changed.
    fn value(&self, place: &str, path: &mut Vec<String>, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let Some(new) = self.string(place, path, text) else { return false };
                *text = new;
                true
            }
            Value::Array(items) => {
                let any = self.arguments(place, path.last().map_or("", |p| p), items);
                items.iter_mut().fold(any, |any, item| self.value(place, path, item) | any)
            }
            Value::Object(map) => {
                let keyed = path.last().is_some_and(|p| p == "facts" || p == "changed");
                let mut any = false;
                let nodes = map.get(NODES).and_then(|fact| fact["value"].as_str());
                let nodes = nodes.unwrap_or_default().to_owned();
                // In a kit's parameter, the name is next to the default.
                let name = map.get("name").and_then(Value::as_str).map(str::to_owned);
                for (key, item) in map.iter_mut() {
                    path.push(name.clone().filter(|_| key == "default").unwrap_or(key.clone()));
                    any |= self.value(place, path, item);
                    path.pop();
                }
                // Paths of facts contain names of nodes and folders.
                if keyed && self.names.is_some() {
                    let old = std::mem::take(map);
                    for (key, item) in old {
                        let clean = self.path(place, &key, &nodes);
                        any |= clean != key;
                        map.insert(clean, item);
                    }
                }
                any
            }
            _ => false,
        }
    }

    /// Redacts the path of a fact; that of a node begins with `node.` and its name.
    fn path(&self, place: &str, path: &str, nodes: &str) -> String {
        let own = |name| Some((name, path.strip_prefix("node.")?.strip_prefix(name)?));
        match nodes.split(' ').filter_map(own).find(|(_, rest)| rest.starts_with('.')) {
            Some((name, rest)) => format!("node.{}{}", self.node(name), self.text(place, rest)),
            None => self.text(place, path).into_owned(),
        }
    }

    fn node(&self, name: &str) -> String {
        self.host(name).unwrap_or_else(|| name.to_owned())
    }

    /// Redacts a command line in place, where an option and its value are two strings.
    fn arguments(&self, place: &str, name: &str, items: &mut [Value]) -> bool {
        let Some(line) = arguments(name, items) else { return false };
        let Cow::Owned(clean) = self.text(place, &line) else { return false };
        let words: Vec<&str> = clean.split('\0').collect();
        if words.len() != items.len() {
            return false;
        }
        items.iter_mut().zip(words).for_each(|(item, word)| *item = word.into());
        true
    }

    fn string(&self, place: &str, path: &[String], text: &str) -> Option<String> {
        let key = path.last().map_or("", String::as_str);
        let fact = path.iter().rposition(|p| p == "facts").and_then(|at| path.get(at + 1));
        if let Some(fact) = fact.filter(|_| key == "value") {
            return self.fact(place, fact, text);
        }
        if key == "host" {
            return self.host(text);
        }
        if VERBATIM.contains(&key) {
            return None;
        }
        if is_secret_of(key, text) {
            self.count(ReplacementKind::Token, &format!("{place}: {key}"), TOKEN);
            return Some(TOKEN.to_owned());
        }
        let Cow::Owned(new) = self.text(place, text) else { return None };
        Some(new)
    }

    /// Replaces a field that holds a machine's name, whatever word it is.
    fn host(&self, text: &str) -> Option<String> {
        let own = !text.is_empty() && text != "localhost" && !text.starts_with("host-");
        (self.names.is_some() && own).then(|| {
            let new = HiddenNames::host_stands_in(&self.key, text);
            self.count(ReplacementKind::Host, text, &new);
            new
        })
    }

    fn fact(&self, place: &str, path: &str, value: &str) -> Option<String> {
        if path.ends_with("host.name") || path == "cluster.node_list" {
            return self.host(value);
        }
        if path == NODES {
            let all: Vec<String> = value.split(' ').map(|name| self.node(name)).collect();
            return Some(all.join(" ")).filter(|all| all != value);
        }
        let mut new = match self.recorder.fact(path, value) {
            Ok(Cow::Borrowed(_)) => value.to_owned(),
            Ok(Cow::Owned(new)) => {
                let kind = if new.contains(TOKEN) {
                    ReplacementKind::Token
                } else {
                    ReplacementKind::Value
                };
                self.count(
                    kind,
                    path,
                    if kind == ReplacementKind::Token { TOKEN } else { "its hash" },
                );
                new
            }
            Err(reason) => reason.to_owned(),
        };
        if self.names.is_some() {
            if let Some(share) = path.contains("mount.").then(|| share(&new)).flatten() {
                let by = format!("share-{}", self.key.digits(&share, 6));
                self.count(ReplacementKind::Share, &share, &by);
                new = new.replacen(&share, &by, 1);
            }
            new = self.text(place, &new).into_owned();
        }
        (new != value).then_some(new)
    }
}

/// Returns the keys in a JSON text without escapes: the strings that are followed by a colon.
fn keys(text: &str) -> impl Iterator<Item = &str> {
    let mut pieces = text.split('"').skip(1);
    std::iter::from_fn(move || {
        loop {
            let (string, after) = (pieces.next()?, pieces.next()?);
            if after.trim_ascii_start().starts_with(':') {
                return Some(string);
            }
        }
    })
}

/// Returns the source of a mount (`KIND SOURCE OPTIONS`) if it is on another machine.
fn share(mount: &str) -> Option<String> {
    let (_, rest) = mount.split_once(' ')?;
    let (source, _) = rest.rsplit_once(' ')?;
    let remote = source.starts_with("//") || source.contains(":/") || source.contains('@');
    remote.then(|| source.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publication() -> Redactor {
        let mut names = HiddenNames::default();
        names.host("kestrel");
        names.home("/home/mallory");
        Redactor::publication(RedactionKey::new(*b"k"), Vec::new(), names)
    }

    #[test]
    fn values_change_and_the_format_does_not() {
        let r = publication();
        let text = r#"{"outcome":"kestrel","notes":["on kestrel"],"hdr":"q7Zt0XvB2mLk9RfWc4Ye8PnH",
            "x":1.5,
"host":"build","facts":{"host.name":{"value":"build.example.org"},"env.JWT":{"value":"abc"},
    "mount./home/mallory/x":{"value":"nfs nas:/vol rw"}},"api_token":"abc"}"#;
        let clean = r.json("system.json", text).into_owned();
        let value: Value = serde_json::from_str(&clean).unwrap();
        assert_eq!(value["outcome"], "kestrel");
        assert_eq!(value["hdr"], "q7Zt0XvB2mLk9RfWc4Ye8PnH");
        assert_eq!(value["x"], 1.5);
        assert_eq!(value["api_token"], TOKEN);
        assert!(value["notes"][0].as_str().unwrap().starts_with("on host-"));
        assert!(value["facts"]["env.JWT"]["value"].as_str().unwrap().starts_with("redacted:"));
        assert!(value["facts"]["mount.~/x"]["value"].as_str().unwrap().starts_with("nfs share-"));
        assert_eq!(value["host"], value["facts"]["host.name"]["value"]);
        assert!(value["host"].as_str().unwrap().starts_with("host-"));
        assert_eq!(r.json("system.json", &clean), clean, "done twice");
        let kinds: Vec<ReplacementKind> = r.found().iter().map(|f| f.kind).collect();
        for kind in [
            ReplacementKind::Token,
            ReplacementKind::Value,
            ReplacementKind::Host,
            ReplacementKind::Home,
            ReplacementKind::Share,
        ] {
            assert!(kinds.contains(&kind), "{kinds:?}");
        }
    }

    #[test]
    fn a_node_has_one_name_in_values_and_in_the_paths_of_its_facts() {
        let mut names = HiddenNames::default();
        names.host("kestrel");
        let r = Redactor::publication(RedactionKey::new(*b"k"), Vec::new(), names);
        let text = r#"{"host":"h1","also":{"host":"kestrel.example.org"},"facts":{
            "cluster.node_names":{"value":"h1 kestrel.example.org localhost"},
            "node.h1.kernel.arch":{"value":"aarch64"},"node.kestrel.example.org.os":{"value":"x"},
            "node.kestrel.example.org.os.name":{"value":"y"}}}"#;
        let clean = r.json("system.json", text).into_owned();
        let value: Value = serde_json::from_str(&clean).unwrap();
        let [first, second] = [&value["host"], &value["also"]["host"]].map(|h| h.as_str().unwrap());
        let facts = &value["facts"];
        assert_eq!(facts["cluster.node_names"]["value"], format!("{first} {second} localhost"));
        assert_eq!(facts[format!("node.{first}.kernel.arch")]["value"], "aarch64");
        assert_eq!(facts[format!("node.{second}.os")]["value"], "x");
        assert_eq!(facts[format!("node.{second}.os.name")]["value"], "y");
        assert_eq!(r.json("system.json", &clean), clean, "done twice");
    }

    #[test]
    fn what_an_escape_hides_is_found() {
        let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        for r in [publication(), Redactor::secrets(RedactionKey::new(*b"k"), Vec::new())] {
            let text = format!(r#"{{"notes":["text\n{token}"]}}"#);
            let clean = r.json("record.json", &text);
            assert_eq!(clean, r#"{"notes":["text\n[token]"]}"#);
        }
        let clean =
            publication().json("record.json", r#"{"notes":["on kestre\u006c"]}"#).into_owned();
        assert!(clean.contains("on host-"), "{clean}");
        let untouched = r#"{"number":1,"error":"exit code 3","changed":{"sysctl.x":"1"}}"#;
        assert!(matches!(publication().json("record.json", untouched), Cow::Borrowed(_)));
    }

    #[test]
    fn options_and_their_values_are_two_strings_in_json() {
        let text = r#"{"argv":["curl","-u","eve:hunter2","-H","X-Auth-Key: s3cr3t","host"]}"#;
        let clean = publication().json("x.json", text).into_owned();
        assert_eq!(clean, r#"{"argv":["curl","-u","[token]","-H","X-Auth-Key: [token]","host"]}"#);
    }

    #[test]
    fn the_default_of_a_parameter_goes_by_the_name_of_the_parameter() {
        let plan = |name: &str| {
            format!(r#"{{"params":[{{"default":"swordfish","help":"x","name":"{name}"}}]}}"#)
        };
        let clean = publication().json("plan.json", &plan("db_password")).into_owned();
        assert_eq!(clean, plan("db_password").replace("swordfish", TOKEN));
        assert_eq!(publication().json("plan.json", &plan("dataset")), plan("dataset"));
    }

    #[test]
    fn keys_are_what_a_colon_follows() {
        let text = r#"{"a b":["c",{"d" :"e:"}],"f"
:{}}"#;
        assert_eq!(keys(text).collect::<Vec<_>>(), ["a b", "d", "f"]);
        for text in ["", "no json", "\"cut", "\"cut\""] {
            assert_eq!(keys(text).count(), 0, "{text}");
        }
    }

    #[test]
    fn a_key_names_a_secret_with_blanks_and_at_any_length() {
        for key in ["password (old)".to_owned(), format!("{}_password", "a".repeat(90))] {
            let clean =
                publication().json("x.json", &format!(r#"{{"{key}":"hunter2x"}}"#)).into_owned();
            assert_eq!(clean, format!(r#"{{"{key}":"{TOKEN}"}}"#));
        }
    }

    #[test]
    fn the_owner_sees_names_and_no_secrets() {
        let r = Redactor::secrets(RedactionKey::new(*b"k"), Vec::new());
        let log = b"kestrel password=hunter2\n".as_slice();
        assert_eq!(&*r.file("trials/0001/stdout.log", log).unwrap(), b"kestrel password=[token]\n");
        assert_eq!(r.file("x.log", b"\xff").unwrap(), Cow::Borrowed(b"\xff".as_slice()));
        assert_eq!(r.file("x.jfr", b"\xff"), None);
    }

    #[test]
    fn an_experiment_stays_one() {
        let mut names = HiddenNames::default();
        names.host("name");
        let r = Redactor::publication(RedactionKey::new(*b"k"), Vec::new(), names);
        let text = "name = \"x\"\ntitle = \"on name\" # why\n";
        let clean = r.file("experiment.toml", text.as_bytes()).unwrap().into_owned();
        let table: toml::Table = String::from_utf8(clean).unwrap().parse().unwrap();
        // After the replacement, `host-1a2b3c = "x"` is still a valid key, so keys are replaced
        // too.
        assert!(table["title"].as_str().unwrap().starts_with("on host-"));
    }
}
