//! Times written as on a clock (`1:23:45`, `12:34`): with units where the name of their column or row says that they are
//! times.

use super::{Shape, Table, outputs};

/// Gives the clocks of a table their units. In the first column they are when something was.
pub(super) fn add(table: &mut Table) {
    if table.shape != Shape::Grid {
        return;
    }
    let columns: Vec<Option<Hours>> = table.columns.iter().map(|c| of_name(c)).collect();
    for row in &mut table.rows {
        let own = of_name(&row.label);
        for (column, cell) in columns.iter().zip(&mut row.cells).skip(1) {
            if let Some(hours) = column.or(own)
                && let Some(time) = outputs::clock(&cell.text)
            {
                cell.text = if hours.0 && cell.text.matches(':').count() == 1 {
                    time.replace(" min ", " h ").replace(" s", " min")
                } else {
                    time
                };
            }
        }
    }
}

/// Whether two numbers are hours and minutes.
#[derive(Clone, Copy)]
struct Hours(bool);

fn of_name(name: &str) -> Option<Hours> {
    let lower = name.to_lowercase();
    let says = lower.split(|c: char| !c.is_alphanumeric()).any(|w| {
        matches!(
            w,
            "time" | "times" | "elapsed" | "duration" | "runtime" | "wall" | "took" | "mm" | "hh"
        )
    });
    let hours = ["h:mm)", "hh:mm)", "(h:m)", "h:mm]", "hh:mm]"].iter().any(|h| lower.contains(h));
    (says || hours).then_some(Hours(hours))
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;
    use crate::read::table::find;

    #[test]
    fn clocks_are_times_under_a_name_that_says_so() {
        let text = "| tool | Wall time | Restore (h:mm) | at |\n|---|---|---|---|\n| a | 12:34 | 3:20 | 12:00 |\n| b | 1:02:03.5 | 0:41 | 12:30 |\n";
        let (tables, _) = find(text, &lines(text));
        let row = |i: usize| {
            tables[0].rows[i].cells.iter().map(|c| c.text.clone()).collect::<Vec<String>>()
        };
        assert_eq!(row(0), ["a", "12 min 34 s", "3 h 20 min", "12:00"]);
        assert_eq!(row(1), ["b", "1 h 02 min 03.5 s", "0 h 41 min", "12:30"]);
    }
}
