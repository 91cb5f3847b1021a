//! The document around a page: head, style, script and content security policy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

const STYLE: &str = concat!(include_str!("style.css"), include_str!("tabs.css"));
/// Script of every page: flame graphs, charts and tabs.
pub const SCRIPT: &str =
    concat!(include_str!("flame.js"), include_str!("page.js"), include_str!("tabs.js"));

/// Returns the style sheet of every page.
pub fn style() -> String {
    format!("{}{STYLE}", assay_chart::STYLE)
}

/// Renders the whole document around a page.
pub fn page(title: &str, body: &Markup) -> String {
    document(title, &html! {}, &style(), &[SCRIPT], body)
}

/// Renders the whole document, with a link that skips everything above its `main`.
pub fn skippable(title: &str, skip: &str, body: &Markup) -> String {
    page(title, &html! { a.skip href="#main" { (skip) } (body) })
}

/// Renders the line at the end of a page: the version of assay that made it, and a sentence.
pub fn footer(version: &str, sentence: &str) -> Markup {
    html! { footer { p { "Made by assay " (version) "." (sentence) } } }
}

/// Renders the whole document with additional head elements, a style sheet and scripts.
pub fn document(
    title: &str,
    head: &Markup,
    style: &str,
    scripts: &[&str],
    body: &Markup,
) -> String {
    let scripts_allowed: Vec<String> = scripts.iter().map(|s| format!("'{}'", hash(s))).collect();
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src {}; img-src data:; \
        base-uri 'none'; form-action 'none'",
        hash(style),
        scripts_allowed.join(" "),
    );
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="assay";
                title { (title) }
                (head)
                link rel="icon" href="data:,";
                style { (PreEscaped(style)) }
            }
            body {
                (body)
                @for script in scripts { script { (PreEscaped(script)) } }
            }
        }
    };
    document.into_string()
}

/// Returns the source expression of a text for a content security policy: `sha256-...`.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
