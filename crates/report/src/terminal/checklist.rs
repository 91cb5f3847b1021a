//! The seven questions before a gain between two runs is believed, in a terminal.

use assay_model::{Answer, Asked};

use super::Style;
use crate::document::{Part, Parts, Tone, terminal};

/// Each question with its answer and what it rests on.
pub fn checklist(a: &str, b: &str, asked: &[Asked], style: Style) -> String {
    let mut all = Parts::default();
    all.titled(format!("before a gain is believed: {a} | {b}"));
    for q in asked {
        let paint = match q.answer {
            Answer::Same => Tone::Plain,
            Answer::Differs => Tone::Bad,
            Answer::Unknown => Tone::Warn,
        };
        all.toned(paint, format!("{}. {} {}", q.number, q.question, q.answer.name()));
        all.push(Part::List(Tone::Soft, q.details.iter().map(|d| d.as_str().into()).collect()));
    }
    terminal::parts(&all, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_stands_with_its_answer() {
        let asked = [Asked {
            number: 2,
            question: "Is it the same binary?".into(),
            answer: Answer::Differs,
            details: vec!["workload.command.sha256: aa | bb".into()],
        }];
        let text = checklist("A", "B", &asked, Style::default());
        assert_eq!(
            text,
            "before a gain is believed: A | B\n2. Is it the same binary? differs\n    \
             workload.command.sha256: aa | bb\n"
        );
    }
}
