//! Rule packs: the requirements of a benchmark or organization on a result, as data with a version
//! and a date. A rule names the check that evaluates it and its parameters; [`evaluate`] returns
//! the outcome of every rule and the overall verdict. Packs are built in ([`embedded`]) or read
//! from a folder ([`read_dir`]).

pub mod cpu;
mod evaluate;
pub mod fair_use;
mod file;
mod judged;
pub mod orders;
mod result_file;
mod rule;

pub use evaluate::{PackEvidence, PackVerdict, RuleOutcome, RuleResult, evaluate};
pub use file::{PackError, embedded, read, read_dir};
pub use result_file::{JudgedFile, ResultFileError, judge_file};
pub use rule::{Pack, PackRule, PackScope, Parameter, RuleSource, Verdict};
