//! All readings of something said.

use super::book::{Book, Last, Place};
use super::cells::MAX_READINGS;
use super::model::{self, F};
use super::reading::{Reading, View};
use super::say::{Say, What};
use super::scene::Scene;
use super::words::{Zones, is_paid};
use crate::detect::pointing::Way;
use crate::evidence::amount::Amount;
use crate::evidence::metric::{Metric, metric};
use crate::read::token::Token;

impl Book<'_> {
    /// All readings of something said in a sentence.
    pub(super) fn readings(&self, scene: &Scene, k: usize, last: &Last) -> Vec<Reading> {
        let sentence = scene.sentence;
        let say = &self.says[sentence][k];
        let tokens = self.tokens(sentence);
        let zones = Zones::of(tokens, &self.spoken[sentence], say, &scene.before);
        let metric = match metric(&tokens[say.clause.clone()]) {
            Metric::Any => scene.metric,
            of_clause => of_clause,
        };
        let second = |r: std::ops::Range<usize>| {
            r.into_iter().any(|i| {
                matches!(tokens[i].lower.as_str(), "per" | "a" | "each" | "/")
                    && tokens.get(i + 1).is_some_and(|t| {
                        matches!(t.lower.as_str(), "second" | "s" | "sec" | "minute" | "hour")
                    })
            })
        };
        let metric = if second(say.clause.clone())
            && matches!(metric, Metric::Time | Metric::Any | Metric::Speed)
        {
            Metric::Rate
        } else {
            metric
        };
        let own_metric = metric;
        let heard = if own_metric == Metric::Any { scene.heard } else { Metric::Any };
        let metric = match (metric, say.way) {
            (Metric::Any, Some(Way::Faster | Way::Slower)) => Metric::Speed,
            (m, _) => m,
        };
        let printed: Vec<Amount> = self.says[sentence]
            .iter()
            .enumerate()
            .filter(|(j, _)| *j != k)
            .filter_map(|(_, s)| if let What::Value(a) = s.what { Some(a) } else { None })
            .collect();
        let view = View {
            book: self,
            scene,
            sentence,
            say,
            tokens,
            zones,
            metric,
            heard,
            printed,
            last,
            money: says_money(tokens, say),
            named: std::cell::Cell::new(false),
        };
        let mut found = Vec::new();
        for (rank, g) in self.tables(sentence).into_iter().enumerate() {
            view.of_grid(g, rank, &mut found);
            if found.len() > MAX_READINGS {
                break;
            }
        }
        if say.what.is_pair() && !matches!(say.what, What::Two(..)) {
            view.of_prose(&mut found);
        }
        match say.what {
            What::Value(v) => view.computed(v, &mut found),
            // "and so together they save $1,944"
            What::Delta(v) if view.has(&["together", "total", "altogether"]) => {
                view.computed(v, &mut found);
            }
            _ => {}
        }
        if say.stated().is_some() || matches!(say.what, What::Two(..)) {
            found.retain(|r| !self.is_itself(sentence, say, r));
        }
        for r in &mut found {
            if let Some(away) = super::fit::magnitude(say, r) {
                let far = if away < 0.75 {
                    F::MagnitudeNear
                } else if away < 2.3 {
                    F::MagnitudeFar
                } else {
                    F::MagnitudeNone
                };
                r.features[model::extra(far)] = 1.0;
            }
            model::cross(&mut r.features);
        }
        view.phrase(&mut found);
        found
    }

    /// Whether a value is the very cell that it would restate: lists of changes are sentences, too.
    fn is_itself(&self, sentence: usize, say: &Say, r: &Reading) -> bool {
        let tokens = self.tokens(sentence);
        let (from, to) = (tokens[say.own.start].span.start, tokens[say.own.end - 1].span.end);
        r.places.iter().any(|place| {
            let Place::Cell { grid, at } = place else { return false };
            let table = self.table(*grid);
            let cell = table.rows.get(at.row).and_then(|row| row.cells.get(at.column));
            cell.is_some_and(|c| c.span.start < to && from < c.span.end)
        })
    }
}

/// Whether the words speak of money.
fn says_money(tokens: &[Token], say: &Say) -> bool {
    let own = &tokens[say.own.start.saturating_sub(1)..(say.own.end + 1).min(tokens.len())];
    let sign = |t: &Token| {
        t.is_currency() || matches!(t.lower.as_str(), "dollars" | "usd" | "eur" | "euros")
    };
    own.iter().any(sign)
        || tokens[say.clause.clone()].iter().any(|t| t.is_currency() || is_paid(&t.lower))
}
