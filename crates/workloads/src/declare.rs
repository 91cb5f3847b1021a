//! Declarative parameters and metrics. A row of [`params!`] is a field with its type, permitted
//! values, default and help; the specification and the parser are generated from it. A row of
//! [`metrics!`] is a name with its unit, its better direction, its kind and its definition.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use assay_model::{Better, MetricKind, MetricSpec, ParamSpec, ParamType, Scalar, units};

use crate::WorkloadError;
use crate::words::split_words;

/// Creates an error about a parameter.
pub(crate) fn wrong(message: impl Into<String>) -> WorkloadError {
    WorkloadError::Param(message.into())
}

/// The permitted values of a parameter, and their conversion to a `T`.
pub(crate) struct ParamRange<T> {
    ty: ParamType,
    read: ParamReader<T>,
}

type ParamReader<T> = Box<dyn Fn(&Scalar) -> Result<T, String>>;

fn takes<T>(ty: ParamType, read: impl Fn(&Scalar) -> Result<T, String> + 'static) -> ParamRange<T> {
    ParamRange { ty, read: Box::new(read) }
}

/// Accepts `true` or `false`.
pub(crate) fn flag() -> ParamRange<bool> {
    takes(ParamType::Bool, |v| v.as_bool().ok_or_else(|| "it takes true or false".into()))
}

/// Accepts a whole number from `min` to `max`.
pub(crate) fn int<T: TryFrom<i64>>(min: i64, max: i64) -> ParamRange<T> {
    takes(ParamType::Int { min, max }, |v| {
        let number = v.as_i64().and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| "it takes a whole number".into())
    })
}

/// Accepts a number from `min` to `max`.
pub(crate) fn number(min: f64, max: f64) -> ParamRange<f64> {
    let ty = ParamType::Float { min, max };
    takes(ty, |v| v.as_f64().ok_or_else(|| "it takes a number".into()))
}

/// Accepts a size in bytes.
pub(crate) fn size() -> ParamRange<u64> {
    takes(ParamType::Bytes, |v| units::bytes_of(v).map_err(|e| e.to_string()))
}

/// Accepts a duration such as `10 s`.
pub(crate) fn time() -> ParamRange<Duration> {
    takes(ParamType::Duration, |v| units::duration_of(v).map_err(|e| e.to_string()))
}

/// Accepts any text and trims it.
pub(crate) fn text() -> ParamRange<String> {
    takes(ParamType::Text, |v| Ok(v.to_text().trim().to_owned()))
}

/// Accepts the path of a file or folder.
pub(crate) fn path() -> ParamRange<PathBuf> {
    takes(ParamType::Text, |v| Ok(v.to_text().trim().into()))
}

/// Accepts a command line and splits it into words.
pub(crate) fn argv() -> ParamRange<Vec<OsString>> {
    parsed(|text| split_words(text).map_err(|e| format!("`{text}`: {e}")))
}

/// Accepts a text that `read` parses.
pub(crate) fn parsed<T: 'static, E: Display + 'static>(
    read: fn(&str) -> Result<T, E>,
) -> ParamRange<T> {
    takes(ParamType::Text, move |v| read(v.to_text().trim()).map_err(|e| e.to_string()))
}

/// Accepts one of `words`.
pub(crate) fn word(words: &[&str]) -> ParamRange<String> {
    takes(choice(words.iter().copied()), |v| Ok(v.to_text().trim().to_owned()))
}

/// Accepts one of `words`, each paired with its value.
pub(crate) fn one_of<T: Clone + 'static>(words: &[(&'static str, T)]) -> ParamRange<T> {
    let words = words.to_vec();
    takes(choice(words.iter().map(|(word, _)| *word)), move |v| {
        let text = v.to_text();
        let found = words.iter().find(|(word, _)| *word == text.trim());
        found.map(|(_, v)| v.clone()).ok_or_else(|| format!("there is no `{}`", text.trim()))
    })
}

/// Accepts the same as `takes`; returns `None` for an empty text or 0.
pub(crate) fn or_none<T: Default + PartialEq + 'static>(
    takes: ParamRange<T>,
) -> ParamRange<Option<T>> {
    let ParamRange { ty, read } = takes;
    self::takes(ty, move |v| read(v).map(|v| Some(v).filter(|v| *v != T::default())))
}

/// Returns the type of a choice among the words `of`.
pub(crate) fn choice<'a>(of: impl Iterator<Item = &'a str>) -> ParamType {
    ParamType::Choice { of: of.map(str::to_owned).collect() }
}

/// Creates the specification of a parameter; `help` is the text of a doc comment.
pub(crate) fn param(name: &str, ty: ParamType, default: &[Scalar], help: &str) -> ParamSpec {
    let (default, help) = (default.first().cloned(), help.trim().into());
    ParamSpec { name: name.into(), ty, default, help }
}

/// Creates the specification of a parameter with the values that `takes` permits.
pub(crate) fn row<T>(name: &str, takes: ParamRange<T>, default: Scalar, help: &str) -> ParamSpec {
    param(name, takes.ty, &[default], help)
}

/// Returns a parameter of a treatment as text; empty if it is missing.
pub(crate) fn text_of(params: &BTreeMap<String, Scalar>, name: &str) -> String {
    params.get(name).map(Scalar::to_text).unwrap_or_default()
}

/// Reads the value of a parameter in a treatment.
///
/// # Errors
/// [`WorkloadError::Param`] with a remedy: the parameter is missing or has an invalid value.
pub(crate) fn read<T>(
    map: &BTreeMap<String, Scalar>,
    name: &str,
    takes: ParamRange<T>,
) -> Result<T, WorkloadError> {
    let value = map.get(name).ok_or_else(|| wrong(format!("the parameter `{name}` is missing")))?;
    param(name, takes.ty, &[], "").check(value).map_err(wrong)?;
    (takes.read)(value).map_err(|e| wrong(format!("`{name}`: {e}")))
}

/// Creates the specification of a metric; `help` is the text of a doc comment.
pub(crate) fn metric(
    name: &str,
    unit: &str,
    better: Better,
    kind: MetricKind,
    help: &str,
) -> MetricSpec {
    let (name, unit, help) = (name.into(), unit.into(), help.trim().into());
    MetricSpec { name, unit, better, kind, help, merge: None, counted: false }
}

/// Declares parameters that are parsed by hand. A row is `/// Help text.` and `"name", type,
/// default;`, without a default for a required parameter.
macro_rules! rows {
    ($( $(#[doc = $help:literal])+ $name:literal, $ty:expr $(, $default:expr)?; )+) => {
        vec![$(
            $crate::declare::param($name, $ty, &[$( $default.into() )?], concat!($($help),+)),
        )+]
    };
}
pub(crate) use rows;

/// Declares metrics. A row is `/// Definition.` and `"name", "unit", Better, Kind;`, optionally
/// followed by `, counted` or `, summed` (over nodes). The first is the primary metric.
macro_rules! metrics {
    (@counted $row:expr) => { $row.counted() };
    (@summed $row:expr) => { $row.merged(assay_model::Merge::Sum) };
    (..$first:expr; $($rows:tt)*) => {
        [$first, $crate::declare::metrics! { $($rows)* }].concat()
    };
    ($(
        $(#[doc = $help:literal])+
        $name:literal, $unit:literal, $better:ident, $kind:ident $(, $more:ident)*;
    )*) => {
        vec![$({
            let (better, kind) = (assay_model::Better::$better, assay_model::MetricKind::$kind);
            let row = $crate::declare::metric($name, $unit, better, kind, concat!($($help),+));
            $( let row = $crate::declare::metrics!(@$more row); )*
            row
        },)*]
    };
}
pub(crate) use metrics;

/// Declares a workload's specification as `spec()`: `/// Help text.` and `NAME, rows of
/// parameters;`, then its [`metrics!`].
macro_rules! spec {
    ($(#[doc = $help:literal])+ $name:path, $params:expr; $($metrics:tt)*) => {
        /// Returns the workload's name, parameters and metrics.
        pub fn spec() -> &'static assay_model::WorkloadSpec {
            static SPEC: std::sync::LazyLock<assay_model::WorkloadSpec> =
                std::sync::LazyLock::new(|| assay_model::WorkloadSpec {
                    name: $name.into(),
                    help: concat!($($help),+).trim().into(),
                    params: $params,
                    metrics: $crate::declare::metrics! { $($metrics)* },
                    suite: None,
                });
            &SPEC
        }
    };
}
pub(crate) use spec;

/// Declares the parameters of a workload. A row is `/// Help text.` and `field: Type = takes,
/// default;`, with `field as "name"` if the name of the parameter is not an identifier.
macro_rules! params {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (
        $(#[$meta:meta])*
        $vis:vis struct $Params:ident {
            $( $(#[doc = $help:literal])+ $field:ident $(as $name:literal)? :
                $ty:ty = $takes:expr, $default:expr; )+
        }
    ) => {
        $(#[$meta])*
        $vis struct $Params {
            $( $(#[doc = $help])+ pub $field: $ty, )+
        }

        impl $Params {
            /// Returns the specifications of the parameters.
            pub fn rows() -> Vec<assay_model::ParamSpec> {
                vec![$(
                    $crate::declare::row::<$ty>(
                        $crate::declare::params!(@name $field $($name)?),
                        $takes,
                        $default.into(),
                        concat!($($help),+),
                    ),
                )+]
            }

            /// Reads all parameters of a treatment.
            ///
            /// # Errors
            /// [`WorkloadError::Param`](crate::WorkloadError::Param): a parameter is missing or
            /// invalid.
            pub fn read(
                map: &std::collections::BTreeMap<String, assay_model::Scalar>,
            ) -> Result<Self, $crate::WorkloadError> {
                Ok($Params {$(
                    $field: $crate::declare::read::<$ty>(
                        map,
                        $crate::declare::params!(@name $field $($name)?),
                        $takes,
                    )?,
                )+})
            }
        }
    };
}
pub(crate) use params;

/// Returns the defaults of a workload's parameters, with some of them changed.
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
        #[derive(Debug, PartialEq)]
        struct Sample {
            /// How many,
            /// at most nine.
            count: u32 = int(1, 9), 3;
            /// Path of the server.
            path as "server.path": Option<PathBuf> = or_none(path()), "";
            /// Direction of the sample.
            up: bool = one_of(&[("up", true), ("down", false)]), "up";
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
