//! Terminal output: messages on standard error, results on standard output, wrapped to the
//! terminal's width.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Context as _;
use assay_report::terminal::{painted, printable, printable_json};

/// Returns true if output to this stream should have color: it is a terminal and `NO_COLOR` is
/// unset or empty.
pub fn colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Prints a message to standard error.
pub fn say(sentence: &str) {
    let sentence = printable(sentence);
    let mut err = std::io::stderr();
    let columns = columns(&err);
    let _ = writeln!(err, "{}", wrap_to(&format!("assay: {sentence}"), "", "  ", columns));
}

/// Prints a result to standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    put(&printable(text))
}

/// Prints a result to a terminal after clearing the screen, from the first line on.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_in_place(text: &str) -> anyhow::Result<()> {
    put(&format!("\u{1b}[H\u{1b}[J{}", printable(text)))
}

/// Prints a result that was written with [`style`] to standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_styled(text: &str) -> anyhow::Result<()> {
    put(&painted(text))
}

/// Prints a result as JSON to standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_json_text(&serde_json::to_string_pretty(value)?)
}

/// Prints a result to standard output, as JSON if `json` is set, else as text.
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

/// Prints a result like [`answer`], with a text that was written with [`style`].
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

/// Prints JSON text to standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_json_text(json: &str) -> anyhow::Result<()> {
    put(&printable_json(json))
}

fn put(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = write!(out, "{text}{end}").and_then(|()| out.flush());
    written.context("cannot write to standard output")
}

/// Output file name that means standard output.
pub const STDOUT: &str = "-";

/// Writes an output file, or to standard output if it is called [`STDOUT`]; the error names its
/// path.
pub fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    if path == Path::new(STDOUT) && out.is_terminal() {
        return print(&String::from_utf8_lossy(bytes.as_ref()));
    } else if path == Path::new(STDOUT) {
        return out.write_all(bytes.as_ref()).context("cannot write to standard output");
    }
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the style for results on standard output: width, color, and glyphs for the locale.
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

/// Returns the width of standard output's terminal in columns, or 80 without a terminal.
pub fn width() -> usize {
    columns(&std::io::stdout())
}

fn columns(stream: &(impl IsTerminal + AsFd)) -> usize {
    if !stream.is_terminal() {
        return 80;
    }
    rustix::termios::tcgetwinsize(stream).map_or(80, |size| usize::from(size.ws_col).clamp(40, 200))
}

/// Wraps a sentence at spaces to the width of the terminal, at most 80 columns; a longer word
/// stands alone. Lines after the first line break are the output of a program or commands to copy,
/// and stay as they are.
pub fn wrap(text: &str, first: &str, rest: &str) -> String {
    wrap_to(text, first, rest, width().min(80))
}

/// Wraps a sentence like [`wrap`], to the given number of columns.
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

/// Prints a long message to standard error: in color if standard error takes it and the text has no
/// control characters that had to be replaced, else in plain text.
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
