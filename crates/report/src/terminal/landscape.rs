//! A landscape in a terminal, and the list of all landscapes.

use assay_quoted::denominator::Matrix;
use assay_quoted::landscape::{Landscape, Listing};

use super::Style;
use crate::document::{DocumentPart, Parts, Tone, terminal};
use crate::parts::landscape as parts;

/// Formats the heading, the findings, the tables and the notes for reading them.
pub fn landscape(landscape: &Landscape, style: Style) -> String {
    let mut all = Parts::default();
    all.push(DocumentPart::Paragraph(Tone::Strong, landscape.heading().into()));
    all.append(parts::results(landscape));
    for note in parts::notes(landscape) {
        all.say(note);
    }
    terminal::parts(&all, style)
}

/// Formats the systems by denominator.
pub fn matrix(matrix: &Matrix, unit: &str, style: Style) -> String {
    terminal::parts(&parts::matrix(matrix, unit, None), style)
}

/// Formats the list of all landscapes.
pub fn landscape_list(list: &[Listing], style: Style) -> String {
    let (defined, files): (Vec<&Listing>, Vec<&Listing>) =
        list.iter().partition(|l| !l.title.is_empty());
    let mut all = Parts::default();
    let pairs = defined.iter().map(|l| (l.name.clone(), l.title.clone()));
    all.push(DocumentPart::Pairs(pairs.collect()));
    if !files.is_empty() {
        let names: Vec<&str> = files.iter().map(|l| l.name.as_str()).collect();
        all.say(format!("Files of results without a definition: {}.", names.join(", ")));
    }
    terminal::parts(&all, style)
}

#[cfg(test)]
mod tests {
    use assay_model::{Better, Interval, MetricKind};
    use assay_quoted::denominator::{Denominator, DenominatorCounts};
    use assay_quoted::landscape::{Collection, MeasuredLine, Query};

    use assay_chart::axes::text::columns as width_of;

    use super::*;
    use crate::terminal::Glyphs;

    fn shown(name: &str, query: &Query) -> Landscape {
        Collection::built_in().unwrap().landscape(name, query).unwrap()
    }

    fn all() -> Vec<(&'static str, String)> {
        texts_at(Style::default())
    }

    fn texts_at(style: Style) -> Vec<(&'static str, String)> {
        let day = Query { as_of: Some("2009-08-27".to_owned()), ..Query::default() };
        let by_core = Query { per: vec![Denominator::Core], ..day.clone() };
        let mut turned = shown("specjbb2005", &by_core);
        turned.check_denominators(&[Denominator::Core], false, assay_model::Profile::Lab);
        let mut mixed = shown("memcached", &Query::default());
        let run = MeasuredLine {
            run: "20260102-030405-abcd".to_owned(),
            workload: "memcached".to_owned(),
            system: "here (threads=4)".to_owned(),
            processor: Some("Example 9000".to_owned()),
            os: Some("Debian".to_owned()),
            metric: "throughput".to_owned(),
            unit: "ops/s".to_owned(),
            better: Better::Higher,
            value: 300_000.0,
            interval: Some(Interval { low: 295_000.0, high: 305_000.0, level: 0.95 }),
            counts: DenominatorCounts { cores: Some(4.0), ..DenominatorCounts::default() },
            day: "2026-01-02".to_owned(),
            kind: MetricKind::Measured,
        };
        mixed.add_measured(&[run]).unwrap();
        let t5240 = shown("specjbb2005-t5240", &Query::default());
        let early = Query { as_of: Some("2001-01-01".to_owned()), ..Query::default() };
        vec![
            ("list", landscape_list(&Collection::built_in().unwrap().list(), style)),
            ("specjbb2005", landscape(&shown("specjbb2005", &day), style)),
            ("specjbb2005-per-core", landscape(&turned, style)),
            (
                "speccpu2006-fp-rate",
                landscape(&shown("speccpu2006-fp-rate", &Query::default()), style),
            ),
            ("gcc-studio", landscape(&shown("gcc-studio-autopar", &Query::default()), style)),
            ("nastran", landscape(&shown("nastran", &Query::default()), style)),
            ("memcached-mixed", landscape(&mixed, style)),
            ("nothing", landscape(&shown("specjbb2005", &early), style)),
            ("matrix", matrix(&t5240.matrix(), &t5240.unit, style)),
        ]
    }

    #[test]
    fn landscapes_read_as_before_at_80_columns() {
        for (what, text) in all() {
            insta::assert_snapshot!(format!("landscape-{what}"), text);
        }
    }

    #[test]
    fn landscapes_fit_and_are_plain() {
        for width in [1, 20, 33, 40, 60, 80, 100, 200] {
            for (what, text) in texts_at(Style { width, glyphs: Glyphs::Ascii, colour: false }) {
                for line in text.lines() {
                    assert!(width_of(line) <= width.max(20), "{what} at {width}: {line}");
                    assert!(line.is_ascii(), "{what}: {line}");
                }
            }
        }
    }
}
