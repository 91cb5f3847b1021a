//! Outcomes of the claims of posts on this machine, and the experiments that test them, as one
//! table each.

use serde::Serialize;

use crate::post::{Claim, LocalOutcome};
use assay_report::document::{self, DocumentPart, Parts, Table, Tone, cell};
use assay_report::terminal::Style;

/// A post with its claims.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduced {
    /// File of the post, without the folder.
    pub post: String,
    /// Title of the post.
    pub title: String,
    /// Page of the post, if one was written.
    pub page: Option<String>,
    /// Claims with their results.
    pub claims: Vec<Claim>,
}

/// An experiment that posts need.
#[derive(Debug, Clone, Serialize)]
pub struct RequestedExperiment {
    /// Experiment file, as the posts name it.
    pub experiment: String,
    /// Posts that need the experiment.
    pub posts: Vec<String>,
    /// Number of claims that the experiment answers.
    pub claims: usize,
    /// Expected duration in seconds; `null` if it is unknown.
    pub expected_s: Option<f64>,
    /// Basis of the expected duration.
    pub basis: String,
    /// Run that answers the claims, if there is one.
    pub run: Option<String>,
    /// State of the experiment: `in the archive`, `to be run`, or the reason why it cannot be run
    /// here.
    pub state: String,
}

/// Formats the experiments in the order in which they are run, for a terminal.
pub fn plan(asked: &[RequestedExperiment], style: Style) -> String {
    document::terminal::parts(&planned(asked), style)
}

/// Formats the table of claims for a terminal.
pub fn terminal(posts: &[Reproduced], style: Style) -> String {
    document::terminal::parts(&claims(posts), style)
}

/// Formats both tables as a Markdown page.
pub fn markdown(posts: &[Reproduced], asked: &[RequestedExperiment]) -> String {
    let mut all = claims(posts);
    all.push(DocumentPart::Heading(2, String::new(), "Experiments".into()));
    all.append(planned(asked));
    format!("# Claims of posts, then and here\n\n{}", document::markdown::parts(&all))
}

fn planned(asked: &[RequestedExperiment]) -> Parts {
    let mut table = Table::captioned("Experiments, in the order of their runs")
        .label("experiment")
        .number("claims")
        .word("takes")
        .label("state");
    for a in asked {
        let takes = a.expected_s.and_then(|s| std::time::Duration::try_from_secs_f64(s).ok());
        table.row(vec![
            cell(a.experiment.clone()),
            cell(a.claims.to_string()),
            cell(takes.map_or_else(
                || "unknown".to_owned(),
                |t| format!("about {}", assay_model::units::format_duration(t)),
            )),
            cell(a.state.clone()),
        ]);
    }
    let mut out = Parts::default();
    out.table(table);
    out
}

fn claims(posts: &[Reproduced]) -> Parts {
    let mut table =
        Table::captioned("Claims, then and here").words(["post", "claim", "then", "here", "why"]);
    for post in posts {
        let name = post.post.trim_end_matches(".md");
        for c in &post.claims {
            let tone = match c.here {
                LocalOutcome::Holds => Tone::Good,
                LocalOutcome::DoesNotHold => Tone::Bad,
                LocalOutcome::Undecided | LocalOutcome::CannotBeAsked => Tone::Plain,
            };
            table.row(vec![
                cell(name),
                cell(c.text.clone()),
                cell(c.then.clone().unwrap_or_else(|| "not stated".to_owned())),
                cell(c.here.words()).tone(tone),
                cell(c.why.clone()),
            ]);
        }
    }
    let mut out = Parts::default();
    if table.rows.is_empty() {
        out.say("No post here makes a claim; `{{#claim ...}}` does (docs/publish/posts.md).");
    } else {
        out.table(table);
        out.say(counts(posts));
    }
    out
}

/// Returns a sentence with the number of claims by result.
fn counts(posts: &[Reproduced]) -> String {
    let of = |here: LocalOutcome| {
        posts.iter().flat_map(|p| &p.claims).filter(|c| c.here == here).count()
    };
    let all: usize = posts.iter().map(|p| p.claims.len()).sum();
    format!(
        "Of {} {} hold here, {} do not, {} are undecided, {} cannot be tested on this machine.",
        assay_model::nouns::count(all, "claim"),
        of(LocalOutcome::Holds),
        of(LocalOutcome::DoesNotHold),
        of(LocalOutcome::Undecided),
        of(LocalOutcome::CannotBeAsked)
    )
}
