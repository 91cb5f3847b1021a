//! Comparison of runs side by side, and the page to choose the runs.

use std::sync::Arc;

use assay_model::{Across, Difference, RunSummary, fact_groups, folded_facts};
use assay_quoted::denominator::Denominator;
use assay_report::RunView;
use assay_report::page::{ChosenDenominator, Prices, ShownComparison, side_by_side};
use maud::{Markup, html};

use super::fields::{button, field, hidden, option};
use super::run_list::{rows, runs_with_headlines};
use super::{PageResult, Section, choice, document, get, shell, url};
use crate::api::runs::{CompareQuery, compare_runs, run_id};
use crate::app::{App, Routes, Server};
use crate::error::Refusal;
use crate::http::extract::{Params, State};
use crate::searches::RunQuery;

/// Number of runs to choose from.
const OFFERED: u32 = 20;

pub(super) fn router() -> Routes {
    Routes::new().route("/compare", get(page))
}

async fn page(State(app): Server, Params(pairs): Params<Vec<(String, String)>>) -> PageResult {
    let text = pairs.iter().find(|(name, _)| name == "text").map(|(_, text)| text.clone());
    let query = read_query(pairs);
    if !query.runs.contains(',') {
        return choose(&app, &query, &text.unwrap_or_default()).await;
    }
    let per = match query.per.trim() {
        "" => None,
        name => Some(name.parse::<Denominator>().map_err(|e| Refusal::bad(e.to_string()))?),
    };
    let prices = prices(&query)?;
    let compared = compare_runs(&app, &query).await?;
    let page = app.heavy(move |app| {
        let views: Vec<&RunView> = compared.views.iter().map(|v| &**v).collect();
        let both = &compared.side_by_side;
        let shown = ShownComparison::new(&views, &both.across, &both.io);
        let under = ChosenDenominator { per, prices };
        let link = |id: &str| Some(format!("/runs/{id}"));
        let before = html! {
            (open_differences(&query, &both.across))
            (denominators(&query, per))
        };
        let choose = html! { p { a href="/compare" { "Choose runs" } } };
        let another = html! { h2 { "Another comparison" } (choose) (form(&query)) };
        let more = Some(("another", "Another comparison", another));
        let body = html! {
            header {
                h1 { "Compare " (views.len()) " runs" }
                (baseline(&query, &views))
            }
            (side_by_side(&views, &shown, &under, &link, &before, more))
        };
        Ok(document(app, "Compare", Section::Compare, &body))
    });
    page.await
}

/// Renders the newest runs to choose from. After one is chosen, only runs of the same workload and
/// metric.
async fn choose(app: &Arc<App>, query: &CompareQuery, text: &str) -> PageResult {
    let ids = if query.runs.is_empty() { Vec::new() } else { vec![run_id(&query.runs)?] };
    let chosen = app.heavy(move |app| Ok(app.read_outcomes(ids))).await?;
    let mut search =
        RunQuery { text: text.to_owned(), limit: Some(OFFERED), ..RunQuery::default() };
    if let Some(run) = chosen.runs.first() {
        search.workload.clone_from(&run.workload);
        search.metric.clone_from(&run.metric);
    }
    let (mut found, headlines) = runs_with_headlines(app, search).await?;
    found.runs.retain(|r| r.completed > 0 && r.id.as_str() != query.runs);
    let body = html! {
        h1 { "Compare" }
        p.lede { "Choose two or more runs. The oldest is the baseline until you choose another." }
        form method="get" action="/compare" role="search" class="find" {
            (hidden_fields(query, &["baseline"]))
            (field("text", "Find by experiment, workload, host, tag, note, id", "search", text, ""))
            button type="submit" { "Search" }
        }
        form method="get" action="/compare" id="compare" class="actions" {
            button type="submit" class="button main" { "Compare" }
        }
        @if let Some(run) = chosen.runs.first() {
            h2 { "Chosen" }
            (rows(&chosen.runs, &chosen.headlines, None, &query.runs))
            h2 { "Other runs of " (run.workload) " by " (run.metric) }
        }
        (rows(&found.runs, &headlines, None, ""))
        @if found.runs.is_empty() { p { "No run found." } }
        p { @if !chosen.runs.is_empty() { a href="/compare" { "Runs of every workload" } " · " }
            a href="/archive" { "More filters in the archive" } }
        details { summary { "Runs by their ids, and more" } (form(query)) }
    };
    Ok(shell(app, "Compare", Section::Compare, &body))
}

/// Denominators for measured runs. The price is typed in by the user.
const DENOMINATORS: [Denominator; 5] = [
    Denominator::Chip,
    Denominator::Core,
    Denominator::Thread,
    Denominator::Watt,
    Denominator::Price,
];

/// Parses the prices of the runs' systems that the user typed in.
fn prices(query: &CompareQuery) -> Result<Prices, Refusal> {
    let words: Vec<&str> =
        query.prices.split(',').map(str::trim).filter(|w| !w.is_empty()).collect();
    let amounts: Option<Vec<f64>> =
        words.iter().map(|w| w.parse().ok().filter(|p: &f64| p.is_finite() && *p > 0.0)).collect();
    let amounts = amounts.ok_or_else(|| {
        Refusal::bad(format!(
            "prices: `{}` is not a list of numbers such as 5000, 7500",
            query.prices
        ))
    })?;
    let runs = query.runs.split(',').filter(|r| !r.is_empty()).count();
    if !amounts.is_empty() && amounts.len() != runs {
        let (given, runs) = (amounts.len(), runs);
        return Err(Refusal::bad(format!(
            "prices: {given} for {runs} runs; give one price for each run"
        )));
    }
    Ok(Prices { amounts, currency: query.currency.trim().chars().take(8).collect() })
}

/// Returns all parameters of the comparison as form fields. The baseline is the first run.
fn parameters(query: &CompareQuery) -> [(&'static str, &str); 9] {
    [
        ("runs", &query.runs),
        ("baseline", query.runs.split(',').next().unwrap_or_default()),
        ("per", &query.per),
        ("metric", &query.metric),
        ("margin", &query.margin),
        ("factors", &query.factors),
        ("accept", &query.accept),
        ("prices", &query.prices),
        ("currency", &query.currency),
    ]
}

/// Reads the parameters of a comparison. `runs` may be repeated, or contain several ids with
/// commas.
fn read_query(pairs: Vec<(String, String)>) -> CompareQuery {
    let mut query = CompareQuery::default();
    let mut runs = Vec::new();
    let (mut accept, mut path, mut reason) = (Vec::new(), String::new(), String::new());
    let mut baseline = String::new();
    for (name, value) in pairs {
        match name.as_str() {
            "runs" => runs.extend(value.split([',', ' ']).map(|w| w.trim().to_owned())),
            "baseline" => value.trim().clone_into(&mut baseline),
            "metric" => query.metric = value,
            "margin" => query.margin = value,
            "factors" => query.factors = value,
            "accept" => accept.push(value),
            "accept_path" => value.trim().clone_into(&mut path),
            "accept_reason" => value.trim().clone_into(&mut reason),
            "per" => query.per = value,
            "prices" => query.prices = value,
            "currency" => query.currency = value,
            _ => {}
        }
    }
    let mut known = std::collections::HashSet::new();
    runs.retain(|r| !r.is_empty() && known.insert(r.clone()));
    put_first(&mut runs, &baseline);
    query.runs = runs.join(",");
    if !path.is_empty() {
        accept.push(format!("{path}={reason}"));
    }
    query.accept = accept.join("\n");
    query
}

/// Moves the baseline to the front: the chosen run, else the oldest. Ids begin with the time of
/// their start.
fn put_first(runs: &mut [String], chosen: &str) {
    let oldest = runs.iter().enumerate().min_by_key(|(_, r)| r.as_str()).map(|(at, _)| at);
    if let Some(at) = runs.iter().position(|r| r == chosen).or(oldest) {
        runs[..=at].rotate_right(1);
    }
}

/// Renders the baseline and the form to choose another.
fn baseline(query: &CompareQuery, views: &[&RunView]) -> Markup {
    let words = |s: &RunSummary| {
        let started = s.started_at.replace('T', " ");
        format!("{}, {} UTC, {}", s.experiment, started.trim_end_matches('Z'), s.host)
    };
    html! {
        form method="get" action="/compare" class="inline" {
            (hidden_fields(query, &["baseline"]))
            label for="baseline" { "baseline" }
            " " select id="baseline" name="baseline" { @for (i, v) in views.iter().enumerate() {
                (option(v.summary.id.as_str(), i == 0, &words(&v.summary)))
            } }
            " " button type="submit" { "Use as baseline" }
        }
    }
}

/// Renders all parameters except those in `but` as hidden form fields.
fn hidden_fields(query: &CompareQuery, but: &[&str]) -> Markup {
    hidden(parameters(query).into_iter().filter(|(name, _)| !but.contains(name)))
}

fn form(query: &CompareQuery) -> Markup {
    let text = |name: &str, value: &str, help: &str| field(name, name, "text", value, help);
    html! {
        form method="get" action="/compare" class="fields" {
            (text("runs", &query.runs, "2 to 8 ids, separated by commas; the oldest is the \
                baseline until you choose another."))
            (text("metric", &query.metric, "If empty: the metric of the first run."))
            (text("margin", &query.margin, "Largest difference that does not matter, such as 2 %."))
            (text("prices", &query.prices, "One for each run, separated by commas, for results per \
                price."))
            (text("currency", &query.currency, "For example EUR."))
            (field("factors", "meant to differ", "text", &query.factors, "Facts of the systems, \
                separated by commas, such as kernel.release."))
            button type="submit" { "Compare" }
        }
    }
}

/// Renders the differences that question the comparison. A hard difference, which voids it, can
/// only be declared as intended. The others can be accepted, also as a group, with a reason that is
/// printed.
fn open_differences(query: &CompareQuery, across: &Across) -> Markup {
    let open = |class: &str| {
        let of =
            across.differences.iter().filter(move |d| d.class == class && d.accepted.is_none());
        of.collect::<Vec<&Difference>>()
    };
    let (hard, rest) = (open("hard"), [open("unknown"), open("soft")].concat());
    if hard.is_empty() && rest.is_empty() {
        return html! {};
    }
    let meant = |d: &Difference| match query.factors.trim() {
        "" => d.path.clone(),
        others => format!("{others},{}", d.path),
    };
    let paths = || rest.iter().map(|d| d.path.as_str());
    let class = if hard.is_empty() { "aside" } else { "voids" };
    let explain = if hard.len() == 1 { "difference explains" } else { "differences explain" };
    let choices = html! { @for (group, members) in fact_groups(paths()) {
        @if members.len() > 1 { option value=(group) { (group) ": all " (members.len()) } }
        @for d in rest.iter().filter(|d| members.contains(&d.path.as_str())) {
            option value=(d.path) { (d.path) ": " (short(&d.a)) " and " (short(&d.b)) }
        }
    } };
    html! {
        section class=(class) aria-labelledby="voids-heading" {
            h3 id="voids-heading" {
                @if hard.is_empty() { "Also different: " (folded_facts(paths())) }
                @else { (hard.len()) " " (explain) " results" }
            }
            @if !hard.is_empty() { ul { @for d in &hard { li {
                code { (d.path) } ": " (short(&d.a)) " and " (short(&d.b)) " "
                form method="get" action="/compare" class="inline" {
                    (hidden_fields(query, &["factors"]))
                    input type="hidden" name="factors" value=(meant(d));
                    @let label = format!("{} was meant to differ", d.path);
                    (button("", &label, "It was meant to differ"))
                }
            } } } }
            @if !rest.is_empty() { details {
                summary { "Accept differences that do not matter (" (rest.len()) ")" }
                form method="get" action="/compare" class="fields" {
                    (hidden_fields(query, &[]))
                    div.field { label for="accept_path" { "accept a difference" }
                        select id="accept_path" name="accept_path" { (choices) } }
                    div.field { label for="accept_reason" { "because" }
                        input id="accept_reason" name="accept_reason" required;
                        p.soft { "The reason is printed with the comparison." } }
                    button type="submit" { "Accept" }
                }
            } }
        }
    }
}

/// Shortens a value to 40 characters.
fn short(value: &str) -> String {
    let cut: String = value.chars().take(40).collect();
    if cut == value { cut } else { cut + "..." }
}

/// Renders the denominators to choose from.
fn denominators(query: &CompareQuery, per: Option<Denominator>) -> Markup {
    let address = |per: &str| {
        url("/compare", parameters(query).map(|(n, v)| (n, if n == "per" { per } else { v })))
    };
    let priced = !query.prices.trim().is_empty();
    html! {
        nav aria-label="Denominator" { ul {
            (choice(&address(""), per.is_none(), "in total"))
            @for d in DENOMINATORS.into_iter().filter(|d| priced || *d != Denominator::Price) {
                (choice(&address(d.name()), per == Some(d), &format!("per {}", d.name())))
            }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_run_is_the_baseline_until_another_is_chosen() {
        let (a, b, c) = ("20260101-000000-aaaa", "20260201-000000-bbbb", "20260301-000000-cccc");
        let runs = |pairs: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            read_query(pairs.iter().map(own).collect()).runs
        };
        assert_eq!(runs(&[("runs", &format!("{c},{a},{b}"))]), format!("{a},{c},{b}"));
        let chosen = runs(&[("runs", a), ("runs", b), ("runs", c), ("baseline", b)]);
        assert_eq!(chosen, format!("{b},{a},{c}"));
        let unknown = [("runs", &*format!("{b},{a}")), ("baseline", "no-such")];
        assert_eq!(runs(&unknown), format!("{a},{b}"));
        assert_eq!(runs(&[]), "");
    }
}
