//! The format of `kit.toml` as types. Unknown keys are errors; texts that can be wrong in themselves
//! keep their place in the file.

use std::collections::BTreeMap;
use std::fmt;

use assay_model::{Better, Merge, ParamSpec, ParamType, Scalar};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// A text with `{placeholders}`, and where it stands.
pub(crate) type Text = Spanned<String>;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KitFile {
    /// The version of the format; absent means 1.
    pub schema_version: Option<Spanned<u32>>,
    /// The kit's name: that of its folder.
    pub name: Text,
    /// The kit's own version.
    pub version: String,
    /// One sentence: what it makes the system do.
    pub help: String,
    /// Files that it has in common with other kits.
    pub shared: Option<Shared>,
    /// Its parameters.
    #[serde(default)]
    pub param: Vec<ParamRow>,
    /// Programs of the machine that it needs.
    #[serde(default)]
    pub need: Vec<Need>,
    /// What is fetched.
    #[serde(default)]
    pub fetch: Vec<Fetch>,
    /// What is built.
    pub build: Option<Build>,
    /// What is made before the measurement.
    #[serde(default)]
    pub prepare: Prepare,
    /// What is measured.
    pub run: Run,
    /// What makes a result count.
    #[serde(default)]
    pub validate: Validate,
    /// Result files of a form that assay knows.
    pub result: Option<ResultFile>,
    /// What is read out of it; the first is the primary metric.
    pub metric: Vec<MetricRow>,
}

/// Files outside the kit's folder that are a part of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shared {
    /// Their folder, relative to the kit's.
    pub from: Spanned<String>,
    /// Their names.
    pub files: Vec<Spanned<String>>,
}

/// One parameter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParamRow {
    /// Its name.
    pub name: Text,
    /// What its value must be.
    #[serde(rename = "type")]
    pub ty: ParamKind,
    /// The smallest value of an `int` or `float`.
    pub min: Option<Scalar>,
    /// The largest value of an `int` or `float`.
    pub max: Option<Scalar>,
    /// The words of a `choice`.
    pub of: Option<Vec<String>>,
    /// Its default value; absent: required.
    pub default: Option<Scalar>,
    /// One sentence.
    pub help: String,
}

/// The word behind `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ParamKind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// A size.
    Bytes,
    /// A duration.
    Duration,
    /// One of some words.
    Choice,
    /// Any text.
    Text,
}

/// A program that must be on the machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Need {
    /// Its name or path.
    pub program: Text,
    /// The Debian package that has it.
    pub package: String,
    /// What it is asked, to say its version.
    #[serde(default = "version_flag")]
    pub version: Vec<String>,
}

fn version_flag() -> Vec<String> {
    vec!["--version".into()]
}

/// Where fetched files come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Origin {
    /// The files of a Debian source package.
    DebianSource,
    /// A Debian binary package.
    DebianBinary,
}

/// One thing to fetch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fetch {
    /// Where from.
    pub from: Origin,
    /// The package.
    pub package: Text,
    /// Its version, exactly.
    pub version: Text,
    /// The SHA-256 of each file by its name; other files are not kept.
    pub files: BTreeMap<String, Text>,
}

/// One command: a list of arguments, or a line for a shell.
#[derive(Debug)]
pub(crate) enum Command {
    /// The program and its arguments.
    Args(Vec<Text>),
    /// `{ shell = "..." }`: read by `sh -c`; it takes values from the environment.
    Shell(Text),
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line {
            shell: Text,
        }
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
                Line::deserialize(MapAccessDeserializer::new(map)).map(|l| Command::Shell(l.shell))
            }
        }

        deserializer.deserialize_any(CommandVisitor)
    }
}

/// What is built, once for each set of inputs, compilers and parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    /// The commands, run in `{build}` one after the other.
    pub steps: Vec<Command>,
    /// Environment variables on top of the inherited ones.
    #[serde(default)]
    pub env: BTreeMap<String, Text>,
    /// The files that must be there in `{build}` afterwards; their hashes are recorded.
    pub produces: Vec<Text>,
    /// How long each command may take.
    pub timeout: Option<Spanned<Scalar>>,
}

/// What is made before the measurement.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Prepare {
    /// Commands run in `{input}`, once in a run for each set of values that they name.
    pub run: Vec<Command>,
    /// Commands run in `{trial_dir}` before every trial.
    pub trial: Vec<Command>,
    /// Environment variables on top of the inherited ones.
    pub env: BTreeMap<String, Text>,
    /// How long each command may take.
    pub timeout: Option<Spanned<Scalar>>,
}

/// What is measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The command.
    pub command: Command,
    /// Environment variables on top of the inherited ones.
    #[serde(default)]
    pub env: BTreeMap<String, Text>,
    /// A file for its standard input.
    pub stdin: Option<Text>,
    /// Whether it speaks the metrics protocol on file descriptor 3.
    #[serde(default)]
    pub protocol: bool,
}

/// What makes a result count.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Validate {
    /// Texts that standard output must contain.
    pub stdout_contains: Vec<Text>,
    /// The SHA-256 of the whole of standard output.
    pub stdout_sha256: Option<Text>,
    /// The SHA-256 of files, by path.
    pub files: BTreeMap<String, Text>,
    /// Commands that must succeed, run in `{trial_dir}`.
    pub commands: Vec<Command>,
    /// How long each command may take.
    pub timeout: Option<Spanned<Scalar>>,
}

/// Result files of a form that assay knows: they give metrics, notes and a verdict.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultFile {
    /// What reads them.
    pub reader: ResultReader,
    /// The file, or the folder of the files.
    pub path: Text,
}

/// The forms of result files that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ResultReader {
    /// The raw file or the CSV report of SPEC CPU's tools.
    SpecCpu,
}

/// A number of a whole result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Item {
    /// The geometric mean of the ratios of base, or of peak where base was not run.
    Ratio,
    /// The sum of the times behind `ratio`.
    Time,
    /// The geometric mean of the ratios of peak.
    PeakRatio,
    /// The sum of the times of peak.
    PeakTime,
}

/// Where a metric's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    /// The wall time of the program.
    Elapsed,
    /// Its CPU time in user mode.
    User,
    /// Its CPU time in the kernel.
    System,
    /// Its largest resident set.
    #[serde(rename = "peak_memory")]
    PeakMemory,
    /// A number in its standard output.
    Stdout,
    /// A number in its standard error.
    Stderr,
    /// A number in the file `path`.
    File,
    /// The size of the file `path`.
    Size,
    /// One number divided by another.
    Quotient,
    /// The program reports it on file descriptor 3.
    Protocol,
    /// A number of the files of `[result]`.
    Result,
}

/// Which of several matches of a pattern counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Take {
    /// There must be one alone.
    #[default]
    Only,
    /// The first.
    First,
    /// The last.
    Last,
}

/// One metric.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetricRow {
    /// Its name.
    pub name: Text,
    /// Its unit.
    pub unit: Text,
    /// Which way is better.
    pub better: Better,
    /// Its definition.
    pub help: String,
    /// Where it comes from.
    pub from: Source,
    /// The file of `file` and `size`.
    pub path: Option<Text>,
    /// The words around the number, with `{value}` where it stands.
    pub pattern: Option<Text>,
    /// The JSON pointer (RFC 6901) to the number.
    pub json: Option<Text>,
    /// Which number of a `result`.
    pub item: Option<Item>,
    /// Which of several matches of `pattern` counts.
    pub take: Option<Take>,
    /// What the number read is multiplied by, to be in `unit`.
    pub scale: Option<f64>,
    /// Of a `quotient`: another metric, or a number, size or duration.
    pub dividend: Option<Text>,
    /// Of a `quotient`: another metric, or a number, size or duration.
    pub divisor: Option<Text>,
    /// How the values of several nodes become one.
    pub merge: Option<Merge>,
    /// Whether it is a count or made of counts alone.
    #[serde(default)]
    pub counted: bool,
}

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
