//! Text with a meaning for each piece: strong, code, a link, a number that leads to its trials.

use assay_model::Verdict;
use maud::Markup;

use super::TrialLinks;

/// Emphasis or judgement of a text, which outputs show in colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    Strong,
    Soft,
    Good,
    Bad,
    Warn,
}

impl Tone {
    /// Returns the tone of a verdict.
    pub fn for_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Better => Tone::Good,
            Verdict::Worse | Verdict::Invalid => Tone::Bad,
            Verdict::Equivalent => Tone::Plain,
            Verdict::Inconclusive | Verdict::NotEstablished => Tone::Warn,
        }
    }
}

/// The kind of a piece of text.
#[derive(Debug, Clone, Default)]
pub enum TextStyle {
    #[default]
    Plain,
    Strong,
    Soft,
    Code,
    /// A value that is withheld or could not be read; the field is its CSS class.
    Unknown(&'static str),
    Verdict(Verdict),
    /// A link to this address or, if it begins with `#`, to this place of the page.
    Link(String),
    /// A number with the trials behind it.
    From(TrialLinks),
    /// Links to these trials.
    Trials(TrialLinks),
    /// A computed number of a post, by its index there.
    Number(usize),
    /// Marks of findings of a post, by their indices there.
    Marks(Vec<usize>),
    /// A number or a mark of a post, rendered for a page; its words are for Markdown and already
    /// escaped.
    Made(Markup),
}

/// Placeholder for a value that was not recorded.
pub const NOTHING: &str = "—";

/// A text as a sequence of pieces.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Text(pub Vec<(TextStyle, String)>);

/// Creates a text that begins with plain words.
pub fn text(words: impl Into<String>) -> Text {
    Text::default().plain(words)
}

impl Text {
    /// Appends a piece of the kind `look`.
    pub fn piece(mut self, look: TextStyle, words: impl Into<String>) -> Self {
        self.0.push((look, words.into()));
        self
    }

    /// Appends plain words to the text.
    pub fn plain(self, words: impl Into<String>) -> Self {
        self.piece(TextStyle::Plain, words)
    }

    /// Appends code, such as a command or an identifier.
    pub fn code(self, words: impl Into<String>) -> Self {
        self.piece(TextStyle::Code, words)
    }

    /// Appends words with strong emphasis.
    pub fn strong(self, words: impl Into<String>) -> Self {
        self.piece(TextStyle::Strong, words)
    }

    /// Appends a link with its words.
    pub fn link(self, to: impl Into<String>, words: impl Into<String>) -> Self {
        self.piece(TextStyle::Link(to.into()), words)
    }

    /// Appends a number with the trials behind it.
    pub fn from(self, behind: &TrialLinks, words: impl Into<String>) -> Self {
        self.piece(TextStyle::From(behind.clone()), words)
    }

    /// Appends a computed number of a post, by its index.
    pub fn number(self, at: usize) -> Self {
        self.piece(TextStyle::Number(at), "")
    }

    /// Returns the words without their looks.
    pub fn words(&self) -> String {
        self.0.iter().map(|(_, words)| words.as_str()).collect()
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        text(words)
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        text(words)
    }
}
