//! A landscape as a self-contained page: bars, table, matrix, findings and sources.

use assay_chart::Head;
use assay_chart::bars::{self, Bar, Bars};
use assay_model::MetricKind;
use assay_quoted::denominator::{Basis, Matrix};
use assay_quoted::landscape::{Landscape, LandscapeLine};
use assay_quoted::quantity::Quantity;
use maud::{Markup, html};

use super::shell;
use crate::document::html::download;
use crate::document::html::{figure, parts, section};
use crate::landscape::{csv, matrix_csv};
use crate::parts::landscape as made;

/// Largest number of bars; the table has all lines.
const MAX_BARS: usize = 24;

/// Renders the page, with the matrix if there is one; `version` is assay's version.
pub fn landscape(landscape: &Landscape, matrix: Option<&Matrix>, version: &str) -> String {
    let body = content(landscape, matrix, version);
    shell::skippable(&landscape.heading(), "Skip to the results", &body)
}

/// Renders the content of the page without the document around it, for use in another document.
pub fn content(landscape: &Landscape, matrix: Option<&Matrix>, version: &str) -> Markup {
    let heading = landscape.heading();
    let results = html! {
        @for (n, (question, lines)) in landscape.tables().iter().enumerate() {
            (chart(landscape, n, question, lines))
        }
        (parts(&made::results(landscape)))
    };
    let sources = html! {
        @for note in made::notes(landscape) { p { (note) } }
        p {
            (download(&csv(landscape), &format!("{}.csv", landscape.name), "The table as CSV"))
            @if let Some(m) = matrix {
                @let file = format!("{}-matrix.csv", landscape.name);
                " · " (download(&matrix_csv(m), &file, "the denominators as CSV"))
            }
        }
    };
    html! {
        header {
            p.eyebrow { "assay · landscape " code { (landscape.name) } }
            h1 { (heading) }
            p.lede { (landscape.measure()) }
        }
        main id="main" {
            (section("results", "Results", &results))
            @if let Some(m) = matrix {
                @let table = made::matrix(m, &landscape.unit, landscape.ordered_by);
                (section("denominators", "By every denominator", &parts(&table)))
            }
            (section("sources", "Sources", &sources))
        }
        (shell::footer(version, " Quoted numbers are as their sources printed them; derived ones \
            were computed here."))
    }
}

/// Renders a landscape for a list: its first results as small bars with their names and values.
pub fn preview(landscape: &Landscape) -> Markup {
    /// Largest number of bars of a preview.
    const FEW: usize = 4;
    let basis = landscape.ordered_by.unwrap_or(Basis::Total);
    let tables = landscape.tables();
    let all: Vec<(&str, Quantity)> = tables
        .first()
        .into_iter()
        .flat_map(|(_, lines)| lines)
        .filter_map(|l| {
            let entry = l.entry.as_ref()?;
            Some((entry.label.as_str(), entry.quantity(basis)?))
        })
        .take(FEW)
        .collect();
    let most = all.iter().map(|(_, q)| q.value).filter(|v| v.is_finite()).fold(0.0, f64::max);
    html! {
        @if all.is_empty() { p.soft { "Nothing to rank." } }
        ol.preview { @for (label, q) in &all { li {
            span.who { (label) } " " span.num { (q.text()) }
            meter min="0" max=(if most > 0.0 { most } else { 1.0 })
                value=(q.value.clamp(0.0, most.max(0.0))) aria-hidden="true" {}
        } } }
        @let n = tables.len();
        p.soft { (landscape.lines_in_all) " results" @if n > 1 { " in " (n) " tables" } }
    }
}

fn chart(landscape: &Landscape, n: usize, question: &str, lines: &[&LandscapeLine]) -> Markup {
    let basis = landscape.ordered_by.unwrap_or(Basis::Total);
    let mixed = landscape.mixed();
    let several = landscape.tables().len() > 1;
    let bars: Vec<Bar> = lines
        .iter()
        .filter_map(|l| {
            let q = l.entry.as_ref()?.quantity(basis)?;
            let end = |f: fn(assay_model::Interval) -> f64| q.interval.map_or(f64::NAN, f);
            Some(Bar {
                label: l.entry.as_ref()?.label.clone(),
                value: q.value,
                low: end(|i| i.low),
                high: end(|i| i.high),
                text: if mixed { format!("{} ({})", q.text(), q.kind_words()) } else { q.text() },
                reference: false,
                quoted: l.kind == MetricKind::Quoted,
            })
        })
        .take(MAX_BARS)
        .collect();
    if bars.is_empty() || landscape.ordered_by.is_none() {
        return html! {};
    }
    let shown = bars.len();
    let id =
        if n == 0 { "landscape-chart".to_owned() } else { format!("landscape-chart-{}", n + 1) };
    let first = lines.iter().find_map(|l| l.entry.as_ref()?.quantity(basis));
    let kind_words = first.as_ref().filter(|_| !mixed).map(Quantity::kind_words);
    let unit = first.as_ref().map_or_else(|| landscape.unit.clone(), |q| q.unit.clone());
    let desc =
        bars.iter().map(|b| format!("{}: {}.", b.label, b.text)).collect::<Vec<_>>().join(" ");
    let drawn = bars::render(&Bars {
        head: Head { id, title: landscape.heading(), desc },
        name: if several {
            format!("{question} {basis}")
        } else {
            format!("{} {basis}", landscape.title)
        },
        unit,
        better: landscape.better,
        bars,
        note: String::new(),
    });
    let caption = html! {
        @if several { (made::caption(landscape, question)) } @else { (landscape.measure()) }
        @if let Some(words) = kind_words { "; " (words) }
        @let all = if several { lines.len() } else { landscape.lines_in_all };
        @if shown < all { "; the first " (shown) " of " (all) }
    };
    figure(&drawn, &caption)
}

#[cfg(test)]
mod tests {
    use assay_quoted::landscape::{Collection, Query};

    fn page(name: &str) -> String {
        let made = Collection::built_in().unwrap().landscape(name, &Query::default()).unwrap();
        super::landscape(&made, Some(&made.matrix()), "0.0.0")
    }

    #[test]
    fn a_page_needs_nothing_from_elsewhere_and_says_that_it_is_quoted() {
        for name in ["specjbb2005", "speccpu2006-int-rate", "nastran", "memcached"] {
            let page = page(name);
            let plain = page.replace("http://www.w3.org/2000/svg", "");
            for bad in ["http://", "https://", "@import", "url(", " style=\"", "NaN"] {
                assert!(!plain.contains(bad), "{name} contains {bad}");
            }
            assert!(page.contains("quoted results"), "{name}");
            assert!(page.contains("derived from quoted numbers"), "{name}");
        }
    }

    #[test]
    fn every_line_is_in_the_table_and_the_first_ones_are_drawn() {
        let page = page("specjbb2005");
        assert!(page.contains("<td class=\"num\">422782</td>"));
        assert!(
            page.contains("title=\"422782 bops / 16 instance\">26424</td>"),
            "derivations show"
        );
        assert_eq!(page.matches("class=\"row quoted\"").count(), 16);
        assert!(page.contains("<th scope=\"row\">IBM Power 570, 4 chips</th>"));
    }
}
