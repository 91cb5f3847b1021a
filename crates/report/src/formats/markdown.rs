//! Writes a run as Markdown: the same numbers and sentences as the page, without charts.

use std::fmt::Write as _;

use crate::document::markdown::line;
use crate::document::{DocumentPart, Outputs, Parts, markdown, text};
use crate::gate::Gate;
use crate::parts;
use crate::view::RunView;

/// Writes the page of a run as GitHub-flavoured Markdown.
pub fn write(view: &RunView) -> String {
    let gate = Gate::from_view(view);
    let mut out = format!("# {}\n\n", line(view.title()));
    let s = &view.summary;
    let begun = if view.imported().is_some() { "imported" } else { "started" };
    let head = text("Run ")
        .code(s.id.to_string())
        .plain(" of experiment ")
        .code(s.experiment.clone())
        .plain(" (workload ")
        .code(s.workload.clone())
        .plain(format!(") on {}, {begun} {}, {}.", s.host, s.started_at, s.state.name()));
    let _ = writeln!(out, "{}\n", markdown::text(&head));
    let sections = [
        ("Significance", Some(parts::significance::significance(view, &gate))),
        ("Results", Some(parts::results::section(view, &gate, Outputs::Markdown))),
        ("What else changed", parts::explain::section(view, &gate)),
        ("Configuration", Some(parts::system::configuration(view))),
        ("Method", Some(parts::method::method(view))),
        ("Best practices", Some(parts::findings::findings(view))),
        ("Disclosure", Some(disclosure(view, &gate))),
    ];
    for (name, parts) in sections {
        if let Some(parts) = parts {
            let _ = write!(out, "## {name}\n\n{}", markdown::parts(&parts));
        }
    }
    let _ = writeln!(out, "Made by assay {}.", view.assay_version);
    out
}

fn disclosure(view: &RunView, gate: &Gate) -> Parts {
    let mut out = parts::trials::trials(view, gate);
    let plan = match view.plan_hash() {
        Some(hash) => text("Plan, SHA-256: ").code(hash),
        None => text("Plan, SHA-256: unknown"),
    };
    out.say(match &view.ledger_head {
        Some(head) => plan
            .plain(". Ledger head, SHA-256: ")
            .code(head.sha256.clone())
            .plain(format!(" (entry {}, the last).", head.seq)),
        None => plan.plain(". Ledger head, SHA-256: unknown: the ledger is empty."),
    });
    out.push(DocumentPart::Code("toml", view.experiment_toml.clone()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::summary_text;
    use crate::fixtures;

    #[test]
    fn reads_as_before() {
        for (name, view) in fixtures::all() {
            insta::assert_snapshot!(name, write(&view));
        }
    }

    #[test]
    fn withheld_numbers_are_not_printed() {
        let view = fixtures::withheld();
        let text = write(&view);
        assert!(text.contains("withheld: F17"));
        for s in &view.analysis.summaries {
            assert!(!text.contains(&summary_text(s)));
        }
    }
}
