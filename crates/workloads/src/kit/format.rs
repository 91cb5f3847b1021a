//! The format of `kit.toml` as types. Unknown keys are errors. Texts that are checked later keep
//! their position in the file.

use std::collections::BTreeMap;
use std::fmt;

use assay_model::{Better, Merge, ParamSpec, ParamType, Scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::pattern::Take;
use crate::problem::Mistake;

/// A value and its position in the file.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Placed<T>(pub Spanned<T>);

/// A text with `{placeholders}` and its position in the file.
pub(crate) type KitText = Placed<String>;

impl<T> std::ops::Deref for Placed<T> {
    type Target = Spanned<T>;

    fn deref(&self) -> &Spanned<T> {
        &self.0
    }
}

impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Returns the JSON Schema of `kit.toml`.
pub fn kit_schema() -> Schema {
    schemars::schema_for!(KitFile)
}

/// The content of a `kit.toml`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KitFile {
    /// Version of the format; absent means 1.
    pub schema_version: Option<Placed<u32>>,
    /// Name of the kit and of its folder: a-z, 0-9, `-`, `.`, `_`.
    pub name: KitText,
    /// Version of the kit itself, to raise when the numbers may change.
    pub version: String,
    /// Description in one sentence: the work that the kit makes the system do.
    pub help: String,
    /// Files that this kit shares with other kits.
    pub shared: Option<SharedFiles>,
    /// Parameters that an experiment can set or vary.
    #[serde(default)]
    pub param: Vec<ParamRow>,
    /// Programs that must be installed on the machine.
    #[serde(default)]
    pub need: Vec<RequiredProgram>,
    /// Packages to download, with their files.
    #[serde(default)]
    pub fetch: Vec<Fetch>,
    /// Build steps; their result is cached.
    pub build: Option<Build>,
    /// Preparations before the measurement.
    #[serde(default)]
    pub prepare: Prepare,
    /// The command to measure.
    pub run: Run,
    /// Conditions for a valid result.
    #[serde(default)]
    pub validate: Validate,
    /// Result files in a format that assay can read.
    pub result: Option<ResultFile>,
    /// Metrics of the kit; the first is the primary metric.
    pub metric: Vec<MetricRow>,
}

/// Files outside the kit's folder that belong to the kit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedFiles {
    /// Folder of the files, relative to the kit's.
    pub from: Placed<String>,
    /// Names of files in `from`; they count in the kit's hash, so builds depend on them.
    pub files: Vec<Placed<String>>,
}

/// A parameter of the kit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParamRow {
    /// Name of the parameter, no placeholder's; `{NAME}` in commands is its value.
    pub name: KitText,
    /// Type of the value.
    #[serde(rename = "type")]
    pub ty: ParamKind,
    /// Smallest value of an `int` or `float`.
    pub min: Option<Scalar>,
    /// Largest value of an `int` or `float`.
    pub max: Option<Scalar>,
    /// Words of a `choice`.
    pub of: Option<Vec<String>>,
    /// Default value, never a secret; if absent, the parameter is required.
    pub default: Option<Scalar>,
    /// Description in one sentence.
    pub help: String,
}

/// Value of the key `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ParamKind {
    /// The values `true` and `false`.
    Bool,
    /// A whole number, such as `4`.
    Int,
    /// A number, such as `0.5`.
    Float,
    /// A size in bytes, such as `4 KiB`.
    Bytes,
    /// A duration, such as `10 s`.
    Duration,
    /// One of the words in `of`.
    Choice,
    /// A text of any form.
    Text,
}

/// A program that must be installed on the machine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequiredProgram {
    /// Name or path of the program; may contain parameters (`{cc}`).
    pub program: KitText,
    /// Debian package that contains the program.
    pub package: String,
    /// Arguments that make the program print its version; builds depend on its first line.
    #[serde(default = "version_flag")]
    pub version: Vec<String>,
}

fn version_flag() -> Vec<String> {
    vec!["--version".into()]
}

/// Origin of fetched files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Origin {
    /// The files of a source package.
    DebianSource,
    /// A binary package (`.deb`).
    DebianBinary,
}

/// A package to fetch, and its files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fetch {
    /// The kind of package.
    pub from: Origin,
    /// Name of the package.
    pub package: KitText,
    /// Exact version of the package.
    pub version: KitText,
    /// SHA-256 of each file, by name; other files are not kept.
    pub files: BTreeMap<String, KitText>,
}

/// A command: a list of arguments, or a line for a shell.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Command {
    /// The program and its arguments.
    Args(Vec<KitText>),
    /// A line `{ shell = "..." }` for `sh -c`, which takes values from environment variables.
    Shell(#[schemars(with = "ShellLine")] KitText),
}

/// A line for `sh -c`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShellLine {
    /// Line for `sh -c`.
    shell: KitText,
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CommandVisitor;
        impl<'de> Visitor<'de> for CommandVisitor {
            type Value = Command;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list such as [\"make\", \"-C\", \"src\"], or { shell = \"...\" }")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Command, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Command::Args)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Command, A::Error> {
                ShellLine::deserialize(MapAccessDeserializer::new(map))
                    .map(|l| Command::Shell(l.shell))
            }
        }

        deserializer.deserialize_any(CommandVisitor)
    }
}

/// Build steps, run once for each set of inputs, compilers and parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    /// Commands, run in `{build}` one after the other.
    pub steps: Vec<Command>,
    /// Environment variables in addition to `PATH`, `HOME`, `TMPDIR` and `LC_ALL=C`.
    #[serde(default)]
    pub env: BTreeMap<String, KitText>,
    /// Files that must exist in `{build}` afterwards; their hashes are recorded.
    pub produces: Vec<KitText>,
    /// Time limit for each command (10 min if absent).
    pub timeout: Option<Placed<Scalar>>,
}

/// Preparations before the measurement.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Prepare {
    /// Commands run in `{input}`, once per run for each set of values of the parameters that they
    /// use.
    pub run: Vec<Command>,
    /// Commands run in `{trial_dir}` before every trial.
    pub trial: Vec<Command>,
    /// Environment variables in addition to `PATH`, `HOME`, `TMPDIR` and `LC_ALL=C`.
    pub env: BTreeMap<String, KitText>,
    /// Time limit for each command (10 min if absent).
    pub timeout: Option<Placed<Scalar>>,
}

/// Command line and input of the measured program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The measured program, run in `{trial_dir}`.
    pub command: Command,
    /// Environment variables in addition to assay's own.
    #[serde(default)]
    pub env: BTreeMap<String, KitText>,
    /// File to use as standard input; if absent, `/dev/null`.
    pub stdin: Option<KitText>,
    /// True if the program writes metrics, phases and notes to file descriptor 3.
    #[serde(default)]
    pub protocol: bool,
}

/// Conditions for a valid result.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Validate {
    /// Texts that standard output must contain.
    pub stdout_contains: Vec<KitText>,
    /// SHA-256 of the whole standard output.
    pub stdout_sha256: Option<KitText>,
    /// SHA-256 of files, by path.
    pub files: BTreeMap<String, KitText>,
    /// Commands that must succeed, run in `{trial_dir}`.
    pub commands: Vec<Command>,
    /// Time limit for each command (10 min if absent).
    pub timeout: Option<Placed<Scalar>>,
}

/// Results in a format that assay can read: they give metrics, notes and a verdict.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultFile {
    /// Name of the reader: a tool's, such as `go-bench`, or `spec-cpu`.
    pub reader: KitText,
    /// Path of the file, or of the folder with the files; if absent, the program's output. For
    /// `spec-cpu` a raw file (`.rsf`), a CSV report, or a folder of raw files.
    pub path: Option<KitText>,
}

/// Source of a metric's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MetricSource {
    /// Wall time of the program.
    Elapsed,
    /// CPU time of the program in user mode.
    User,
    /// CPU time of the program in the kernel.
    System,
    /// Maximum resident set size of the program.
    #[serde(rename = "peak_memory")]
    PeakMemory,
    /// A number in the standard output.
    Stdout,
    /// A number in the standard error.
    Stderr,
    /// A number in the file `path`.
    File,
    /// Size of the file `path`.
    Size,
    /// Quotient of two numbers.
    Quotient,
    /// A value that the program reports on file descriptor 3.
    Protocol,
    /// A number from the files of `[result]`.
    Result,
}

/// A metric of the kit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetricRow {
    /// Name of the metric; `benchmarks` is a family, with a value for each benchmark.
    pub name: KitText,
    /// Symbol of the unit, such as `s` or `ops/s`.
    pub unit: KitText,
    /// Direction that is better.
    pub better: Better,
    /// Definition of the metric.
    pub help: String,
    /// Source of the value.
    pub from: MetricSource,
    /// File for the sources `file` and `size`.
    pub path: Option<KitText>,
    /// Piece of a line around the number, with `{value}` in its place.
    pub pattern: Option<KitText>,
    /// JSON pointer (RFC 6901) to the number in a file or output that is one document.
    pub json: Option<KitText>,
    /// Number to take from a `result`: a metric of the tool; for `spec-cpu` `ratio` (geometric
    /// mean) or `time` (sum) of base, or of peak if base was not run, `peak_ratio`, `peak_time`.
    pub item: Option<KitText>,
    /// Choice among several matches of `pattern`.
    pub take: Option<Take>,
    /// Factor that converts the number to `unit`: `1e6` for MB/s read into B/s.
    pub scale: Option<f64>,
    /// Dividend of a `quotient`: another metric, or a number, size or duration.
    pub dividend: Option<KitText>,
    /// Divisor of a `quotient`: another metric, or a number, size or duration.
    pub divisor: Option<KitText>,
    /// Rule for merging the values of several nodes; by default the unit's.
    pub merge: Option<Merge>,
    /// True for a count without a clock, which can be compared on an emulated machine. Sizes,
    /// memory, and quotients of them and of numbers are counts anyway.
    #[serde(default)]
    pub counted: bool,
}

/// Converts a parameter's row to the specification that the rest of assay uses.
///
/// # Errors
/// Fails if a key does not belong to the type.
pub(crate) fn param_spec(row: &ParamRow) -> Result<ParamSpec, Mistake> {
    let name = row.name.get_ref();
    let wrong = |message: String| Mistake { at: row.name.span().start, message };
    let bounded = matches!(row.ty, ParamKind::Int | ParamKind::Float);
    if !bounded && (row.min.is_some() || row.max.is_some()) {
        return Err(wrong(format!(
            "`min` and `max` of `{name}` belong to the types int and float"
        )));
    }
    if (row.ty == ParamKind::Choice) != row.of.as_ref().is_some_and(|of| !of.is_empty()) {
        return Err(wrong(format!("`of`, a list of words, belongs to the type choice (`{name}`)")));
    }
    let int = |bound: &Option<Scalar>, otherwise| match bound {
        None => Ok(otherwise),
        Some(b) => b.as_i64().ok_or(wrong(format!("a bound of `{name}` is not a whole number"))),
    };
    let float = |bound: &Option<Scalar>, otherwise| match bound {
        None => Ok(otherwise),
        Some(b) => b.as_f64().ok_or(wrong(format!("a bound of `{name}` is not a number"))),
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
