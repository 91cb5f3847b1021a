//! Charts made of characters for a terminal: bars, sparklines, intervals, histogram rows. Also the
//! display width of a text in columns, and a function that shortens a text to a width.

/// Character set of the charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Block elements and box drawing.
    Unicode,
    /// Only characters of ASCII.
    Ascii,
}

const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII_LEVELS: [char; 8] = ['_', '.', ',', '-', '=', '+', '*', '#'];

/// Returns the number of terminal columns of a character: 0 for combining marks, 2 for East Asian
/// wide characters and pictographs, 1 for others.
fn columns_of(c: char) -> usize {
    match c as u32 {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE4F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// Returns the number of terminal columns of a text.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(columns_of).sum() }
}

/// Shortens the text to at most `most` columns by replacing its middle with `ellipsis`, since names
/// of treatments differ at both ends.
pub fn shorten(text: &str, most: usize, ellipsis: &str) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let dots = columns(ellipsis);
    if most <= dots {
        return text.chars().take(most).filter(|c| columns_of(*c) == 1).collect();
    }
    let room = most - dots;
    let head = take(text.chars(), room.div_ceil(2));
    let tail: String = take(text.chars().rev(), room / 2).chars().rev().collect();
    format!("{head}{ellipsis}{tail}")
}

fn take(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += columns_of(*c);
            used <= room
        })
        .collect()
}

/// Draws one character for each value, scaled from the smallest to the largest; a missing value
/// (NaN) is a space. If all values are equal, they are drawn at half height.
pub fn sparkline(values: &[f64], glyphs: Glyphs) -> String {
    let levels = if glyphs == Glyphs::Unicode { LEVELS } else { ASCII_LEVELS };
    let there = || values.iter().copied().filter(|v| v.is_finite());
    let low = there().fold(f64::INFINITY, f64::min);
    let high = there().fold(f64::NEG_INFINITY, f64::max);
    values
        .iter()
        .map(|v| {
            if !v.is_finite() {
                ' '
            } else if high <= low {
                levels[3]
            } else {
                levels[(((v - low) / (high - low)) * 7.0).round() as usize]
            }
        })
        .collect()
}

/// Draws a bar for `value`, where `full` takes `width` columns. A positive value gets at least a
/// sliver; zero or a missing value gives an empty text.
pub fn bar(value: f64, full: f64, width: usize, glyphs: Glyphs) -> String {
    if !(value > 0.0 && full > 0.0) {
        return String::new();
    }
    let share = (value / full).min(1.0) * width as f64;
    if glyphs == Glyphs::Ascii {
        return "#".repeat((share.round() as usize).max(1).min(width));
    }
    let eighths = ((share * 8.0).round() as usize).max(1);
    let mut text = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        text.push(EIGHTHS[eighths % 8 - 1]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_in_a_sparkline_is_a_space() {
        assert_eq!(sparkline(&[0.0, 7.0, f64::NAN, 3.5], Glyphs::Unicode), "▁█ ▅");
        assert_eq!(sparkline(&[0.0, 7.0], Glyphs::Ascii), "_#");
        assert_eq!(sparkline(&[2.0, 2.0], Glyphs::Unicode), "▄▄");
        assert_eq!(sparkline(&[], Glyphs::Unicode), "");
    }

    #[test]
    fn bars_never_pass_their_width() {
        assert_eq!(bar(1.0, 2.0, 8, Glyphs::Unicode), "████");
        assert_eq!(bar(9.0, 2.0, 4, Glyphs::Unicode), "████");
        assert_eq!(bar(0.001, 2.0, 8, Glyphs::Unicode), "▏");
        assert_eq!(bar(0.001, 2.0, 8, Glyphs::Ascii), "#");
        assert_eq!(bar(f64::NAN, 2.0, 8, Glyphs::Unicode), "");
    }

    #[test]
    fn shortened_in_the_middle() {
        assert_eq!(shorten("processes=2, buffer=4096", 12, "…"), "proces…=4096");
        assert_eq!(shorten("日本語のラベル", 7, "…"), "日…ル");
        assert_eq!(shorten("abc", 3, "…"), "abc");
        assert_eq!(shorten("abcdef", 1, "..."), "a");
    }
}
