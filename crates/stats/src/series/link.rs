//! Chains the parts of a series of ratios whose reference revision was replaced. Experiments of
//! both references link the parts, and each link's error propagates to every point after it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ratio with the standard error of its logarithm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// Value of the ratio.
    pub value: f64,
    /// Standard error of its natural logarithm; `null` if there were too few pairs.
    pub log_error: Option<f64>,
}

/// Points measured against the same reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferencePoints {
    /// The reference revision of the part.
    pub reference: String,
    /// Ratios to the reference, in order.
    pub points: Vec<Ratio>,
}

/// An experiment of two references: `new` / `old`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The earlier reference revision.
    pub old: String,
    /// The later reference revision.
    pub new: String,
    /// Ratio new / old.
    pub ratio: Ratio,
}

/// Reason why parts cannot be chained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// Two references were never measured in the same blocks.
    #[error(
        "no experiment links the references {old} and {new}; `assay history --fill` measures them \
        in the same blocks"
    )]
    Missing {
        /// The earlier reference revision.
        old: String,
        /// The later reference revision.
        new: String,
    },
}

/// Converts all points to ratios to the first part's reference. A point's error is √(own² + Σ
/// links²).
///
/// # Errors
/// Two neighbouring parts with different references have no link.
pub fn chain(parts: &[ReferencePoints], links: &[Link]) -> Result<Vec<Ratio>, LinkError> {
    let mut out = Vec::new();
    let (mut scale, mut error) = (1.0, Some(0.0f64));
    let mut before: Option<&str> = None;
    for part in parts {
        if let Some(old) = before
            && old != part.reference
        {
            let missing =
                || LinkError::Missing { old: old.to_owned(), new: part.reference.clone() };
            let (value, log_error) = links
                .iter()
                .find_map(|l| {
                    if l.old == old && l.new == part.reference {
                        Some((l.ratio.value, l.ratio.log_error))
                    } else if l.new == old && l.old == part.reference {
                        Some((1.0 / l.ratio.value, l.ratio.log_error))
                    } else {
                        None
                    }
                })
                .ok_or_else(missing)?;
            scale *= value;
            error = error.zip(log_error).map(|(a, b)| a.hypot(b));
        }
        before = Some(&part.reference);
        out.extend(part.points.iter().map(|p| Ratio {
            value: p.value * scale,
            log_error: p.log_error.zip(error).map(|(a, b)| a.hypot(b)),
        }));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(value: f64, error: f64) -> Ratio {
        Ratio { value, log_error: Some(error) }
    }

    #[test]
    fn a_link_scales_and_its_error_is_carried_on() {
        let parts = [
            ReferencePoints {
                reference: "a".into(),
                points: vec![ratio(1.0, 0.01), ratio(1.2, 0.03)],
            },
            ReferencePoints { reference: "b".into(), points: vec![ratio(1.0, 0.03)] },
            ReferencePoints { reference: "c".into(), points: vec![ratio(2.0, 0.0)] },
        ];
        let links = [
            Link { old: "a".into(), new: "b".into(), ratio: ratio(1.2, 0.04) },
            Link { old: "c".into(), new: "b".into(), ratio: ratio(2.0, 0.03) },
        ];
        let all = chain(&parts, &links).unwrap();
        assert_eq!(all[1], ratio(1.2, 0.03));
        assert!((all[2].value - 1.2).abs() < 1e-12);
        assert!((all[2].log_error.unwrap() - 0.05).abs() < 1e-12);
        assert!((all[3].value - 1.2).abs() < 1e-12);
        assert!((all[3].log_error.unwrap() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_missing_link_names_both_and_an_unknown_error_stays_unknown() {
        let part =
            |r: &str| ReferencePoints { reference: r.into(), points: vec![ratio(1.0, 0.01)] };
        let error = chain(&[part("a"), part("b")], &[]).unwrap_err();
        assert!(error.to_string().contains("references a and b"), "{error}");
        let unknown =
            Link { old: "a".into(), new: "b".into(), ratio: Ratio { value: 1.0, log_error: None } };
        assert_eq!(chain(&[part("a"), part("b")], &[unknown]).unwrap()[1].log_error, None);
    }
}
