//! HTML to text: tags away, entities read, tables as lines of cells between bars. It is no
//! validator: whatever it is given becomes some text, in one pass and in memory of the size of the
//! input.

use crate::read::pre;
use crate::read::tag::{Piece, entity, pieces};

/// The text of a page and where its pieces stood in the HTML.
pub(crate) struct Plain {
    pub text: String,
    pub map: Vec<(usize, usize)>,
}

/// Elements whose content is no text for readers.
const HIDDEN: [&str; 7] = ["script", "style", "head", "template", "noscript", "svg", "textarea"];

/// Elements that end a line before and after them.
const BLOCKS: [&str; 22] = [
    "p",
    "div",
    "ul",
    "ol",
    "dl",
    "table",
    "blockquote",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "form",
    "center",
    "figure",
    "figcaption",
    "hr",
    "address",
    "nav",
    "aside",
    "caption",
    "body",
];

/// The text of a page. Tables of data become lines `| a | b |`; a table that holds other tables or
/// paragraphs is layout and vanishes.
pub(crate) fn plain(html: &str) -> Plain {
    let pieces = pieces(html);
    let data_tables = data_tables(&pieces);
    let mut out = Out {
        text: String::with_capacity(html.len() / 2),
        map: Vec::new(),
        pre: 0,
        fenced: false,
        lists: 0,
    };
    let mut hidden: Option<String> = None;
    let mut grid = Grid { heads: heads(&pieces), ..Grid::default() };
    for (i, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text { at, text } if hidden.is_none() => out.text(*at, text),
            Piece::Text { .. } => {}
            Piece::Tag { name, closing, .. } if hidden.as_deref() == Some(name) && *closing => {
                hidden = None;
            }
            Piece::Tag { .. } if hidden.is_some() => {}
            Piece::Tag { name, closing: false, .. } if HIDDEN.contains(&name.as_str()) => {
                hidden = Some(name.clone());
            }
            Piece::Tag { name, closing, columns, rows } => {
                let in_data = data_tables[i];
                if in_data && matches!(name.as_str(), "tr" | "td" | "th" | "table") {
                    grid.tag(&mut out, (i, name, *closing), *columns, *rows);
                } else if in_data && grid.row.is_some() {
                    if name == "br" || BLOCKS.contains(&name.as_str()) {
                        out.space();
                    }
                } else if name == "pre" {
                    let code = !closing && out.pre == 0 && pre::is_code(&pieces[i + 1..]);
                    out.preformatted(*closing, code);
                } else {
                    block_tag(&mut out, name, *closing);
                }
            }
        }
    }
    out.line();
    Plain { text: out.text, map: out.map }
}

/// A table in writing.
#[derive(Default)]
struct Grid {
    row: Option<Row>,
    /// By column, how many further rows a cell above reaches into.
    reaching: Vec<usize>,
    /// The rows that are headers, by the place of their tag.
    heads: Vec<usize>,
    /// Whether the row before is a header.
    head: bool,
}

/// A row in writing: its next column, and the bars that are still owed for cells that span columns.
#[derive(Default)]
struct Row {
    column: usize,
    owed: usize,
}

/// Cells in columns further to the right reach into no other rows.
const MAX_COLUMNS: usize = 256;

impl Grid {
    fn tag(
        &mut self,
        out: &mut Out,
        (at, name, closing): (usize, &str, bool),
        columns: usize,
        rows: usize,
    ) {
        match (name, closing) {
            ("table", _) => {
                self.row = None;
                self.reaching.clear();
                self.head = false;
                out.blank();
            }
            ("tr", false) => {
                self.close(out);
                out.line();
                let head = self.heads.binary_search(&at).is_ok();
                if self.head && !head {
                    out.push("|---|---|\n");
                }
                self.head = head;
                self.row = Some(Row::default());
            }
            ("tr", true) => {
                self.close(out);
                out.line();
            }
            (_, false) => {
                let mut row = self.row.take().unwrap_or_default();
                self.pass(out, &mut row);
                for column in (row.column..row.column + columns).take_while(|c| *c < MAX_COLUMNS) {
                    if self.reaching.len() <= column {
                        self.reaching.resize(column + 1, 0);
                    }
                    self.reaching[column] = rows - 1;
                }
                row.column += columns;
                row.owed = columns - 1;
                out.push(if out.at_line_start() { "| " } else { " | " });
                self.row = Some(row);
            }
            (_, true) => {}
        }
    }

    /// Writes the bars of the columns that cells to the left and above reach into.
    fn pass(&mut self, out: &mut Out, row: &mut Row) {
        for _ in 0..std::mem::take(&mut row.owed) {
            out.push(" |");
        }
        while let Some(left) = self.reaching.get_mut(row.column).filter(|left| **left > 0) {
            *left -= 1;
            row.column += 1;
            out.push(if out.at_line_start() { "|" } else { " |" });
        }
    }

    fn close(&mut self, out: &mut Out) {
        if let Some(mut row) = self.row.take() {
            self.pass(out, &mut row);
            out.push(" |");
        }
    }
}

/// The rows at the top of tables that have two header cells or more, and no others.
fn heads(pieces: &[Piece<'_>]) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut row, mut heads, mut others, mut top) = (None, 0, 0, true);
    for (i, piece) in pieces.iter().enumerate() {
        let Piece::Tag { name, closing, .. } = piece else { continue };
        match (name.as_str(), *closing) {
            ("tr" | "table", _) => {
                if let Some(at) = row.take() {
                    top = top && heads > 1 && others == 0;
                    if top {
                        found.push(at);
                    }
                }
                top = top || name == "table";
                row = (name == "tr" && !closing).then_some(i);
                (heads, others) = (0, 0);
            }
            ("th", false) => heads += 1,
            ("td", false) => others += 1,
            _ => {}
        }
    }
    found
}

fn block_tag(out: &mut Out, name: &str, closing: bool) {
    match name {
        "br" | "tr" => out.line(),
        "td" | "th" => out.space(),
        "ul" | "ol" => {
            out.blank();
            out.lists = if closing { out.lists.saturating_sub(1) } else { out.lists + 1 };
        }
        "li" => {
            out.line();
            if !closing {
                out.push(["", "  ", "    "][out.lists.saturating_sub(1).min(2)]);
                out.push("* ");
            }
        }
        // A term and what is said of it are one item.
        "dt" if !closing => {
            out.line();
            out.push("* ");
        }
        "dt" => out.push(": "),
        "dd" if closing => out.line(),
        "dd" => {}
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
            out.blank();
            if !closing {
                out.push("## ");
            }
        }
        name if BLOCKS.contains(&name) => out.blank(),
        _ => {}
    }
}

/// For each piece, whether it belongs to a table of data (innermost table decides).
fn data_tables(pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut layout: Vec<bool> = Vec::new();
    let mut owner: Vec<Option<usize>> = Vec::with_capacity(pieces.len());
    let mut open: Vec<usize> = Vec::new();
    for piece in pieces {
        if let Piece::Tag { name, closing, .. } = piece {
            match (name.as_str(), *closing) {
                ("table", false) => {
                    if let Some(outer) = open.last() {
                        layout[*outer] = true;
                    }
                    layout.push(false);
                    open.push(layout.len() - 1);
                }
                ("ul" | "ol" | "h1" | "h2" | "h3" | "h4" | "blockquote" | "pre", false) => {
                    if let Some(table) = open.last() {
                        layout[*table] = true;
                    }
                }
                _ => {}
            }
        }
        owner.push(open.last().copied());
        if matches!(piece, Piece::Tag { name, closing: true, .. } if name == "table") {
            open.pop();
        }
    }
    owner.into_iter().map(|table| table.is_some_and(|t| !layout[t])).collect()
}

/// The text in writing.
struct Out {
    text: String,
    map: Vec<(usize, usize)>,
    pre: usize,
    /// A fence is open.
    fenced: bool,
    /// So many lists are open.
    lists: usize,
}

impl Out {
    /// Begins or ends what keeps its lines; programs and what they print stand between fences.
    fn preformatted(&mut self, closing: bool, code: bool) {
        self.blank();
        self.pre = if closing { self.pre.saturating_sub(1) } else { self.pre + 1 };
        if self.fenced && self.pre == 0 || code && self.pre == 1 && !self.fenced {
            self.fenced = !closing;
            self.push("```\n");
        }
    }

    fn text(&mut self, at: usize, text: &str) {
        let mut rest = text;
        let mut at = at;
        while !rest.is_empty() {
            let amp = rest.find('&').unwrap_or(rest.len());
            self.run(at, &rest[..amp]);
            if amp == rest.len() {
                return;
            }
            let (length, characters) = entity(&rest[amp..]);
            self.mark(at + amp);
            self.text.push_str(&characters.replace('\u{a0}', " "));
            at += amp + length;
            rest = &rest[amp + length..];
        }
    }

    /// Text without entities: as it is in `pre`, with white space collapsed elsewhere.
    fn run(&mut self, at: usize, text: &str) {
        if self.pre > 0 {
            self.mark(at);
            self.text.push_str(text);
            return;
        }
        let mut gap = false;
        let mut start = true;
        for (i, c) in text.char_indices() {
            if c.is_whitespace() {
                gap = true;
                continue;
            }
            if gap {
                self.space();
            }
            if gap || start {
                self.mark(at + i);
            }
            self.text.push(c);
            gap = false;
            start = false;
        }
        if gap {
            self.space();
        }
    }

    fn mark(&mut self, at: usize) {
        self.map.push((self.text.len(), at));
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn at_line_start(&self) -> bool {
        self.text.is_empty() || self.text.ends_with('\n')
    }

    fn space(&mut self) {
        if !self.at_line_start() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    fn line(&mut self) {
        if !self.at_line_start() {
            while self.text.ends_with(' ') {
                self.text.pop();
            }
            self.text.push('\n');
        }
    }

    fn blank(&mut self) {
        self.line();
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    fn text(html: &str) -> String {
        plain(html).text
    }

    #[test]
    fn tags_scripts_and_comments_vanish() {
        let page = "<head><title>x</title></head><p>One <b>two</b><script>if(a<b){}</script>\
                    <!-- <p>no --> three</p><style>p{}</style>";
        assert_eq!(text(page), "One two three\n\n");
    }

    #[test]
    fn entities_are_read() {
        assert_eq!(
            text("a&nbsp;&lt;&#53;&#x25; R&D &unknown; 2&times;"),
            "a <5% R&D &unknown; 2×\n"
        );
    }

    #[test]
    fn tables_of_data_become_rows_and_layout_vanishes() {
        let page = "<table><tr><td><table><tr><th colspan=2>A<th>B</tr>\
                    <tr><td>x</td><td>1</td><td>2</td></tr></table></td></tr></table>";
        assert_eq!(text(page).trim(), "| A | | B |\n|---|---|\n| x | 1 | 2 |");
    }

    #[test]
    fn cells_that_reach_into_other_rows_leave_their_place_empty() {
        let page = "<table><tr><th rowspan=2>Tool<th colspan=2>Time<th rowspan=2>Note</tr>\
                    <tr><th>8 threads<th>16 threads</tr>\
                    <tr><th rowspan=2>zstd<td>1<td>2<td>a</tr><tr><td>3<td>4<td rowspan=9>b</tr></table>";
        assert_eq!(
            text(page).trim(),
            "| Tool | Time | | Note |\n| | 8 threads | 16 threads | |\n|---|---|\n| zstd | 1 | 2 | a |\n| | 3 | 4 | b |"
        );
    }

    #[test]
    fn items_of_lists_in_lists_stand_deeper() {
        assert_eq!(
            text("<ul><li>ext3<ul><li>a: 1</ul><li>xfs</ul>b</ul><li>c"),
            "* ext3\n\n  * a: 1\n\n* xfs\n\nb\n\n* c\n"
        );
    }

    #[test]
    fn what_programs_print_stands_between_fences() {
        assert_eq!(
            text("<p>We ran</p><pre>\n$ wrk <b>a</b>\n  99%  4 ms\n</pre><p>and</p>"),
            "We ran\n\n```\n\n$ wrk a\n  99%  4 ms\n\n```\n\nand\n\n"
        );
        let mail = "<pre>\nThis is what I have measured on the new box, see below.\n</pre>a";
        assert!(!text(mail).contains("```"));
    }

    #[test]
    fn broken_markup_ends() {
        for page in
            ["<", "<a href=\"", "<!--", "</", "<script>", "a < b", "&#xFFFFFFFF;", "<td>1<td>2"]
        {
            let _ = text(page);
        }
    }
}
