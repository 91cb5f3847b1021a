//! Parameters that are declared once: a row of [`params!`] is a field with its type, what the value may be,
//! its default and its help; the specification and the reader are made from the rows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use assay_model::{ParamSpec, ParamType, Scalar, units};

use crate::WorkloadError;
use crate::words::split_words;

/// An error of a parameter.
pub(crate) fn wrong(message: impl Into<String>) -> WorkloadError {
    WorkloadError::Param(message.into())
}

/// What a parameter's value may be, and how it becomes a `T`.
pub(crate) trait Takes<T> {
    /// The type that the specification has.
    fn ty(&self) -> ParamType;

    /// The value, which is of that type.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    fn value(&self, value: &Scalar) -> Result<T, String>;
}

/// `true` or `false`.
pub(crate) struct Flag;
/// A whole number from the first to the second.
pub(crate) struct Int(pub i64, pub i64);
/// A number from the first to the second.
pub(crate) struct Number(pub f64, pub f64);
/// A size in bytes.
pub(crate) struct Size;
/// A duration.
pub(crate) struct Time;
/// A text without the blanks around it.
pub(crate) struct Text;
/// The same, and nothing where it is empty or 0.
pub(crate) struct OrNone<K>(pub K);
/// One of these words.
pub(crate) struct Word<'a>(pub &'a [&'a str]);
/// One of these words, each with what it stands for.
pub(crate) struct OneOf<'a, T>(pub &'a [(&'a str, T)]);
/// A text that is read by a function.
pub(crate) struct Read<T>(pub fn(&str) -> Result<T, String>);

fn words<'a>(of: impl Iterator<Item = &'a str>) -> ParamType {
    ParamType::Choice { of: of.map(str::to_owned).collect() }
}

fn text(value: &Scalar) -> String {
    value.to_text().trim().to_owned()
}

impl Takes<bool> for Flag {
    fn ty(&self) -> ParamType {
        ParamType::Bool
    }

    fn value(&self, value: &Scalar) -> Result<bool, String> {
        value.as_bool().ok_or_else(|| "it takes true or false".into())
    }
}

impl<T: TryFrom<i64>> Takes<T> for Int {
    fn ty(&self) -> ParamType {
        ParamType::Int { min: self.0, max: self.1 }
    }

    fn value(&self, value: &Scalar) -> Result<T, String> {
        let number = value.as_i64().and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| "it takes a whole number".into())
    }
}

impl Takes<f64> for Number {
    fn ty(&self) -> ParamType {
        ParamType::Float { min: self.0, max: self.1 }
    }

    fn value(&self, value: &Scalar) -> Result<f64, String> {
        value.as_f64().ok_or_else(|| "it takes a number".into())
    }
}

impl Takes<u64> for Size {
    fn ty(&self) -> ParamType {
        ParamType::Bytes
    }

    fn value(&self, value: &Scalar) -> Result<u64, String> {
        units::bytes_of(value).map_err(|e| e.to_string())
    }
}

impl Takes<Duration> for Time {
    fn ty(&self) -> ParamType {
        ParamType::Duration
    }

    fn value(&self, value: &Scalar) -> Result<Duration, String> {
        units::duration_of(value).map_err(|e| e.to_string())
    }
}

impl Takes<String> for Text {
    fn ty(&self) -> ParamType {
        ParamType::Text
    }

    fn value(&self, value: &Scalar) -> Result<String, String> {
        Ok(text(value))
    }
}

impl Takes<PathBuf> for Text {
    fn ty(&self) -> ParamType {
        ParamType::Text
    }

    fn value(&self, value: &Scalar) -> Result<PathBuf, String> {
        Ok(text(value).into())
    }
}

impl Takes<Vec<OsString>> for Text {
    fn ty(&self) -> ParamType {
        ParamType::Text
    }

    fn value(&self, value: &Scalar) -> Result<Vec<OsString>, String> {
        let text = text(value);
        split_words(&text).map_err(|e| format!("`{text}`: {e}"))
    }
}

impl Takes<String> for Word<'_> {
    fn ty(&self) -> ParamType {
        words(self.0.iter().copied())
    }

    fn value(&self, value: &Scalar) -> Result<String, String> {
        Ok(text(value))
    }
}

impl<T: Clone> Takes<T> for OneOf<'_, T> {
    fn ty(&self) -> ParamType {
        words(self.0.iter().map(|(word, _)| *word))
    }

    fn value(&self, value: &Scalar) -> Result<T, String> {
        let text = text(value);
        let found = self.0.iter().find(|(word, _)| *word == text).map(|(_, value)| value.clone());
        found.ok_or_else(|| format!("there is no `{text}`"))
    }
}

impl<T> Takes<T> for Read<T> {
    fn ty(&self) -> ParamType {
        ParamType::Text
    }

    fn value(&self, value: &Scalar) -> Result<T, String> {
        (self.0)(&text(value))
    }
}

impl<T: Default + PartialEq, K: Takes<T>> Takes<Option<T>> for OrNone<K> {
    fn ty(&self) -> ParamType {
        self.0.ty()
    }

    fn value(&self, value: &Scalar) -> Result<Option<T>, String> {
        self.0.value(value).map(|v| Some(v).filter(|v| *v != T::default()))
    }
}

/// The specification of a parameter. `help` is the text of a doc comment.
pub(crate) fn row<T>(
    name: &str,
    takes: &impl Takes<T>,
    default: impl Into<Scalar>,
    help: &str,
) -> ParamSpec {
    ParamSpec {
        name: name.into(),
        ty: takes.ty(),
        default: Some(default.into()),
        help: help.trim().into(),
    }
}

/// The value of a parameter in a treatment.
///
/// # Errors
/// [`WorkloadError::Param`]: it is missing or cannot be, and what would be right.
pub(crate) fn read<T>(
    map: &BTreeMap<String, Scalar>,
    name: &str,
    takes: &impl Takes<T>,
) -> Result<T, WorkloadError> {
    let value = map.get(name).ok_or_else(|| wrong(format!("the parameter `{name}` is missing")))?;
    let row = ParamSpec { name: name.into(), ty: takes.ty(), default: None, help: String::new() };
    row.check(value).map_err(wrong)?;
    takes.value(value).map_err(|e| wrong(format!("`{name}`: {e}")))
}

/// Declares the parameters of a workload. A row is
/// `/// Its help.` and `field: Type = takes, default;`, with `field as "name"` where the name of the
/// parameter is no identifier.
macro_rules! params {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (
        $(#[$meta:meta])*
        $vis:vis struct $Params:ident {
            $( $(#[doc = $help:literal])+ $field:ident $(as $name:literal)? : $ty:ty = $takes:expr, $default:expr; )+
        }
    ) => {
        $(#[$meta])*
        $vis struct $Params {
            $( $(#[doc = $help])+ pub $field: $ty, )+
        }

        impl $Params {
            /// The rows that describe them.
            pub fn rows() -> Vec<assay_model::ParamSpec> {
                vec![$(
                    $crate::declare::row::<$ty>(
                        $crate::declare::params!(@name $field $($name)?),
                        &$takes,
                        $default,
                        concat!($($help),+),
                    ),
                )+]
            }

            /// Reads each of the checked parameters of a treatment.
            ///
            /// # Errors
            /// [`WorkloadError::Param`](crate::WorkloadError::Param): one is missing or cannot be.
            pub fn read(
                map: &std::collections::BTreeMap<String, assay_model::Scalar>,
            ) -> Result<Self, $crate::WorkloadError> {
                Ok($Params {$(
                    $field: $crate::declare::read::<$ty>(
                        map,
                        $crate::declare::params!(@name $field $($name)?),
                        &$takes,
                    )?,
                )+})
            }
        }
    };
}
pub(crate) use params;

/// The defaults of a workload's parameters, with some of them changed.
#[cfg(test)]
pub(crate) fn treatment(
    rows: Vec<ParamSpec>,
    changes: &[(&str, Scalar)],
) -> BTreeMap<String, Scalar> {
    let mut map: BTreeMap<String, Scalar> =
        rows.into_iter().filter_map(|p| Some((p.name, p.default?))).collect();
    for (name, value) in changes {
        assert!(map.insert((*name).to_owned(), value.clone()).is_some(), "no `{name}`");
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    params! {
        /// Some parameters.
        #[derive(Debug, PartialEq)]
        struct Sample {
            /// How many,
            /// at most nine.
            count: u32 = Int(1, 9), 3;
            /// Where.
            path as "server.path": Option<PathBuf> = OrNone(Text), "";
            /// Which way.
            up: bool = OneOf(&[("up", true), ("down", false)]), "up";
        }
    }

    #[test]
    fn a_row_is_the_specification_and_the_value() {
        let rows = Sample::rows();
        assert_eq!(
            (rows[0].name.as_str(), rows[0].help.as_str()),
            ("count", "How many, at most nine.")
        );
        assert_eq!(rows[0].ty, ParamType::Int { min: 1, max: 9 });
        assert_eq!(rows[1].name, "server.path");
        let read = |changes: &[(&str, Scalar)]| Sample::read(&treatment(Sample::rows(), changes));
        assert_eq!(read(&[]).unwrap(), Sample { count: 3, path: None, up: true });
        let changed = read(&[("server.path", "/x".into()), ("up", "down".into())]).unwrap();
        assert_eq!(changed, Sample { count: 3, path: Some("/x".into()), up: false });
        let error = |name, value: Scalar| read(&[(name, value)]).unwrap_err().to_string();
        assert!(error("count", 10.into()).contains("it takes 1 to 9"));
        assert!(error("up", "left".into()).contains("one of up, down"));
        assert!(
            Sample::read(&BTreeMap::new()).unwrap_err().to_string().contains("`count` is missing")
        );
    }
}
