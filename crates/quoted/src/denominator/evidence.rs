//! Evidence about divided results for the checks of denominators, power and prices.

use assay_checks::{
    Basis as Counted, DenominatorEvidence, DenominatorSystem, EnergyEvidence, Evidence,
    OrderReversal, PowerSource, PriceEvidence, RecordedValue,
};

use super::{Basis, Denominator, Reversal, SystemResult};

/// Builds the evidence about dividing `entries` on `basis`. All parts are absent for totals.
pub fn divided(entries: &[SystemResult], basis: Basis) -> Evidence {
    let Basis::Per(d) = basis else {
        let none = "totals are shown";
        return Evidence {
            denominators: absent(none),
            energy: absent(none),
            prices: absent(none),
            ..Evidence::default()
        };
    };
    let watts = d == Denominator::Watt;
    let prices = d == Denominator::Price;
    Evidence {
        denominators: RecordedValue::Is(DenominatorEvidence {
            claimed: d.name().to_owned(),
            words: basis.to_string(),
            systems: entries.iter().map(|e| system(e, d)).collect(),
            ..DenominatorEvidence::default()
        }),
        energy: if watts {
            RecordedValue::Is(entries.iter().map(energy).collect())
        } else {
            absent("no power is shown")
        },
        prices: if prices {
            RecordedValue::Is(entries.iter().map(price).collect())
        } else {
            absent("no price is shown")
        },
        ..Evidence::default()
    }
}

/// Builds the evidence about rankings under `claimed` that reverse under another denominator.
/// `several` is true if two or more bases are recorded.
pub fn turned(claimed: Basis, turns: &[Reversal], several: bool, matrix_shown: bool) -> Evidence {
    let flip = |r: &Reversal| OrderReversal {
        ahead: r.ahead.clone(),
        instead: r.instead.clone(),
        under: r.under.to_string(),
    };
    Evidence {
        denominators: RecordedValue::Is(DenominatorEvidence {
            words: claimed.to_string(),
            several,
            flips: turns.iter().map(flip).collect(),
            matrix_shown,
            ..DenominatorEvidence::default()
        }),
        ..Evidence::default()
    }
}

fn absent<T>(why: &str) -> RecordedValue<T> {
    RecordedValue::Absent(why.to_owned())
}

fn stated<'a>(entry: &'a SystemResult, column: &str) -> Option<&'a str> {
    entry.counts.stated.get(column).map(|text| text.trim()).filter(|text| !text.is_empty())
}

fn system(entry: &SystemResult, d: Denominator) -> DenominatorSystem {
    let quoted = entry.value.from_quoted();
    DenominatorSystem {
        label: entry.label.clone(),
        count: entry.counts.amount(d),
        inferred: d == Denominator::Instance && entry.counts.instances_inferred,
        basis: match stated(entry, "counted") {
            Some("used") => Some(Counted::Used),
            Some("enabled") => Some(Counted::Enabled),
            Some("fitted") => Some(Counted::Installed),
            Some(_) => None,
            // Published results describe the whole system; a measured result counts the enabled
            // parts.
            None if quoted => Some(Counted::Installed),
            None => Some(Counted::Enabled),
        },
    }
}

fn energy(entry: &SystemResult) -> EnergyEvidence {
    EnergyEvidence {
        label: entry.label.clone(),
        source: match stated(entry, "watts_source") {
            Some("wall") => Some(PowerSource::Wall),
            Some("processor") => Some(PowerSource::Rapl),
            Some("platform") => Some(PowerSource::Platform),
            Some("tdp") => Some(PowerSource::ThermalDesign),
            Some("nameplate") => Some(PowerSource::Nameplate),
            _ => None,
        },
        quoted: entry.value.from_quoted(),
        recorded: entry.counts.amount(Denominator::Watt).is_some(),
        note: stated(entry, "config_note").unwrap_or_default().to_owned(),
        ..EnergyEvidence::default()
    }
}

fn price(entry: &SystemResult) -> PriceEvidence {
    let number = |column: &str| stated(entry, column).and_then(|text| text.parse::<f64>().ok());
    PriceEvidence {
        label: entry.label.clone(),
        recorded: entry.counts.amount(Denominator::Price).is_some(),
        currency: entry.counts.currency.clone(),
        date: stated(entry, "price_date").map(str::to_owned),
        scope: stated(entry, "price_scope")
            .map(|text| text.split(';').map(|item| item.trim().to_owned()).collect()),
        public_terms: stated(entry, "price_terms").map(|text| text == "public"),
        discount: number("price_discount"),
        support_years: number("price_support_years"),
    }
}
