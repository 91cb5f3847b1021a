//! Machine page: the verdict of `assay doctor` on measuring on this machine now.

use assay_model::{Finding, Severity};
use maud::html;

use super::{PageResult, Section, get, shell};
use crate::api::observe::may_observe;
use crate::app::{Routes, Server};
use crate::http::extract::State;

pub(super) fn router() -> Routes {
    Routes::new().route("/machine", get(page))
}

async fn page(State(app): Server) -> PageResult {
    // The examination itself would disturb a run.
    may_observe(&app)?;
    let findings = app.heavy(|_| Ok(assay_lab::examine())).await?;
    let unfit = assay_lab::unfit(&findings);
    let message = |f: &Finding| f.message.clone();
    let (against, notes): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|f| f.severity > Severity::Note);
    let mut remedies: Vec<String> = against.iter().map(|f| f.remedy.clone()).collect();
    remedies.dedup();
    let lists = [
        ("Against measuring now", against.iter().map(message).collect()),
        ("What helps", remedies),
        ("Notes", notes.iter().map(message).collect::<Vec<_>>()),
    ];
    let body = html! {
        h1 { @if unfit.is_empty() { "The machine is quiet" } @else { "The machine is not quiet" } }
        @if !unfit.is_empty() { p.lede { (unfit.join("; ")) "." } }
        p.soft { "Examined when this page was opened, as by " code { "assay doctor" } "." }
        @for (title, list) in lists { @if !list.is_empty() {
            h2 { (title) }
            ul { @for sentence in list { li { (sentence) } } }
        } }
    };
    Ok(shell(&app, "Machine", Section::Machine, &body))
}
