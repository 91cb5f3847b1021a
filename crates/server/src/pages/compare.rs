//! Runs side by side.

use std::fmt::Write as _;
use std::sync::Arc;

use assay_model::{Across, Difference};
use assay_report::RunView;
use assay_report::page::{Prices, Shown, Under, side_by_side};
use assay_rules::denominator::Denominator;
use axum::extract::{Form, RawQuery, State};
use maud::{Markup, html};

use super::archive::encode;
use super::{Page, Place, shell};
use crate::api::runs::{Compared, lay};
use crate::app::App;
use crate::error::Refusal;

pub(super) async fn page(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Page {
    let asked = asked(&query.unwrap_or_default())?;
    let enough = asked.runs.split(',').filter(|r| !r.is_empty()).count() > 1;
    if !enough {
        let body = html! {
            h1 { "Compare" }
            p { "Choose runs in the " a href="/archive" { "archive" } ", or name them here." }
            (form(&asked))
        };
        return Ok(shell("Compare", Place::Compare, &body));
    }
    let per = match asked.per.trim() {
        "" => None,
        name => Some(name.parse::<Denominator>().map_err(|e| Refusal::bad(e.to_string()))?),
    };
    let prices = prices(&asked)?;
    let laid = lay(&app, &asked).await?;
    let body = app
        .heavy(move || {
            let views: Vec<&RunView> = laid.views.iter().map(|v| &**v).collect();
            let shown = Shown::of(&views, &laid.side_by_side.across, &laid.side_by_side.io);
            let under = Under { per, prices };
            let link = |id: &str| Some(format!("/runs/{id}"));
            html! {
                h1 { "Compare " (views.len()) " runs" }
                (acceptable(&asked, &laid.side_by_side.across))
                (switch(&asked, per))
                (side_by_side(&views, &shown, &under, &link))
                h2 { "Another comparison" }
                (form(&asked))
            }
        })
        .await?;
    Ok(shell("Compare", Place::Compare, &body))
}

/// What a measured run can be shown under; the price is typed in.
const SWITCH: [Denominator; 5] = [
    Denominator::Chip,
    Denominator::Core,
    Denominator::Thread,
    Denominator::Watt,
    Denominator::Price,
];

/// What the runs' systems cost, as it was typed in.
fn prices(asked: &Compared) -> Result<Prices, Refusal> {
    let words: Vec<&str> =
        asked.prices.split(',').map(str::trim).filter(|w| !w.is_empty()).collect();
    let amounts: Option<Vec<f64>> =
        words.iter().map(|w| w.parse().ok().filter(|p: &f64| p.is_finite() && *p > 0.0)).collect();
    let amounts = amounts.ok_or_else(|| {
        Refusal::bad(format!("prices: `{}` is not numbers such as 5000, 7500", asked.prices))
    })?;
    let runs = asked.runs.split(',').filter(|r| !r.is_empty()).count();
    if !amounts.is_empty() && amounts.len() != runs {
        let (given, runs) = (amounts.len(), runs);
        return Err(Refusal::bad(format!("prices: {given} for {runs} runs; give one for each")));
    }
    Ok(Prices { amounts, currency: asked.currency.trim().chars().take(8).collect() })
}

/// What was asked beside the runs and the denominator.
fn given(asked: &Compared) -> [(&'static str, &str); 6] {
    [
        ("metric", &asked.metric),
        ("margin", &asked.margin),
        ("factors", &asked.factors),
        ("accept", &asked.accept),
        ("prices", &asked.prices),
        ("currency", &asked.currency),
    ]
}

/// Several `runs` are as good as one with commas.
fn asked(query: &str) -> Result<Compared, Refusal> {
    let request = axum::http::Request::get(format!("/?{query}")).body(());
    let uri = request.map_err(|e| Refusal::bad(e.to_string()))?;
    let Form(pairs) = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri.uri())
        .map(|q| Form(q.0))
        .map_err(|e| Refusal::bad(e.body_text()))?;
    let mut asked = Compared::default();
    let mut runs = Vec::new();
    let (mut accept, mut path, mut reason) = (Vec::new(), String::new(), String::new());
    for (name, value) in pairs {
        match name.as_str() {
            "runs" => runs.extend(value.split([',', ' ']).map(|w| w.trim().to_owned())),
            "metric" => asked.metric = value,
            "margin" => asked.margin = value,
            "factors" => asked.factors = value,
            "accept" => accept.push(value),
            "accept_path" => value.trim().clone_into(&mut path),
            "accept_reason" => value.trim().clone_into(&mut reason),
            "per" => asked.per = value,
            "prices" => asked.prices = value,
            "currency" => asked.currency = value,
            _ => {}
        }
    }
    let mut known = std::collections::HashSet::new();
    runs.retain(|r| !r.is_empty() && known.insert(r.clone()));
    asked.runs = runs.join(",");
    if !path.is_empty() {
        accept.push(format!("{path}={reason}"));
    }
    asked.accept = accept.join("\n");
    Ok(asked)
}

fn form(asked: &Compared) -> Markup {
    let field = |name: &str, label: &str, value: &str, help: &str| {
        html! {
            div class="field" { label for=(name) { (label) } input id=(name) name=(name) value=(value); p class="soft" { (help) } }
        }
    };
    html! {
        form method="get" action="/compare" class="fields" {
            (field("runs", "runs", &asked.runs, "2 to 8 ids with commas; the first is the baseline."))
            (field("metric", "metric", &asked.metric, "Empty: the one that decides in the first run."))
            (field("margin", "margin", &asked.margin, "Differences within it do not matter: 2 %."))
            (field("prices", "prices", &asked.prices, "One for each run, with commas, for results per price."))
            (field("currency", "currency", &asked.currency, "What the prices are in: EUR."))
            (field("factors", "meant to differ", &asked.factors, "Facts of the systems, with commas: kernel.release."))
            button type="submit" { "Compare" }
        }
    }
}

/// The differences that a person may accept, with a field for the reason; those that are accepted are printed
/// with it among what differs.
fn acceptable(asked: &Compared, across: &Across) -> Markup {
    let open: Vec<&Difference> = across
        .differences
        .iter()
        .filter(|d| ["soft", "unknown"].contains(&d.class.as_str()) && d.accepted.is_none())
        .collect();
    if open.is_empty() {
        return html! {};
    }
    let kept = given(asked).into_iter().chain([("runs", asked.runs.as_str())]);
    html! {
        form method="get" action="/compare" class="fields" {
            @for (name, value) in kept.filter(|(_, value)| !value.is_empty()) {
                input type="hidden" name=(name) value=(value);
            }
            @if !asked.per.is_empty() { input type="hidden" name="per" value=(asked.per); }
            div class="field" {
                label for="accept_path" { "accept a difference" }
                select id="accept_path" name="accept_path" {
                    @for d in &open { option value=(d.path) { (d.path) ": " (short(&d.a)) " and " (short(&d.b)) } }
                }
                p class="soft" { (open.len()) " that might explain a result and are not accepted yet." }
            }
            div class="field" {
                label for="accept_reason" { "because" }
                input id="accept_reason" name="accept_reason" required;
                p class="soft" { "The reason is printed with the comparison." }
            }
            button type="submit" { "Accept" }
        }
    }
}

/// The beginning of a long value.
fn short(value: &str) -> String {
    match value.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &value[..at]),
        None => value.to_owned(),
    }
}

/// The denominators, of which one is chosen.
fn switch(asked: &Compared, per: Option<Denominator>) -> Markup {
    let address = |name: &str| {
        let mut address = format!("/compare?runs={}", encode(&asked.runs));
        for (key, value) in given(asked) {
            if !value.is_empty() {
                let _ = write!(address, "&{key}={}", encode(value));
            }
        }
        if !name.is_empty() {
            let _ = write!(address, "&per={name}");
        }
        address
    };
    html! {
        nav aria-label="Denominator" {
            ul {
                li { a href=(address("")) aria-current=[per.is_none().then_some("true")] { "in total" } }
                @for d in SWITCH.into_iter().filter(|d| *d != Denominator::Price || !asked.prices.trim().is_empty()) {
                    li { a href=(address(d.name())) aria-current=[(per == Some(d)).then_some("true")] { "per " (d.name()) } }
                }
            }
        }
    }
}
