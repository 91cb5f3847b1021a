//! The front matter of a template: TOML between two lines of `+++`.

use std::collections::BTreeMap;
use std::ops::Range;

use assay_quoted::quoted::is_date;
use serde::Deserialize;

use super::error::{Result, TemplateText, suggestion};

/// The front matter of a template.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FrontMatter {
    /// Title of the post.
    pub title: String,
    /// One sentence below the title.
    pub summary: String,
    /// Day of the post, by which a site orders posts; by default the day at the start of the file's
    /// name.
    pub date: Option<String>,
    /// Topics by which a site groups posts.
    pub tags: Vec<String>,
    /// Day on which the post's statements are true (`2009-08-27`).
    pub as_of: Option<String>,
    /// Landscape that `rank` and `landscape` use if none is named.
    pub landscape: Option<String>,
    /// Holder of the licence under which the quoted results were measured, if a benchmark's rules
    /// require it to be stated.
    pub licensee: Option<String>,
    /// Day on which the quoted results were retrieved from their sources.
    pub retrieved: Option<String>,
    /// Addresses of further reading, printed below the disclosure.
    pub sources: Vec<String>,
    /// Trademark notes in addition to those of the quoted results.
    pub trademarks: Vec<String>,
    /// Runs of the archive, by the names that the template uses for them.
    pub runs: BTreeMap<String, RunSpec>,
}

/// The run that a name refers to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Selector of the run: `last`, an id or a part of one, `experiment:NAME` or `tag:NAME` (the
    /// newest completed run).
    pub run: String,
    /// Experiment file that makes such a run.
    pub experiment: String,
}

/// Parses the front matter; also returns the byte at which the Markdown begins.
pub(super) fn read(text: TemplateText<'_>) -> Result<(FrontMatter, usize)> {
    let Some(rest) = text.text.strip_prefix("+++\n") else {
        return Err(text.error(
            0..text.text.find('\n').unwrap_or(text.text.len()),
            "the template does not begin with front matter",
            "begin with a line `+++`, then TOML such as `title = \"...\"`, then a line `+++`",
        ));
    };
    let Some(end) = end_of(rest) else {
        let help = "end it with a line `+++`";
        return Err(text.error(0..3, "the front matter is never closed", help));
    };
    let toml = &rest[..end.start];
    let front: FrontMatter = toml::from_str(toml).map_err(|e| {
        let span = e.span().map_or(4..4, |s| s.start + 4..s.end + 4);
        text.error(span, e.message().trim().to_owned(), help(e.message()))
    })?;
    let body = 4 + end.end;
    let days = [("date", &front.date), ("as_of", &front.as_of), ("retrieved", &front.retrieved)];
    for (key, day) in days {
        if let Some(day) = day.as_ref().filter(|d| !is_date(d)) {
            let at = key_at(toml, key) + 4;
            let message = format!("`{day}` is not a date");
            return Err(text.error(at..at + key.len(), message, "write it as 2009-08-27"));
        }
    }
    if front.title.trim().is_empty() {
        return Err(text.error(0..3, "the front matter has no title", "add `title = \"...\"`"));
    }
    Ok((front, body))
}

/// Returns the byte at which the line of a key begins.
fn key_at(toml: &str, key: &str) -> usize {
    let lines = toml.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let is_key =
        |line: &str| line.strip_prefix(key).is_some_and(|r| r.trim_start().starts_with('='));
    lines.into_iter().find(|(_, line)| is_key(line)).map_or(0, |(at, _)| at)
}

/// Returns the bytes in `rest` of the closing `+++` line, with its newline.
fn end_of(rest: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "+++" {
            return Some(at..at + line.len());
        }
        at += line.len();
    }
    None
}

/// Returns the most similar known key, if the message is about an unknown one.
fn help(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next().filter(|_| message.starts_with("unknown field")) {
        Some(unknown) => suggestion(unknown, &quoted.collect::<Vec<_>>()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(text: &str) -> Result<(FrontMatter, usize)> {
        read(TemplateText { name: "x.md", text })
    }

    #[test]
    fn the_markdown_begins_after_it() {
        let text =
            "+++\ntitle = \"T\"\n[runs.a]\nrun = \"last\"\nexperiment = \"e.toml\"\n+++\nHello";
        let (f, body) = front(text).unwrap();
        assert_eq!((f.title.as_str(), &text[body..]), ("T", "Hello"));
        assert_eq!(f.runs["a"].experiment, "e.toml");
    }

    #[test]
    fn mistakes_are_placed() {
        let e = front("+++\ntitel = \"T\"\n+++\n").unwrap_err().to_string();
        assert!(e.contains("x.md:2:1") && e.contains("did you mean `title`?"), "{e}");
        let e = front("+++\ntitle = \"T\"\nas_of = \"2009-02-30\"\n+++\n").unwrap_err().to_string();
        assert!(e.contains("x.md:3:1") && e.contains("not a date"), "{e}");
        let e = front("+++\ntitle = \"update\"\ndate = \"soon\"\n+++\n").unwrap_err().to_string();
        assert!(e.contains("x.md:3:1") && e.contains("`soon` is not a date"), "{e}");
        assert!(front("Hello").unwrap_err().to_string().contains("does not begin with"));
        assert!(front("+++\nHello").unwrap_err().to_string().contains("never closed"));
        assert!(front("+++\n+++\n").unwrap_err().to_string().contains("no title"));
    }
}
