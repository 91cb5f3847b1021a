//! Renders the catalogue as a page of documentation.

use std::fmt::Write as _;

use assay_model::{CheckRow, CheckSection, Severities};

use crate::catalogue::catalogue;

/// Renders the whole catalogue in Markdown: a heading per section, a table row per check.
pub fn markdown() -> String {
    let mut out = HEAD.replace("{count}", &catalogue().len().to_string());
    for section in SECTIONS {
        let _ = write!(out, "\n## {}\n\n{COLUMNS}", section.title());
        for check in catalogue().iter().filter(|c| c.row.section == section) {
            row(check.row, &mut out);
        }
    }
    out
}

const SECTIONS: [CheckSection; 5] = [
    CheckSection::Environment,
    CheckSection::Workload,
    CheckSection::Statistics,
    CheckSection::Claims,
    CheckSection::Nodes,
];

const HEAD: &str = "# The catalogue

<!-- Made from the code by `make reference`; a test compares. -->

{count} checks decide if a comparison is sound. A check reads the recorded data: the experiment, the
plan, the ledger, the trials, the descriptions of the systems, the claim. It passes, reports
findings, does not apply (no price is stated, so no price can be wrong), or cannot run because data
is missing. A check that cannot run never counts as a pass: profile `lab` lists it, and in profile
`publish` it is a finding at the check's own severity.

*Invalid*: the number or claim must not be published. *Warning*: it is published together with the
message. *Note*: for information. A severity of one word holds in both profiles.
";

const COLUMNS: &str = "| id | name | severity | fires when | evidence | why | remedy | source |
|---|---|---|---|---|---|---|---|
";

fn row(c: &CheckRow, out: &mut String) {
    let severity = match c.escalation {
        "" => severities(c.severity),
        more => format!("{}; {more}", severities(c.severity)),
    };
    let cells = [c.id, c.name, &severity, c.fires, c.evidence, c.why, c.remedy, c.source];
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// Renders `warning`, or `note (lab), invalid (publish)` where the profiles differ.
fn severities(s: Severities) -> String {
    if s.lab == s.publish {
        return s.lab.name().to_owned();
    }
    format!("{} (lab), {} (publish)", s.lab.name(), s.publish.name())
}
