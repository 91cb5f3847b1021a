//! Claims: statements of a post that are tested again with the runs in the reader's archive.
//! `ahead("run:time@new", than="run:time@old")` holds here, does not hold, is undecided, or cannot
//! be asked on this machine.

use std::fmt::Write as _;

use assay_model::{Better, Verdict};
use assay_quoted::denominator::Basis;

use super::amount::Amount;
use super::answer::{Claim, LocalOutcome};
use super::arguments::{Arguments, Signature};
use super::error::{Result, suggestion};
use super::evaluator::{CallResult, Evaluator};
use super::expression::{Argument, Call, Expression, ExpressionKind};
use super::functions::{Ratio, ratio};
use super::read::{CLOSE, MarkdownPlace, OPEN};
use super::template::{Claim as Template, Piece};
use assay_report::merged_sentences::distinct;

const ASKED: [Signature; 4] = [
    asked(&["a", "than", "then"], "ahead", "ahead(\"own:elapsed@new\", than=\"own:elapsed@old\")"),
    asked(
        &["a", "than", "then"],
        "differs",
        "differs(\"own:elapsed@new\", than=\"own:elapsed@old\")",
    ),
    asked(&["a", "of", "then"], "multiple", "multiple(\"sweep:throughput.best_x\", of=4096)"),
    asked(&["because", "then"], "elsewhere", "elsewhere(because=\"it needs Solaris\")"),
];

/// Returns the signature of a claim that needs all arguments except `then`.
const fn asked(
    arguments: &'static [&'static str],
    name: &'static str,
    example: &'static str,
) -> Signature {
    Signature { name, arguments, unnamed: 1, needed: arguments.len() - 1, example }
}

/// Returns the runs that each claim of a template needs, by the template's names for them.
pub(super) fn runs(pieces: &[Piece]) -> Vec<Vec<String>> {
    pieces
        .iter()
        .filter_map(|p| match p {
            Piece::Claim(c) => Some(of_call(&c.call)),
            _ => None,
        })
        .collect()
}

/// Returns the names of the runs in a call.
fn of_call(call: &Call) -> Vec<String> {
    let own =
        |a: &&Argument| !matches!(&a.name, Some((name, _)) if name == "then" || name == "because");
    let named = call.arguments.iter().filter(own).filter_map(|a| match &a.value.what {
        ExpressionKind::Text(text) => text.split_once(':').map(|(alias, _)| alias.to_owned()),
        _ => None,
    });
    distinct(named)
}

impl<'a> Evaluator<'a> {
    /// Tests a claim, and writes its text and its place into the Markdown.
    pub(super) fn claim(&mut self, claim: &'a Template, out: &mut String) -> Result<()> {
        let call = &claim.call;
        let Some(signature) = ASKED.iter().find(|s| s.name == call.name) else {
            let known: Vec<&str> = ASKED.iter().map(|s| s.name).collect();
            let message = format!("`{}` does not make a claim", call.name);
            let help = suggestion(&call.name, &known);
            return Err(self.text.error(call.name_span.clone(), message, help));
        };
        let arguments = Arguments::bind(self.text, call, *signature)?;
        let from = out.len();
        self.pieces(&claim.says, out)?;
        let text = self.words(&out[from..]);
        let then = self.then(&arguments)?;
        let needed = of_call(call);
        for alias in &needed {
            self.spec(alias, call.span.clone())?;
        }
        let absent = needed.iter().find(|alias| !self.runs.contains_key(*alias)).cloned();
        let (here, why) = match (&absent, call.name.as_str()) {
            (_, "elsewhere") => {
                let because = self.typed_argument(&arguments, "because", "reason of a claim")?;
                (LocalOutcome::CannotBeAsked, because.unwrap_or_default())
            }
            (Some(alias), _) => {
                let file = &self.front.runs[alias].experiment;
                (LocalOutcome::Undecided, format!("not run here; run `assay run {file}`"))
            }
            (None, "multiple") => self.multiple(&arguments)?,
            (None, asked) => self.related(&arguments, asked),
        };
        let at = self.claims.len();
        let (not_run, line) = (absent.is_some(), arguments.line());
        self.claims.push(Claim {
            text,
            asked: call.name.clone(),
            then,
            here,
            why,
            runs: needed,
            not_run,
            line,
        });
        let _ = write!(out, " {}", MarkdownPlace::Claim(at));
        Ok(())
    }

    /// Converts a piece of Markdown to plain text, with its numbers.
    fn words(&self, markdown: &str) -> String {
        let mut out = String::new();
        for (i, part) in markdown.split(OPEN).enumerate() {
            let rest = match part.split_once(CLOSE).filter(|_| i > 0) {
                Some((place, rest)) => {
                    if let Some(MarkdownPlace::Number(at)) = MarkdownPlace::read(place) {
                        out.push_str(&self.numbers[at].text);
                    }
                    rest
                }
                None => part,
            };
            out.push_str(&rest.replace(['*', '`'], ""));
        }
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the result at the time of the post: a computed number, or text.
    fn then(&mut self, a: &Arguments<'a>) -> Result<Option<String>> {
        match a.get("then") {
            None => Ok(None),
            Some(Expression { what: ExpressionKind::Text(text), span }) => {
                Ok(Some(self.typed_text(text, "what a claim was then", Some(span.clone()))))
            }
            Some(Expression { what: ExpressionKind::Call(call), .. }) => match self.call(call)? {
                CallResult::Number(at) if self.numbers[at].is_statement => {
                    Err(a.error("then", "`then` takes a comparison without `statement`", ""))
                }
                CallResult::Number(at) => Ok(Some(self.numbers[at].text.clone())),
                CallResult::Amount(amount) => match super::functions::print(self, call, &amount) {
                    CallResult::Number(at) => Ok(Some(self.numbers[at].text.clone())),
                    _ => Ok(None),
                },
                _ => Err(a.error("then", "`then` is a number or words", "")),
            },
            Some(_) => Err(a.error("then", "`then` is a call that makes a number, or a text", "")),
        }
    }

    /// Tests if one result of a run is ahead of another, or differs from it.
    fn related(&mut self, arguments: &Arguments<'a>, asked: &str) -> (LocalOutcome, String) {
        // A result that this machine's run does not have leaves the claim undecided and is no
        // error: other machines have other settings.
        let sides = (self.amount(arguments, "a"), self.amount(arguments, "than"));
        let (a, b) = match sides {
            (Ok(a), Ok(b)) => (a, b),
            (Err(e), _) | (_, Err(e)) => return (LocalOutcome::Undecided, e.message),
        };
        if let Some(why) = a.withheld.as_ref().or(b.withheld.as_ref()) {
            return (LocalOutcome::Undecided, format!("withheld: {why}"));
        }
        if a.entry.value.unit != b.entry.value.unit {
            let why = format!("{} against {} has no ratio", a.entry.value.unit, b.entry.value.unit);
            return (LocalOutcome::Undecided, why);
        }
        let (x, y) = if a.better() == Better::Lower { (&b, &a) } else { (&a, &b) };
        match ratio(self, x, y, Basis::Total) {
            Err(e) => (LocalOutcome::Undecided, e.to_string()),
            Ok(r) => judged(&r, &a, &b, asked),
        }
    }

    /// Tests if a value is a whole multiple of a number.
    fn multiple(&mut self, arguments: &Arguments<'a>) -> Result<(LocalOutcome, String)> {
        let size = match arguments.get("of") {
            Some(Expression { what: ExpressionKind::Number(n), .. }) if *n > 0.0 => *n,
            _ => {
                let help = "for example `of=4096`";
                return Err(arguments.error("of", "`of` is a number above 0", help));
            }
        };
        let amount = match self.amount(arguments, "a") {
            Ok(amount) => amount,
            Err(e) => return Ok((LocalOutcome::Undecided, e.message)),
        };
        if let Some(why) = &amount.withheld {
            return Ok((LocalOutcome::Undecided, format!("withheld: {why}")));
        }
        let value = amount.entry.value.value;
        let times = value / size;
        let text = format!("{value} {} is {} times {size}", amount.entry.value.unit, round(times));
        let whole = times >= 1.0 && (times - times.round()).abs() < 1e-9;
        Ok((if whole { LocalOutcome::Holds } else { LocalOutcome::DoesNotHold }, text))
    }
}

fn round(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Judges a claim by a ratio of better over worse: above 1 the first value is ahead.
fn judged(r: &Ratio, a: &Amount, b: &Amount, asked: &str) -> (LocalOutcome, String) {
    let values = |x: &Amount| {
        let q = &x.entry.value;
        assay_report::figures::with_interval(q.value, q.interval, &q.unit)
    };
    let sides = format!("{} against {}", values(a), values(b));
    let text = match r.interval {
        Some(i) => format!(
            "{} times as good [{:.0} % CI {}, {}]: {sides}",
            round(r.value),
            i.level * 100.0,
            round(i.low),
            round(i.high)
        ),
        None => format!("{} times as good: {sides}", round(r.value)),
    };
    let differs = |ahead: bool| match (asked, ahead) {
        ("differs", _) | (_, true) => LocalOutcome::Holds,
        _ => LocalOutcome::DoesNotHold,
    };
    let here = match (r.verdict, r.interval) {
        (Some(Verdict::Equivalent), _) => LocalOutcome::DoesNotHold,
        (Some(Verdict::Inconclusive | Verdict::NotEstablished | Verdict::Invalid), _) => {
            LocalOutcome::Undecided
        }
        (_, Some(i)) if i.low <= 1.0 && i.high >= 1.0 => LocalOutcome::Undecided,
        (_, Some(_)) => differs(r.value > 1.0),
        // A program that gives the same value in every trial needs no interval.
        (_, None) if exact(a) && exact(b) && r.value == 1.0 => LocalOutcome::DoesNotHold,
        (_, None) if exact(a) && exact(b) => differs(r.value > 1.0),
        (_, None) => LocalOutcome::Undecided,
    };
    let why = match here {
        LocalOutcome::Undecided if r.interval.is_none() => format!("no interval; {text}"),
        LocalOutcome::Undecided => format!("the interval does not decide; {text}"),
        _ => text,
    };
    (here, why)
}

/// Returns true if every trial gave the same value.
fn exact(amount: &Amount) -> bool {
    amount.entry.value.interval.is_some_and(|i| i.low == i.high)
}
