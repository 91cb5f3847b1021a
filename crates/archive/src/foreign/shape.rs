//! Which keys a JSON text has near its top. They distinguish formats; a text that is cut off or
//! wrong further down still has them.

use std::collections::BTreeSet;

/// How much of a file is looked at, and how many keys are kept.
const LOOK: usize = 1 << 20;
const MAX_KEYS: usize = 4096;
/// Keys deeper than this are passed over.
const DEPTH: usize = 3;

/// The keys of a JSON text by path: `results`, `results[].command`, `[].benchmark`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape(BTreeSet<String>);

impl Shape {
    /// The shape of a file. Text before the first line that starts with `{` or `[` is passed over.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let bytes = &bytes[..bytes.len().min(LOOK)];
        let mut start = 0;
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            if matches!(line.trim_ascii_start().first(), Some(b'{' | b'[')) {
                break;
            }
            start += line.len();
        }
        let mut scan = Scan { at: start, bytes, keys: BTreeSet::new(), stack: Vec::new() };
        scan.run();
        Shape(scan.keys)
    }

    /// Whether it has all of these.
    pub(super) fn has(&self, paths: &[&str]) -> bool {
        paths.iter().all(|p| self.0.contains(*p))
    }

    /// Whether a key at the top fulfils the condition.
    pub(super) fn any(&self, condition: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|key| condition(key))
    }
}

enum Frame {
    /// An object: its own path, and the key that was read last.
    Object(String, String),
    /// An array, with its path.
    Array(String),
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    keys: BTreeSet<String>,
    stack: Vec<Frame>,
}

impl Scan<'_> {
    fn run(&mut self) {
        // Where the next string stands: as a key of the innermost object, or as a value.
        let mut is_key = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'{' | b'[' => {
                    if self.stack.len() > 256 {
                        return;
                    }
                    let path = self.path();
                    is_key = byte == b'{';
                    self.stack.push(if is_key {
                        Frame::Object(path, String::new())
                    } else {
                        Frame::Array(path)
                    });
                }
                b'}' | b']' => {
                    self.stack.pop();
                    if self.stack.is_empty() {
                        return;
                    }
                    is_key = false;
                }
                b',' => is_key = matches!(self.stack.last(), Some(Frame::Object(..))),
                b'"' => {
                    let text = self.string();
                    if is_key {
                        self.key(&text);
                        is_key = false;
                    }
                }
                _ => {}
            }
        }
    }

    /// The path of a value that starts here.
    fn path(&self) -> String {
        match self.stack.last() {
            None => String::new(),
            Some(Frame::Object(own, key)) => joined(own, key),
            Some(Frame::Array(path)) => format!("{path}[]"),
        }
    }

    fn key(&mut self, text: &str) {
        let depth = self.stack.len();
        if let Some(Frame::Object(own, key)) = self.stack.last_mut() {
            text.clone_into(key);
            if depth <= DEPTH && self.keys.len() < MAX_KEYS {
                self.keys.insert(joined(own, key));
            }
        }
    }

    /// The string whose opening quote was passed; escapes are left as they are.
    fn string(&mut self) -> String {
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return String::from_utf8_lossy(&self.bytes[start..self.at - 1]).into_owned();
                }
                _ => self.at += 1,
            }
        }
        String::new()
    }
}

fn joined(own: &str, key: &str) -> String {
    if own.is_empty() { key.to_owned() } else { format!("{own}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_by_path_also_of_what_is_cut_off() {
        let text = br#"{"results": [{"command": "a \" {\"x\": 1}", "times": [1, 2], "p": {"n": {"deep": 1}}}], "tail": "cut"#;
        let shape = Shape::of(text);
        assert!(shape.has(&[
            "results",
            "results[].command",
            "results[].times",
            "results[].p",
            "tail"
        ]));
        assert!(!shape.any(|k| k.contains('x') || k.contains("deep")), "{shape:?}");
        assert!(Shape::of(b"note\n[{\"benchmark\": 1").has(&["[].benchmark"]));
        assert_eq!(Shape::of(b"no json"), Shape::default());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>, text in "[\"\\\\a0,{}\\[\\]:]{0,60}") {
            let _ = Shape::of(&bytes);
            let _ = Shape::of(text.as_bytes());
        }
    }
}
