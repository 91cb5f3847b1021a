//! What the lists of a site know of each thing, without reading it again: a card is kept beside the page that was
//! made of it. Everything on a card has passed what the page has passed: the redactor and the gate.

use std::collections::BTreeSet;

use assay_model::nouns::count;
use assay_model::{RunSummary, units};
use assay_rules::landscape::Landscape;
use serde::{Deserialize, Serialize};

use super::slug::slug;
use crate::gate::Gate;
use crate::headline::headline;
use crate::history::{History, change_line, slope_line};
use crate::parts::system::key_facts;
use crate::post::{Post, Template};
use crate::view::RunView;
use crate::words;

/// How many treatments are found by their labels.
const LABELS: usize = 24;

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCard {
    /// The run in one line; without its value where that is withheld.
    pub summary: RunSummary,
    /// Its title.
    pub title: String,
    /// What it found, in a sentence.
    pub says: String,
    /// Whether a number of it is withheld.
    pub withheld: bool,
    /// What its workload does.
    pub workload: String,
    /// The labels of its treatments.
    pub labels: Vec<String>,
    /// The key facts of its system, by name.
    pub facts: Vec<(String, String)>,
}

impl RunCard {
    /// Of a run as it is published.
    pub fn of(view: &RunView) -> Self {
        let gate = Gate::of(view);
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

    /// Where its page is.
    pub fn path(&self) -> String {
        format!("runs/{}/index.html", self.summary.id)
    }

    /// The system that it ran on.
    pub fn host(&self) -> &str {
        if self.summary.host.is_empty() { "unknown" } else { &self.summary.host }
    }

    /// A key fact of its system.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Its system in a few words: processor, threads, memory.
    pub fn machine(&self) -> String {
        let threads = self.fact("threads").map(|n| format!("{n} threads"));
        let bytes =
            |m: &str| units::parse_bytes(m).map_or_else(|_| m.to_owned(), units::format_bytes);
        let memory = self.fact("memory").map(|m| format!("{} of memory", bytes(m)));
        let parts = [self.fact("processor").map(str::to_owned), threads, memory];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "not described".to_owned() } else { parts.join(", ") }
    }

    /// The day on which it started.
    pub fn day(&self) -> &str {
        self.summary.started_at.get(..10).unwrap_or_default()
    }
}

/// A post.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PostCard {
    /// Its name in addresses.
    pub slug: String,
    /// Its title, with what is typed in it marked.
    pub title: String,
    /// Its summary, likewise.
    pub summary: String,
    /// Its day; `None`: it has none.
    pub day: Option<String>,
    /// Its tags as they are shown.
    pub tags: Vec<String>,
    /// Its tags in addresses, in the same order.
    pub tag_slugs: Vec<String>,
    /// How many numbers are computed and typed.
    pub banner: String,
    /// The words that it is found by, each once.
    pub words: String,
}

impl PostCard {
    /// Of a computed post; `stem` is its file's name without its end.
    pub fn of(template: &Template, post: &Post, stem: &str) -> Self {
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

    /// Where its page is.
    pub fn path(&self) -> String {
        format!("posts/{}/index.html", self.slug)
    }
}

/// The day of a post: its own, or the one that its file's name begins with.
fn day(template: &Template, stem: &str) -> Option<String> {
    let named = || stem.get(..10).filter(|d| assay_rules::quoted::is_date(d)).map(str::to_owned);
    template.front().date.clone().or_else(named)
}

/// A landscape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LandscapeCard {
    /// Its name.
    pub name: String,
    /// Its heading.
    pub heading: String,
    /// What is measured in it.
    pub measure: String,
    /// How many results it has.
    pub results: usize,
    /// The systems in it, to be found by.
    pub systems: String,
}

impl LandscapeCard {
    /// Of a landscape with all its lines.
    pub fn of(landscape: &Landscape) -> Self {
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

    /// Where its page is.
    pub fn path(&self) -> String {
        format!("landscapes/{}.html", slug(&self.name))
    }
}

/// A history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryCard {
    /// Its name in addresses.
    pub slug: String,
    /// Its heading.
    pub heading: String,
    /// What its points are.
    pub lede: String,
    /// How many series it has.
    pub series: usize,
    /// How many points they have.
    pub points: usize,
    /// What changed, in a sentence each.
    pub changes: Vec<String>,
}

impl HistoryCard {
    /// Of a history as it is published.
    pub fn of(history: &History) -> Self {
        match history {
            History::Own(shown) => {
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
            History::Quoted(name, imported) => HistoryCard {
                slug: slug(&format!("quoted-{name}")),
                heading: name.clone(),
                lede: "Quoted from another program's file.".to_owned(),
                series: imported.series.len(),
                points: imported.series.iter().map(|s| s.points.len()).sum(),
                changes: Vec::new(),
            },
        }
    }

    /// Where its page is.
    pub fn path(&self) -> String {
        format!("histories/{}.html", self.slug)
    }
}
