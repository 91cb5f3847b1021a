//! Profiles of two states side by side, each value with its name behind it: `21.4%  do_lock    8.1%  do_walk`.

use std::collections::HashMap;

use super::{Cell, Row, Shape, Table};

/// Gives each name one row with both values, as either side is sorted by its own.
pub(super) fn join(table: &mut Table) {
    let pairs = |r: &Row| {
        let [a, name, b, other] = r.cells.as_slice() else { return false };
        let named = |c: &Cell| c.number.is_none() && !c.text.is_empty();
        a.number.is_some() && b.number.is_some() && named(name) && named(other)
    };
    let sides = table.columns.len() == 4 && !table.columns[0].is_empty();
    let unlike = sides && table.columns[0] != table.columns[2] && !table.columns[2].is_empty();
    let values = unlike && table.columns[1].is_empty() && table.columns[3].is_empty();
    if !values || table.shape != Shape::Grid || !table.rows.iter().all(pairs) {
        return;
    }
    let others: HashMap<String, Cell> =
        table.rows.iter().map(|r| (r.cells[3].text.clone(), r.cells[2].clone())).collect();
    let common = table.rows.iter().filter(|r| others.contains_key(&r.cells[1].text)).count();
    if common < 2 || common * 2 < table.rows.len() {
        return;
    }
    for row in &mut table.rows {
        let name = row.cells[1].clone();
        let other = others.get(&name.text).cloned().unwrap_or_default();
        row.label.clone_from(&name.text);
        row.cells = vec![name, row.cells[0].clone(), other];
    }
    table.columns = vec![String::new(), table.columns[0].clone(), table.columns[2].clone()];
}

#[cfg(test)]
mod tests {
    use crate::read::line::lines;
    use crate::read::table::find;

    #[test]
    fn each_side_of_a_profile_has_its_own_order() {
        let text = "    old                    new\n    31.20%  take_lock      9.80%  walk_list\n     \
                    9.10%  walk_list      7.40%  take_lock\n     2.00%  free_page      2.10%  free_page\n";
        let (tables, _) = find(text, &lines(text));
        assert_eq!(tables[0].columns, ["", "old", "new"]);
        let cells: Vec<&str> = tables[0].rows[0].cells.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(cells, ["take_lock", "31.20%", "7.40%"]);
        assert_eq!(tables[0].rows[2].label, "free_page");
    }
}
