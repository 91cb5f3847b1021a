//! Seven questions to ask before a gain between two runs is believed, with what the records answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the records say to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The same in both, as far as was recorded.
    Same,
    /// Not the same.
    Differs,
    /// Nothing, or not enough, was recorded.
    Unknown,
}

impl Answer {
    /// The answer's word.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Same => "same",
            Answer::Differs => "differs",
            Answer::Unknown => "unknown",
        }
    }
}

/// One question, answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// Its number, from 1.
    pub number: u32,
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: Answer,
    /// What differs or is not known (`path: a | b`), or what the answer rests on.
    pub details: Vec<String>,
}
