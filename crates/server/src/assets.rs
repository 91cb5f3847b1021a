//! The style sheet and the script of the pages.

use assay_report::page;

/// The style sheet: that of published pages, and what only a server's pages have.
pub(crate) fn style() -> String {
    format!("{}{}", page::style(), include_str!("assets/server.css"))
}

/// The script of published pages: read-outs and keys on charts.
pub(crate) const CHARTS: &str = page::SCRIPT;

/// The script of a server's pages: what moves, signing in; before it the charts of the monitors. Its names are
/// its own: the script of published pages stands on the same page.
pub(crate) fn server() -> String {
    // A chart of each subject is for a page that does not move.
    let charts: Vec<serde_json::Value> = assay_observe::charts()
        .iter()
        .filter(|drawing| !drawing.chart.each)
        .map(|drawing| {
            let fields: Vec<_> = drawing.fields.iter().map(|(f, word)| (f.name, word)).collect();
            serde_json::json!({
                "title": drawing.chart.title,
                "monitor": drawing.monitor,
                "subject": drawing.chart.subject,
                "stacked": drawing.chart.stacked,
                "fields": fields,
            })
        })
        .collect();
    let charts = serde_json::Value::Array(charts);
    let parts = [
        include_str!("assets/moving.js"),
        include_str!("assets/live.js"),
        include_str!("assets/submit.js"),
        include_str!("assets/server.js"),
    ];
    format!("(() => {{\n\"use strict\";\nconst CHARTS = {charts};\n{}}})();\n", parts.concat())
}
