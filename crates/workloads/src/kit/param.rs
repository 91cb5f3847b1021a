//! A parameter of a kit as the specification that the rest of assay knows.

use assay_model::{ParamSpec, ParamType, Scalar};

use super::format::{ParamKind, ParamRow};

/// A parameter's row as the specification that the rest of assay knows.
///
/// # Errors
/// Keys that do not belong to the type, as a sentence.
pub(crate) fn param_spec(row: &ParamRow) -> Result<ParamSpec, String> {
    let name = row.name.get_ref();
    let bounded = matches!(row.ty, ParamKind::Int | ParamKind::Float);
    if !bounded && (row.min.is_some() || row.max.is_some()) {
        return Err(format!("`min` and `max` of `{name}` belong to the types int and float"));
    }
    if (row.ty == ParamKind::Choice) != row.of.as_ref().is_some_and(|of| !of.is_empty()) {
        return Err(format!("`of`, a list of words, belongs to the type choice (`{name}`)"));
    }
    let int = |bound: &Option<Scalar>, otherwise| match bound {
        None => Ok(otherwise),
        Some(b) => b.as_i64().ok_or(format!("a bound of `{name}` is not a whole number")),
    };
    let float = |bound: &Option<Scalar>, otherwise| match bound {
        None => Ok(otherwise),
        Some(b) => b.as_f64().ok_or(format!("a bound of `{name}` is not a number")),
    };
    let ty = match row.ty {
        ParamKind::Bool => ParamType::Bool,
        ParamKind::Int => {
            ParamType::Int { min: int(&row.min, i64::MIN)?, max: int(&row.max, i64::MAX)? }
        }
        ParamKind::Float => {
            ParamType::Float { min: float(&row.min, f64::MIN)?, max: float(&row.max, f64::MAX)? }
        }
        ParamKind::Bytes => ParamType::Bytes,
        ParamKind::Duration => ParamType::Duration,
        ParamKind::Choice => ParamType::Choice { of: row.of.clone().unwrap_or_default() },
        ParamKind::Text => ParamType::Text,
    };
    Ok(ParamSpec { name: name.clone(), ty, default: row.default.clone(), help: row.help.clone() })
}
