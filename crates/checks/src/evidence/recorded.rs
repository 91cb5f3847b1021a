//! Values that may not be recorded, and the ends of a check that needs them.

/// A value that may be known to be absent: a page without prices differs from a page whose prices
/// nobody recorded.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum RecordedValue<T> {
    /// Nothing is recorded about the value.
    #[default]
    NotRecorded,
    /// The value is known to be absent; the reason is a sentence without a full stop.
    Absent(String),
    Is(T),
}

impl<T> RecordedValue<T> {
    /// Returns the value if there is one.
    pub fn get(&self) -> Option<&T> {
        match self {
            RecordedValue::Is(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value, or the reason why a check that needs it ends.
    pub(crate) fn need(&self, what: &str) -> Result<&T, Unevaluated> {
        match self {
            RecordedValue::Is(value) => Ok(value),
            RecordedValue::Absent(why) => Err(Unevaluated::NotApplicable(why.clone())),
            RecordedValue::NotRecorded => Err(Unevaluated::Missing(what.to_owned())),
        }
    }
}

/// Reason why an evaluation ended early.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Unevaluated {
    /// The object of the check is known to be absent.
    NotApplicable(String),
    /// Evidence that the check needs is not recorded.
    Missing(String),
}

/// Ends the check because `what` is not recorded.
pub(crate) fn missing<T>(what: impl Into<String>) -> Result<T, Unevaluated> {
    Err(Unevaluated::Missing(what.into()))
}

/// Ends the check because its object is known to be absent.
pub(crate) fn not_applicable<T>(why: impl Into<String>) -> Result<T, Unevaluated> {
    Err(Unevaluated::NotApplicable(why.into()))
}

/// Returns the value of an option, or [`Unevaluated::Missing`] if it is `None`.
pub(crate) fn need<T>(value: Option<T>, what: impl Into<String>) -> Result<T, Unevaluated> {
    value.ok_or_else(|| Unevaluated::Missing(what.into()))
}

/// Returns the value if it is recorded and finite, else [`Unevaluated::Missing`].
pub(crate) fn need_number(value: Option<f64>, what: impl Into<String>) -> Result<f64, Unevaluated> {
    value.filter(|v| v.is_finite()).ok_or_else(|| Unevaluated::Missing(what.into()))
}
