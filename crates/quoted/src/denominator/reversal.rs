//! Reversals of rankings: pairs of systems that change places between two bases.

use serde::Serialize;

use super::{Basis, SystemResult};

/// A pair of systems that changes places between two bases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reversal {
    /// Basis of the claim.
    pub claimed: Basis,
    /// System that is ahead under `claimed`.
    pub ahead: String,
    /// Basis under which the order is reversed.
    pub under: Basis,
    /// System that is ahead under `under`.
    pub instead: String,
}

/// Comparison of two systems under all bases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// Bases under which the first system is ahead.
    pub leads: Vec<Basis>,
    /// Number of bases that are recorded for both.
    pub of: usize,
    /// True if the first system is ahead under every basis that is recorded for both, and there are
    /// at least two: a single column says nothing about the others.
    pub dominates: bool,
}

/// Returns every basis under which the order of `a` and `b` is the reverse of that under `claimed`;
/// empty if one of them has no number under `claimed`.
pub fn reversals_from(a: &SystemResult, b: &SystemResult, claimed: Basis) -> Vec<Reversal> {
    let Some(first) = a.ahead_of(b, claimed) else { return Vec::new() };
    let name = |a_leads: bool| if a_leads { a.label.clone() } else { b.label.clone() };
    Basis::all()
        .filter(|under| a.ahead_of(b, *under) == Some(!first))
        .map(|under| Reversal { claimed, ahead: name(first), under, instead: name(!first) })
        .collect()
}

/// Compares `a` with `b` under all bases.
pub fn ranking(a: &SystemResult, b: &SystemResult) -> Ranking {
    let both: Vec<Basis> =
        Basis::all().filter(|d| a.number(*d).is_some() && b.number(*d).is_some()).collect();
    let leads: Vec<Basis> =
        both.iter().copied().filter(|d| a.ahead_of(b, *d) == Some(true)).collect();
    Ranking { dominates: both.len() > 1 && leads.len() == both.len(), of: both.len(), leads }
}

#[cfg(test)]
mod tests {
    use super::super::Denominator::{Core, Price, RackUnit, Thread, Watt};
    use super::super::tests::{entry, two};
    use super::*;

    #[test]
    fn the_order_of_two_systems_turns_round_where_it_does() {
        let (a, b) = two();
        let turned: Vec<Basis> =
            reversals_from(&a, &b, Basis::Total).into_iter().map(|r| r.under).collect();
        assert_eq!(turned, [Core, Thread, RackUnit, Price].map(Basis::Per));
        assert_eq!(
            reversals_from(&b, &a, Basis::Total),
            reversals_from(&a, &b, Basis::Total),
            "it does not matter which is named first"
        );
        let from = reversals_from(&a, &b, Basis::Per(Core));
        assert_eq!(from[0].ahead, "B");
        assert!(from.iter().any(|r| r.under == Basis::Total && r.instead == "A"));
        assert!(from.iter().any(|r| r.under == Basis::Per(Watt)));
    }

    #[test]
    fn a_system_dominates_only_where_it_is_ahead_in_all() {
        let (a, b) = two();
        let s = ranking(&a, &b);
        assert_eq!((s.leads.len(), s.of, s.dominates), (3, 7, false));
        let half = entry("half", 50.0, [Some(1.0), Some(8.0), None, None, None, None]);
        assert!(ranking(&a, &half).dominates);
        assert!(!ranking(&half, &a).dominates);
        let bare = entry("bare", 50.0, [None; 6]);
        assert!(!ranking(&a, &bare).dominates, "a total alone shows no dominance");
    }
}
