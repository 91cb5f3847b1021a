//! `composite.xml` of the Phoronix Test Suite. A test with its description is a benchmark; the
//! numbers of its runs are repetitions.

use std::borrow::Cow;

use assay_model::Better;

use crate::readers::file::lines::unescaped;
use crate::readers::file::unit::base;
use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    json::head(bytes).contains("<PhoronixTestSuite>")
}

/// Returns the contents of the elements with this name that are not inside another of them.
fn elements<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(&open)? + open.len();
        let end = start + rest[start..].find(&close)?;
        let content = &rest[start..end];
        rest = &rest[end + close.len()..];
        Some(content)
    })
}

/// Returns the text of the first element with this name; empty without one.
fn text<'a>(of: &'a str, name: &str) -> Cow<'a, str> {
    unescaped(elements(of, name).next().unwrap_or_default().trim())
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::text(bytes);
    if !file.trim_end().ends_with("</PhoronixTestSuite>") {
        return Err(Flaw::whole("it does not end with </PhoronixTestSuite>, so it was cut off"));
    }
    let mut suite = SuiteReader::new("Phoronix Test Suite", "phoronix");
    let several = elements(&file, "System").count() > 1;
    for result in elements(&file, "Result") {
        let names = [text(result, "Title"), text(result, "Description")];
        let name = names.iter().filter(|n| !n.is_empty()).map(AsRef::as_ref).collect::<Vec<_>>();
        let name = name.join(", ");
        let printed = text(result, "Scale");
        let scale = match printed.as_ref() {
            "Seconds" => "s",
            "Milliseconds" | "ms" => "ms",
            "Microseconds" => "us",
            "Nanoseconds" => "ns",
            other => other,
        };
        let better = match text(result, "Proportion").as_ref() {
            "LIB" => Better::Lower,
            "HIB" => Better::Higher,
            _ => Better::Neither,
        };
        let systems: Vec<&str> = elements(result, "Entry").collect();
        for entry in &systems {
            let (value, raw) = (text(entry, "Value"), text(entry, "RawString"));
            let of_system = text(entry, "Identifier");
            let name = if several || systems.len() > 1 {
                format!("{name}, {of_system}")
            } else {
                name.clone()
            };
            if value.is_empty() {
                suite.fail(&name, "it has no value")?;
                continue;
            }
            let Some(mean) = number(&value) else {
                // A result may be a picture or a text.
                suite.note(format!("{name}: `{value}` is not a number"));
                continue;
            };
            let (mean, unit) = base(mean, scale);
            let runs: Option<Vec<f64>> =
                raw.split(':').map(|r| Some(base(number(r)?, scale).0)).collect();
            // The mean is rounded to the digits of its runs.
            let figures = Figures {
                values: runs.as_deref().unwrap_or_default(),
                mean: Some(mean),
                resolution: 0.01 * base(1.0, scale).0,
                ..Figures::default()
            };
            let metric = if unit == "s" { "time" } else { "value" };
            suite.add(&name, &[(metric, Some(mean), &unit, better)])?.hold(&[metric], &figures);
        }
    }
    suite.finish("give the composite.xml of a result")
}
