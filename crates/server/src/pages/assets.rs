//! Style sheet and scripts of the pages.

use assay_report::page;
use axum::http::header::CONTENT_TYPE;

use super::get;
use crate::app::Routes;

pub(super) fn router() -> Routes {
    let asset = |kind: &'static str, text: String| {
        get(move || async move { ([(CONTENT_TYPE, kind)], text) })
    };
    let script = "text/javascript; charset=utf-8";
    Routes::new()
        .route("/assets/style.css", asset("text/css; charset=utf-8", style()))
        .route("/assets/charts.js", asset(script, page::SCRIPT.to_owned()))
        .route("/assets/server.js", asset(script, server()))
}

/// Returns the style sheet: the one of published pages, then the rules for the server's pages.
fn style() -> String {
    format!("{}{}", page::style(), include_str!("../assets/server.css"))
}

/// Returns the script of the server's pages: live charts, the submission form and signing in. The
/// definitions of the monitors' charts come first. A function around it keeps its names apart from
/// the script of published pages, which is loaded on the same pages.
fn server() -> String {
    // Charts with a small panel for each subject are only drawn on static pages.
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
        include_str!("../assets/moving.js"),
        include_str!("../assets/live.js"),
        include_str!("../assets/submit.js"),
        include_str!("../assets/server.js"),
    ];
    format!("(() => {{\n\"use strict\";\nconst CHARTS = {charts};\n{}}})();\n", parts.concat())
}
