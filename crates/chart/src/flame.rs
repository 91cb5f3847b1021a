//! Stacks as an icicle graph: each function is as wide as its time, with its callees below it. A
//! script can turn it into a flame graph, search it and zoom. Positions and widths are shares of
//! the whole and text has a size of its own, so the chart is also readable on a phone.

use maud::{Markup, html};

use crate::axes::frame::{Head, px};

/// A cell and its children.
#[derive(Debug, Clone, PartialEq)]
pub struct FlameCell {
    /// Name in the cell.
    pub label: String,
    /// Title with name, time and share.
    pub title: String,
    /// Appearance of the cell.
    pub look: FlameStyle,
    /// Size in any unit.
    pub size: f64,
    /// Children, whose sizes add up to at most the cell's.
    pub below: Vec<FlameCell>,
}

/// Appearance of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlameStyle {
    /// The root, a thread, or a reason for waiting.
    Group,
    /// Code of the program.
    User,
    /// Code of the kernel.
    Kernel,
    /// A function that the compiler inlined.
    Inlined,
    /// A function without a name.
    Unknown,
    /// A function that takes clearly more time than in the compared profile.
    More,
    /// A function that takes clearly less time than in the compared profile.
    Less,
}

assay_model::names! {
    FlameStyle::class: Group = "fg", User = "fu", Kernel = "fk", Inlined = "fi", Unknown = "fx",
        More = "fm", Less = "fl"
}

#[derive(Debug, Clone, PartialEq)]
pub struct Flame {
    pub head: Head,
    /// Root cell, whose size is the total.
    pub root: FlameCell,
}

/// Height of a cell in pixels.
const ROW: f64 = 18.0;
/// Maximum number of cells; the narrowest ones beyond it are not drawn.
const MAX_CELLS: usize = 2500;

struct PlacedCell<'a> {
    cell: &'a FlameCell,
    x: f64,
    width: f64,
    level: usize,
}

fn place<'a>(cell: &'a FlameCell, x: f64, width: f64, level: usize, all: &mut Vec<PlacedCell<'a>>) {
    all.push(PlacedCell { cell, x, width, level });
    let mut at = x;
    for below in &cell.below {
        let part = if cell.size > 0.0 { width * (below.size / cell.size) } else { 0.0 };
        if part.is_finite() && part > 0.0 {
            place(below, at, part, level + 1, all);
            at += part;
        }
    }
}

pub fn render(chart: &Flame) -> Markup {
    let mut all = Vec::new();
    place(&chart.root, 0.0, 1.0, 0, &mut all);
    if all.len() > MAX_CELLS {
        let mut widths: Vec<f64> = all.iter().map(|p| p.width).collect();
        widths.sort_by(|a, b| b.total_cmp(a));
        let least = widths[MAX_CELLS - 1];
        // A cell is at least as wide as its children, so no drawn cell lacks its parent.
        all.retain(|p| p.width >= least);
    }
    let levels = all.iter().map(|p| p.level + 1).max().unwrap_or(1);
    let (head, height) = (&chart.head, px(levels as f64 * ROW));
    let (title, desc) = (format!("{}-title", head.id), format!("{}-desc", head.id));
    html! {
        svg.flame xmlns="http://www.w3.org/2000/svg" id=(head.id) width="100%" height=(height)
            role="group" aria-roledescription="chart" aria-labelledby={ (title) " " (desc) } {
            title id=(title) { (head.title) }
            desc id=(desc) { (head.desc) }
            @for p in &all {
                svg class={ "f " (p.cell.look.class()) } x=(percent(p.x)) width=(percent(p.width))
                    y=(px(p.level as f64 * ROW)) height=(px(ROW - 1.0)) role="img"
                    tabindex=[(p.level == 0).then_some("0")] {
                    title { (p.cell.title) }
                    rect width="100%" height="100%" {}
                    @if p.width > 0.012 { text x="3" y="13" { (p.cell.label) } }
                }
            }
        }
    }
}

fn percent(share: f64) -> String {
    let text = format!("{:.3}", share * 100.0);
    let short = text.trim_end_matches('0').trim_end_matches('.');
    format!("{}%", if short.is_empty() { "0" } else { short })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(label: &str, size: f64, below: Vec<FlameCell>) -> FlameCell {
        FlameCell {
            label: label.into(),
            title: format!("{label} {size}"),
            look: FlameStyle::User,
            size,
            below,
        }
    }

    #[test]
    fn cells_are_as_wide_as_their_share() {
        let root = cell(
            "all",
            4.0,
            vec![cell("a<b>", 3.0, vec![cell("c", 1.0, vec![])]), cell("d", 1.0, vec![])],
        );
        let head = Head { id: "x".into(), title: "t".into(), desc: "d".into() };
        let text = render(&Flame { head, root }).into_string();
        assert!(text.contains(r#"x="0%" width="75%" y="18""#), "{text}");
        assert!(text.contains(r#"x="0%" width="25%" y="36""#), "{text}");
        assert!(text.contains(r#"x="75%" width="25%" y="18""#), "{text}");
        assert!(text.contains("a&lt;b&gt;") && !text.contains("<b>"));
        assert!(text.contains(r#"height="54""#));
    }

    #[test]
    fn of_very_many_the_widest_are_drawn() {
        let below = (1..5000).map(|n| cell("f", f64::from(n), vec![])).collect();
        let root = cell("all", (1..5000).map(f64::from).sum(), below);
        let head = Head { id: "x".into(), ..Head::default() };
        let text = render(&Flame { head, root }).into_string();
        let drawn = text.matches("<rect").count();
        assert!((2000..=MAX_CELLS).contains(&drawn), "{drawn}");
        assert!(text.contains("f 4999") && !text.contains("f 10<"));
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let head = Head { id: "x".into(), ..Head::default() };
        let text = render(&Flame { head, root: cell("all", 0.0, vec![cell("a", 0.0, vec![])]) });
        assert!(!text.into_string().contains("NaN"));
    }
}
