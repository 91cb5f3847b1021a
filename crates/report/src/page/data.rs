//! Embeds data in a page: the analysis as JSON, and files as download links.

use assay_model::{Analysis, RunSummary, SCHEMA_VERSION};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::gate::Gate;
use crate::view::RunView;

#[derive(Serialize)]
struct PageData<'a> {
    schema_version: u32,
    assay: &'a str,
    summary: &'a RunSummary,
    plan_sha256: Option<&'a str>,
    withheld: Vec<String>,
    analysis: &'a Analysis,
}

/// Returns the analysis of a run as JSON, without the withheld numbers.
pub fn analysis(view: &RunView, gate: &Gate) -> String {
    let mut summary = view.summary.clone();
    if gate.treatment(view.plan.baseline).is_some() {
        summary.value = None;
    }
    let block = PageData {
        schema_version: SCHEMA_VERSION,
        assay: &view.assay_version,
        summary: &summary,
        plan_sha256: view.plan_hash(),
        withheld: gate.withheld.iter().map(|w| format!("{}: {}", w.what, w.text())).collect(),
        analysis: &gate.analysis,
    };
    // These types have no map whose keys JSON does not allow, so serialization cannot fail.
    serde_json::to_string(&block).unwrap_or_else(|_| "null".to_owned())
}

/// Renders `<script type="application/json" id="data">`: data that no browser executes. `<` is
/// escaped so that nothing inside can end the element.
pub fn json(what: &impl Serialize) -> Markup {
    let json = serde_json::to_string(what).unwrap_or_else(|_| "null".to_owned());
    let json = PreEscaped(json.replace('<', "\\u003c"));
    html! { script type="application/json" id="data" { (json) } }
}
