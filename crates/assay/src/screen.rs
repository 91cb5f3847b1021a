//! What a person reads: sentences on standard error, results on standard output, as wide as the terminal.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Context as _;
use assay_report::terminal::{painted, printable, printable_json};

/// Whether to colour what goes to this stream.
pub fn colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// A sentence for the person, on standard error.
pub fn say(sentence: &str) {
    let sentence = printable(sentence);
    let mut err = std::io::stderr();
    let columns = columns(&err);
    let _ = writeln!(err, "{}", wrap_to(&format!("assay: {sentence}"), "", "  ", columns));
}

/// A result, on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    put(&printable(text))
}

/// A result on a terminal in place of what stands there, from its first line on.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_in_place(text: &str) -> anyhow::Result<()> {
    put(&format!("\u{1b}[H\u{1b}[J{}", printable(text)))
}

/// A result that was written with [`style`], on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_styled(text: &str) -> anyhow::Result<()> {
    put(&painted(text))
}

/// A result as JSON, on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_json_text(&serde_json::to_string_pretty(value)?)
}

/// A result on standard output: as JSON where that is asked for, else as text.
///
/// # Errors
/// Standard output cannot be written.
pub fn answer(
    json: bool,
    value: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    if json { print_json(value) } else { print(&text()) }
}

/// The same, of a text that was written with [`style`].
///
/// # Errors
/// Standard output cannot be written.
pub fn answer_styled(
    json: bool,
    value: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    if json { print_json(value) } else { print_styled(&text()) }
}

/// JSON that is text already, on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_json_text(json: &str) -> anyhow::Result<()> {
    put(&printable_json(json))
}

fn put(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Writes a file that was asked for.
pub fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("write {}", path.display()))
}

/// How results are written here.
pub fn style() -> assay_report::terminal::Style {
    let out = std::io::stdout();
    let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
        .is_none_or(|v| v.to_uppercase().replace('-', "").contains("UTF8"));
    assay_report::terminal::Style {
        width: width(),
        colour: colour(&out),
        glyphs: if utf8 {
            assay_report::terminal::Glyphs::Unicode
        } else {
            assay_report::terminal::Glyphs::Ascii
        },
    }
}

/// How wide the terminal of standard output is; 80 when it is none.
pub fn width() -> usize {
    columns(&std::io::stdout())
}

fn columns(stream: &(impl IsTerminal + AsFd)) -> usize {
    if !stream.is_terminal() {
        return 80;
    }
    rustix::termios::tcgetwinsize(stream).map_or(80, |size| usize::from(size.ws_col).clamp(40, 200))
}

/// Breaks a sentence at blanks so that no line is wider than the terminal, or 80 (unless a word is). Lines after a
/// line break of its own are output of a program or commands to copy and stay as they are.
pub fn wrap(text: &str, first: &str, rest: &str) -> String {
    wrap_to(text, first, rest, width().min(80))
}

/// The same for lines of so many columns.
pub fn wrap_to(text: &str, first: &str, rest: &str, columns: usize) -> String {
    let (sentence, quoted) = text.split_at(text.find('\n').unwrap_or(text.len()));
    let mut lines = vec![first.to_owned()];
    let mut empty = true;
    for word in sentence.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !empty && line.chars().count() + 1 + word.chars().count() > columns {
            lines.push(format!("{rest}{word}"));
            continue;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.join("\n") + quoted
}

/// A longer complaint, on standard error: in colour where that is wanted and nothing in it is not ours.
pub fn complain(plain: &str, coloured: &dyn Fn() -> String) {
    let safe = printable(plain);
    let mut err = std::io::stderr();
    let text = if safe == plain && colour(&err) { coloured() } else { safe };
    let _ = writeln!(err, "{}", text.trim_end_matches('\n'));
}

#[cfg(test)]
mod tests {
    use super::wrap_to;

    #[test]
    fn a_sentence_is_wrapped_and_what_a_compiler_printed_is_not() {
        let printed =
            "prog.c:3:5: error: unknown type name 'foo'\n    3 |     foo x;\n      |     ^~~";
        let text = format!("one two three four; its first errors:\n{printed}");
        let lines = wrap_to(&text, "", "  ", 20);
        assert_eq!(lines, format!("one two three four;\n  its first errors:\n{printed}"));
    }
}
