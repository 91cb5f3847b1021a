//! What runs of a tool are called: by the comment behind the command, by what the tool says that it ran, by the line of
//! words over it, or by the command.

use crate::read::line::Line;

/// Longer lines of words are sentences.
pub(super) const MAX_NAME: usize = 60;

/// Whether a line is a command or a comment.
pub(super) fn is_prompt(line: &str) -> bool {
    line.starts_with(['$', '#', '%', '>']) || line.starts_with("In [")
}

/// Whether a line of prose is no part of a paragraph of several lines.
pub(super) fn stands_alone(text: &str, lines: &[Line], i: usize) -> bool {
    let prose = |l: &Line| {
        let other = l.blank || l.fence || l.hashes > 0 || l.bullet > 0;
        !other && !l.span.of(text).starts_with([' ', '\t'])
    };
    let before = i.checked_sub(1).and_then(|i| lines.get(i));
    !before.is_some_and(prose) && !lines.get(i + 1).is_some_and(prose)
}

/// What a run may be called.
#[derive(Debug, Clone, Default)]
pub(super) struct Titles {
    /// `# heddle 2.0` behind the command.
    comment: Option<String>,
    /// What the tool says that it ran.
    pub tool: Option<String>,
    /// The line of words over it, if none of the runs before has it.
    over: Option<String>,
    /// The line of words over it and others.
    last: String,
    command: Option<String>,
    /// The line over it of what a tool printed.
    inner: Option<String>,
}

/// What shells and others write before a command.
const PROMPTS: [&str; 3] = ["$ ", "% ", ">>> "];

impl Titles {
    /// A line of words or a command, from which on runs are called by it.
    pub(super) fn over(&mut self, line: &str) {
        let prompt = PROMPTS.iter().find_map(|p| line.strip_prefix(p));
        // "In [3]: %timeit f(x)"
        let cell = line.strip_prefix("In [").and_then(|l| l.split_once("]: "));
        let prompt = prompt.or(cell.map(|(_, command)| command));
        let bare = |s: &str| {
            s.trim_matches(['$', '#', '%', '=', '-', '*', ':', ' ', '`', '\t', '>']).to_owned()
        };
        let (own, comment) = match prompt.and_then(|p| p.split_once(" # ")) {
            Some((command, comment)) => (command, Some(bare(comment))),
            // "# dd if=/dev/zero of=/tank/big      (raidz2)"
            None => match line.rsplit_once("   ") {
                Some((command, note))
                    if line.starts_with(['#', '$']) && note.starts_with(['(', '#']) =>
                {
                    (command, Some(bare(note.trim_matches(['(', ')']))))
                }
                _ => (prompt.unwrap_or(line), None),
            },
        };
        let own = bare(own);
        if prompt.is_some() || comment.is_some() {
            self.comment = comment.filter(|c| !c.is_empty());
            self.command = Some(own.clone());
        } else {
            self.comment = None;
            self.command = None;
            self.over = Some(own.clone()).filter(|o| !o.is_empty());
        }
        self.last = own;
        self.tool = None;
    }

    /// A line that a tool printed.
    pub(super) fn inner(&mut self, line: &str) {
        line.trim_end_matches([':', ' ']).clone_into(self.inner.insert(String::new()));
    }

    /// The titles of the next run; the line over it is of no other.
    pub(super) fn take(&mut self) -> Titles {
        let own = self.clone();
        self.over = None;
        self.tool = None;
        self.inner = None;
        own
    }

    /// Whether a short line of words is over it and no other run.
    pub(super) fn names(&self) -> bool {
        self.over.as_ref().is_some_and(|over| over.len() <= MAX_NAME)
    }

    fn first(&self) -> &str {
        [&self.comment, &self.tool, &self.over, &self.command, &self.inner]
            .into_iter()
            .flatten()
            .next()
            .unwrap_or(&self.last)
    }

    /// The options of its command: words that begin with a dash, with what follows them.
    fn options(&self) -> Vec<(&str, String)> {
        let words: Vec<&str> =
            self.command.as_deref().unwrap_or("").split_whitespace().take(60).collect();
        let mut found: Vec<(&str, String)> = Vec::new();
        for (i, word) in words.iter().enumerate().skip(1) {
            match found.last_mut() {
                _ if word.starts_with('-') => found.push((word, (*word).to_owned())),
                Some((_, last)) if words[i - 1].starts_with('-') => {
                    *last = format!("{last} {word}");
                }
                _ => found.push((word, (*word).to_owned())),
            }
        }
        found
    }
}

/// The names of runs: each by the first of its titles that all of them have and that differ, with the options in which
/// commands of runs of the same name differ.
pub(super) fn titled(runs: &[&Titles]) -> Vec<String> {
    let of: [fn(&Titles) -> &Option<String>; 5] =
        [|t| &t.comment, |t| &t.tool, |t| &t.over, |t| &t.command, |t| &t.inner];
    let differ = |names: &Vec<String>| names.iter().any(|n| *n != names[0]) || names.len() == 1;
    let all = |of: &fn(&Titles) -> &Option<String>| {
        runs.iter().map(|t| of(t).clone()).collect::<Option<Vec<String>>>().filter(differ)
    };
    let names = of
        .iter()
        .find_map(all)
        .unwrap_or_else(|| runs.iter().map(|t| t.first().to_owned()).collect());
    (0..names.len())
        .map(|i| {
            let same: Vec<Vec<(&str, String)>> = (0..names.len())
                .filter(|j| *j != i && names[*j] == names[i])
                .take(8)
                .map(|j| runs[j].options())
                .collect();
            if same.is_empty() {
                return names[i].clone();
            }
            let own = runs[i].options();
            // An option that others do not have tells more than one with another value.
            let alone = |(key, _): &&(&str, String)| {
                key.starts_with('-') && same.iter().any(|s| s.iter().all(|(k, _)| k != key))
            };
            let other = |(_, all): &&(&str, String)| {
                same.iter().any(|s| s.iter().all(|(_, theirs)| theirs != all))
            };
            let theirs_alone = same
                .iter()
                .flatten()
                .any(|(key, _)| key.starts_with('-') && own.iter().all(|(k, _)| k != key));
            let mut more: Vec<&str> =
                own.iter().filter(alone).map(|(_, all)| all.as_str()).collect();
            if more.is_empty() && !theirs_alone {
                more = own.iter().filter(other).map(|(_, all)| all.as_str()).collect();
            }
            more.insert(0, &names[i]);
            more.join(" ")
        })
        .collect()
}
