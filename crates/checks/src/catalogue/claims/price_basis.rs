//! F52: prices have the same basis.

use crate::prelude::*;

pub const PRICE_BASIS: CheckRow = CheckRow {
    id: "F52",
    name: "price-basis",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "",
    needs: "line items, currency, date, discount, support term, public terms",
    fires: "a price lacks date, scope or public terms, or the scopes differ",
    why: "a price without its scope is arbitrary",
    remedy: "price the same things on the same day at public terms",
    source: "TPC pricing guidelines",
    evidence: "published results (`price`, `currency` and the columns `price_...`)",
};

pub const CHECK: Check = Check::new(&PRICE_BASIS, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let (prices, absent): (Vec<_>, Vec<_>) =
        e.prices.need("the scope of the prices")?.iter().partition(|p| p.recorded);
    let mut found = Vec::new();
    let lacking: Vec<String> = absent.iter().map(|p| format!("the price of {}", p.label)).collect();
    for p in &prices {
        let absent: Vec<&str> = [
            ("a currency", p.currency.is_some()),
            ("a date", p.date.is_some()),
            ("a scope", p.scope.as_ref().is_some_and(|s| !s.is_empty())),
            ("public terms", p.public_terms == Some(true)),
            ("its discount", p.discount.is_some()),
            ("a support term", p.support_years.is_some()),
        ]
        .into_iter()
        .filter_map(|(what, there)| (!there).then_some(what))
        .collect();
        if !absent.is_empty() {
            found.push(finding(format!("the price of {} lacks {}", p.label, absent.join(", "))));
        }
    }
    if let [first, others @ ..] = prices.as_slice() {
        for p in others {
            let sorted = |s: &Option<Vec<String>>| s.clone().map(|mut s| (s.sort(), s).1);
            let same = [
                ("scopes", sorted(&first.scope) == sorted(&p.scope)),
                ("currencies", first.currency == p.currency),
                ("support terms", first.support_years == p.support_years),
            ];
            for (what, _) in same.iter().filter(|(_, same)| !same) {
                let text =
                    format!("the {what} of the prices of {} and {} differ", first.label, p.label);
                found.push(finding(text));
            }
        }
    }
    found_or_missing(found, &lacking)
}
