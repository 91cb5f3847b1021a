//! Cards: the data about each page that the lists of a site show. A card is kept next to its page,
//! so that the lists need not read the source of the page again. All data of a card passed the same
//! redactor and gate as the page.

use std::collections::BTreeSet;

use assay_model::nouns::count;
use assay_model::{RunSummary, units};
use assay_quoted::landscape::Landscape;
use serde::{Deserialize, Serialize};

use super::slug::slug;
use crate::post::{Post, Template};
use assay_report::history::{PublishedHistory, change_line, slope_line};
use assay_report::parts::system::key_facts;
use assay_report::{Gate, RunView, headline, words};

/// Largest number of treatments whose labels find a run.
const LABELS: usize = 24;

/// The card of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCard {
    /// Summary of the run, without its value if that is withheld.
    pub summary: RunSummary,
    /// Title of the run.
    pub title: String,
    /// Result of the run in a sentence.
    pub says: String,
    /// True if a number of the run is withheld.
    pub withheld: bool,
    /// Description of the run's workload.
    pub workload: String,
    /// Labels of the run's treatments.
    pub labels: Vec<String>,
    /// Key facts of the system, by name.
    pub facts: Vec<(String, String)>,
}

impl RunCard {
    /// Creates the card of a run as it is published.
    pub fn from_view(view: &RunView) -> Self {
        let gate = Gate::from_view(view);
        let mut summary = view.summary.clone();
        let withheld = gate.treatment(view.plan.baseline);
        if withheld.is_some() {
            summary.value = None;
        }
        let first = gate.analysis.comparisons.first();
        let says = match (first, withheld, summary.value) {
            (Some(comparison), ..) => headline(&gate.analysis)
                .unwrap_or_else(|| words::verdict(&gate.analysis, comparison)),
            (None, Some(why), _) => format!("{} is {}.", summary.metric, why.text()),
            (None, None, Some(v)) => {
                format!("{}: {}.", summary.metric, units::format_value(v, &summary.unit))
            }
            _ => format!("{} has no value.", summary.metric),
        };
        let treatments = view.plan.treatments.iter().filter(|t| !t.levels.is_empty());
        RunCard {
            title: view.title().to_owned(),
            says,
            withheld: !gate.withheld.is_empty(),
            workload: view.plan.workload.help.clone(),
            labels: treatments.take(LABELS).map(assay_model::Treatment::label).collect(),
            facts: key_facts(&view.system)
                .into_iter()
                .filter(|(_, _, value)| !value.starts_with("unknown"))
                .map(|(name, _, value)| (name, value))
                .collect(),
            summary,
        }
    }

    /// Returns the path of the run's page.
    pub fn path(&self) -> String {
        format!("runs/{}/index.html", self.summary.id)
    }

    /// Returns the host that the run was measured on, or `unknown`.
    pub fn host(&self) -> &str {
        if self.summary.host.is_empty() { "unknown" } else { &self.summary.host }
    }

    /// Returns a key fact of the run's system.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Describes the system in a few words: processor, threads, memory.
    pub fn machine(&self) -> String {
        let threads = self.fact("threads").map(|n| format!("{n} threads"));
        let bytes =
            |m: &str| units::parse_bytes(m).map_or_else(|_| m.to_owned(), units::format_bytes);
        let memory = self.fact("memory").map(|m| format!("{} of memory", bytes(m)));
        let parts = [self.fact("processor").map(str::to_owned), threads, memory];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "not described".to_owned() } else { parts.join(", ") }
    }

    /// Returns the day on which the run started.
    pub fn day(&self) -> &str {
        self.summary.started_at.get(..10).unwrap_or_default()
    }
}

/// The card of a post.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PostCard {
    /// Name of the post in addresses.
    pub slug: String,
    /// Title, in which typed quantities are marked.
    pub title: String,
    /// Summary, in which typed quantities are marked.
    pub summary: String,
    /// Day of the post, if it has one.
    pub day: Option<String>,
    /// Tags as they are shown.
    pub tags: Vec<String>,
    /// Tags as they are in addresses, in the same order.
    pub tag_slugs: Vec<String>,
    /// Sentence with the number of computed and typed quantities.
    pub banner: String,
    /// Words by which the post is found, each once.
    pub words: String,
}

impl PostCard {
    /// Creates the card of a computed post; `stem` is the file's name without its extension.
    pub fn from_post(template: &Template, post: &Post, stem: &str) -> Self {
        let front = &post.front;
        let text = crate::post::markdown(post);
        let words = text.split(|c: char| !c.is_alphanumeric() && !"-._".contains(c));
        let words: BTreeSet<String> = words
            .map(|w| w.trim_matches(['-', '.', '_']).to_lowercase())
            .filter(|w| w.chars().count() > 2)
            .collect();
        PostCard {
            slug: slug(stem),
            title: front.title.clone(),
            summary: front.summary.clone(),
            day: day(template, stem),
            tags: front.tags.clone(),
            tag_slugs: template.front().tags.iter().map(|t| slug(t)).collect(),
            banner: post.banner(),
            words: words.into_iter().collect::<Vec<_>>().join(" "),
        }
    }

    /// Returns the path of the post's page.
    pub fn path(&self) -> String {
        format!("posts/{}/index.html", self.slug)
    }
}

/// Returns the day of a post: its own, or the one at the start of its file's name.
fn day(template: &Template, stem: &str) -> Option<String> {
    let named = || stem.get(..10).filter(|d| assay_quoted::quoted::is_date(d)).map(str::to_owned);
    template.front().date.clone().or_else(named)
}

/// The card of a landscape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LandscapeCard {
    /// Name of the landscape.
    pub name: String,
    /// Heading of the landscape.
    pub heading: String,
    /// Quantity that the landscape compares.
    pub measure: String,
    /// Number of results in the landscape.
    pub results: usize,
    /// Systems in the landscape, for the search.
    pub systems: String,
}

impl LandscapeCard {
    /// Creates the card of a landscape with all its lines.
    pub fn from_landscape(landscape: &Landscape) -> Self {
        let systems: BTreeSet<&str> =
            landscape.lines.iter().filter_map(|l| Some(l.entry.as_ref()?.label.as_str())).collect();
        LandscapeCard {
            name: landscape.name.clone(),
            heading: landscape.heading(),
            measure: landscape.measure(),
            results: landscape.lines_in_all,
            systems: systems.into_iter().collect::<Vec<_>>().join(" "),
        }
    }

    /// Returns the path of the landscape's page.
    pub fn path(&self) -> String {
        format!("landscapes/{}.html", slug(&self.name))
    }
}

/// The card of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryCard {
    /// Name of the history in addresses.
    pub slug: String,
    /// Heading of the history.
    pub heading: String,
    /// Description of the points.
    pub lede: String,
    /// Number of series in the history.
    pub series: usize,
    /// Number of points in all series.
    pub points: usize,
    /// Changes, with one sentence for each.
    pub changes: Vec<String>,
}

impl HistoryCard {
    /// Creates the card of a history as it is published.
    pub fn from_history(history: &PublishedHistory) -> Self {
        match history {
            PublishedHistory::Own(shown) => {
                let said = shown.series.iter().flat_map(|s| {
                    let slopes = s.slopes.iter().map(|slope| slope_line(&s.points, slope));
                    s.changes.iter().map(change_line).chain(slopes)
                });
                HistoryCard {
                    slug: slug(&shown.id),
                    heading: format!("{}: {}", shown.experiment, shown.metric),
                    lede: format!(
                        "Ratios to {} over {}.",
                        shown.reference,
                        count(shown.revisions, "revision")
                    ),
                    series: shown.series.len(),
                    points: shown.series.iter().map(|s| s.points.len()).sum(),
                    changes: said.collect(),
                }
            }
            PublishedHistory::Quoted(name, imported) => HistoryCard {
                slug: slug(&format!("quoted-{name}")),
                heading: name.clone(),
                lede: "Quoted from another program's file.".to_owned(),
                series: imported.series.len(),
                points: imported.series.iter().map(|s| s.points.len()).sum(),
                changes: Vec::new(),
            },
        }
    }

    /// Returns the path of the history's page.
    pub fn path(&self) -> String {
        format!("histories/{}.html", self.slug)
    }
}
