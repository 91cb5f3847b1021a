//! Words with what each of them means: strong, code, a link, a number that leads to its trials.

use assay_model::Verdict;
use maud::Markup;

use super::Behind;

/// What text means, for those who see colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Strong,
    Soft,
    Good,
    Bad,
    Warn,
}

impl Tone {
    /// The tone of a verdict.
    pub(crate) fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Better => Tone::Good,
            Verdict::Worse | Verdict::Invalid => Tone::Bad,
            Verdict::Equivalent => Tone::Plain,
            Verdict::Inconclusive | Verdict::NotEstablished => Tone::Warn,
        }
    }
}

/// What a piece of text is.
#[derive(Debug, Clone, Default)]
pub(crate) enum Look {
    #[default]
    Plain,
    Strong,
    Soft,
    Code,
    /// What is withheld or could not be read.
    Unknown(&'static str),
    /// A verdict.
    Verdict(Verdict),
    /// A link to this address or, after a `#`, to this place of the page.
    Link(String),
    /// A number with the trials behind it.
    From(Behind),
    /// Links to those trials.
    Trials(Behind),
    /// The computed number of a post, by its position there.
    Number(usize),
    /// Marks of findings of a post, by their positions there.
    Marks(Vec<usize>),
    /// A number or a mark of a post as a page has it; the words are as Markdown has it, escaped where they must
    /// be.
    Made(Markup),
}

/// What stands where nothing is recorded.
pub(crate) const NOTHING: &str = "—";

/// Pieces of text in a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text(pub(crate) Vec<(Look, String)>);

/// Plain text, to be continued.
pub(crate) fn text(words: impl Into<String>) -> Text {
    Text::default().plain(words)
}

impl Text {
    /// And a piece of a look.
    pub(crate) fn piece(mut self, look: Look, words: impl Into<String>) -> Self {
        self.0.push((look, words.into()));
        self
    }

    /// And plain words.
    pub(crate) fn plain(self, words: impl Into<String>) -> Self {
        self.piece(Look::Plain, words)
    }

    /// And something typed or named as it is.
    pub(crate) fn code(self, words: impl Into<String>) -> Self {
        self.piece(Look::Code, words)
    }

    /// And strong words.
    pub(crate) fn strong(self, words: impl Into<String>) -> Self {
        self.piece(Look::Strong, words)
    }

    /// And a link.
    pub(crate) fn link(self, to: impl Into<String>, words: impl Into<String>) -> Self {
        self.piece(Look::Link(to.into()), words)
    }

    /// And a number with the trials behind it.
    pub(crate) fn from(self, behind: &Behind, words: impl Into<String>) -> Self {
        self.piece(Look::From(behind.clone()), words)
    }

    /// And the computed number of a post.
    pub(crate) fn number(self, at: usize) -> Self {
        self.piece(Look::Number(at), "")
    }

    /// The words alone.
    pub(crate) fn words(&self) -> String {
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
