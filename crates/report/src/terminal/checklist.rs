//! The seven questions before a gain between two runs is believed, in a terminal.

use assay_model::{Answer, Asked};

use super::Style;
use super::writer::Writer;
use crate::document::Tone;

/// Each question with its answer and what it rests on.
pub fn checklist(a: &str, b: &str, asked: &[Asked], style: Style) -> String {
    let mut w = Writer::new(style);
    w.wrapped(0, &format!("before a gain is believed: {a} | {b}"), Tone::Strong);
    for q in asked {
        w.blank();
        let paint = match q.answer {
            Answer::Same => Tone::Plain,
            Answer::Differs => Tone::Bad,
            Answer::Unknown => Tone::Warn,
        };
        w.wrapped(0, &format!("{}. {}", q.number, q.question), Tone::Plain);
        w.wrapped(3, q.answer.name(), paint);
        for detail in &q.details {
            w.wrapped(5, detail, Tone::Soft);
        }
    }
    w.finish()
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
            "before a gain is believed: A | B\n\n2. Is it the same binary?\n   differs\n     \
             workload.command.sha256: aa | bb\n"
        );
    }
}
