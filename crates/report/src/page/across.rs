//! Runs side by side, as parts of a page: the runs, ratios, and what else differed.

use assay_model::{Across, Difference, RunSummary};
use maud::{Markup, html};

use super::findings;
use super::parts::{badge, table_box};
use crate::figures::{across_heading, across_value, ratio_text};

/// What differences of a class do to a comparison.
const CLASSES: [(&str, &str); 5] = [
    ("hard", "explains results: with it there is no comparison"),
    ("unknown", "not readable in one of the systems: at least soft"),
    ("soft", "might explain a result"),
    ("factor", "meant to differ"),
    ("entailed", "follows from what is meant"),
];

/// The runs, their values and ratios by treatment, the findings and the differences. `link` is where a
/// run's own page is, if it has one; `runs` are in the order of [`Across::runs`].
pub fn across(
    runs: &[RunSummary],
    across: &Across,
    link: &dyn Fn(&str) -> Option<String>,
) -> Markup {
    html! {
        (list(runs, link))
        (findings::list(&across.findings))
        h2 { "Values and ratios" }
        p { (across.metric) @if !across.better.words().is_empty() { ", " (across.better.words()) } @if !across.compared.is_empty() { "; compared: " (across.compared) } "." }
        (values(across))
        h2 { "What else differed" }
        (differences(&across.differences))
    }
}

fn list(runs: &[RunSummary], link: &dyn Fn(&str) -> Option<String>) -> Markup {
    let head = html! {
        th scope="col" { "" } th scope="col" { "run" } th scope="col" { "experiment" }
        th scope="col" { "host" } th scope="col" { "started (UTC)" } th scope="col" { "state" }
    };
    let rows = html! {
        @for (i, s) in runs.iter().enumerate() {
            tr {
                th scope="row" { "#" (i + 1) }
                td { @if let Some(to) = link(s.id.as_str()) { a href=(to) { (s.id) } } @else { code { (s.id) } } }
                td { (s.experiment) } td { (s.host) }
                td { (s.started_at.replace('T', " ").trim_end_matches('Z')) }
                td { (s.state.name()) }
            }
        }
    };
    table_box("The runs; the first is the baseline", &head, &rows)
}

fn values(across: &Across) -> Markup {
    let head = html! {
        th scope="col" { "treatment" } th scope="col" { "run" } th scope="col" class="num" { "n" }
        th scope="col" class="num" { (across_heading(across)) }
        th scope="col" class="num" { "ratio to #1" } th scope="col" { "verdict" }
    };
    let rows = html! {
        @for row in &across.rows {
            @for (i, (summary, comparison)) in row.summaries.iter().zip(&row.comparisons).enumerate() {
                tr {
                    th scope="row" { (row.label) }
                    td { "#" (i + 1) }
                    td class="num" { @if let Some(s) = summary { (s.n) } }
                    td class="num" { (across_value(row, i, &across.unit)) }
                    @if let Some(c) = comparison {
                        td class="num" { (ratio_text(c)) }
                        td { (badge(c.verdict)) @if !c.reason.is_empty() { " " span class="soft" { (c.reason) } } }
                    } @else { td {} td {} }
                }
            }
        }
    };
    table_box("Each later run against the first, by treatment", &head, &rows)
}

fn differences(all: &[Difference]) -> Markup {
    let head = html! {
        th scope="col" { "fact" } th scope="col" { "#1" } th scope="col" { "another" } th scope="col" { "run" }
    };
    html! {
        @if all.is_empty() { p { "No recorded fact of the systems differs." } }
        @for (class, meaning) in CLASSES {
            @let of: Vec<&Difference> = all.iter().filter(|d| d.class == class).collect();
            @if !of.is_empty() {
                @let rows = html! {
                    @for d in &of {
                        tr { th scope="row" { (d.path) @if let Some(why) = &d.accepted { " " span class="soft" { "accepted: " (why) } } } td class="text" { (d.a) } td class="text" { (d.b) } td { (d.run) } }
                    }
                };
                @let table = table_box(&format!("{class}: {meaning}"), &head, &rows);
                @if class == "hard" { (table) }
                @else { details { summary { (class) " (" (of.len()) "): " (meaning) } (table) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::percentile_text;
    use crate::fixtures;

    #[test]
    fn a_page_says_what_the_terminal_says() {
        let view = fixtures::commands();
        let runs = [view.summary.clone(), view.summary.clone()];
        let mut accepted = fixtures::across(&view);
        let soft = accepted.differences.iter_mut().find(|d| d.class == "soft").unwrap();
        soft.accepted = Some("nothing reads it".to_owned());
        let percentile = fixtures::across_percentile(&view);
        assert_eq!(across_heading(&percentile), "merged");
        for made in [accepted, percentile] {
            let page = across(&runs, &made, &|id| Some(format!("/runs/{id}"))).into_string();
            let terminal = crate::terminal::across(&runs, &made, crate::terminal::Style::default());
            for c in made.rows.iter().flat_map(|r| r.comparisons.iter().flatten()) {
                let ratio = ratio_text(c);
                assert!(page.contains(&ratio) && terminal.contains(&ratio), "{ratio}");
            }
            for reason in made.differences.iter().filter_map(|d| d.accepted.as_ref()) {
                assert!(page.contains(reason) && terminal.contains(reason), "{reason}");
            }
            let heading = across_heading(&made);
            assert!(page.contains(heading) && terminal.contains(heading));
            for (row, run) in made.rows.iter().flat_map(|r| [(r, 0), (r, 1)]) {
                let shown = across_value(row, run, &made.unit);
                assert!(page.contains(&shown) && terminal.contains(&shown), "{shown}");
                if let Some(merged) = row.percentiles.get(run).and_then(Option::as_ref) {
                    assert_eq!(shown, percentile_text(merged, &made.unit));
                }
            }
            for hard in made.differences.iter().filter(|d| d.class == "hard") {
                assert!(page.contains(&hard.path));
            }
        }
    }
}
