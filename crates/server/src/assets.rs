//! The style sheet and the script of the pages.

use assay_report::page;

/// The style sheet: that of published pages, and what only a server's pages have.
pub(crate) fn style() -> String {
    format!("{}{}", page::style(), include_str!("assets/server.css"))
}

/// The script of published pages: read-outs and keys on charts.
pub(crate) const CHARTS: &str = page::SCRIPT;

/// The script of a server's pages: signing in, and what moves; before it the charts of the monitors.
pub(crate) fn server() -> String {
    let charts: Vec<serde_json::Value> = assay_observe::charts()
        .iter()
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
    format!("\"use strict\";\nconst CHARTS = {charts};\n{}", include_str!("assets/server.js"))
}
