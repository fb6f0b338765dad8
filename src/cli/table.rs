//! Listings for people: columns that line up, without colour and without lines, the same when piped.

/// A table that grows by rows.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these words above its columns.
    pub(super) fn new(heads: &[&str]) -> Table {
        Table { rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()] }
    }

    /// A table without heads.
    pub(super) fn bare() -> Table {
        Table { rows: Vec::new() }
    }

    /// Adds a row. What came from outside cannot move the cursor or forge a row: its control characters are escaped.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(cell.as_ref())).collect());
    }

    /// The lines, without a line end after the last.
    pub(super) fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| length(cell)).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths);
            let padded = cells.map(|(cell, width)| format!("{cell}{:1$}", "", width - length(cell)));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn length(cell: &str) -> usize {
    cell.chars().count()
}

/// The text on one line, control characters escaped.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() { line.extend(character.escape_default()) } else { line.push(character) }
    }
    line
}

/// Text of several lines for a terminal: line ends and tabs stay, other control characters are escaped.
pub(super) fn lines(text: &str) -> String {
    text.split('\n')
        .map(|line| line.split('\t').map(one_line).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_nothing_trails() {
        let mut table = Table::new(&["NAME", "STATE"]);
        table.row(["a-long-name", "ok"]);
        table.row(["é", ""]);
        assert_eq!(table.text(), "NAME         STATE\na-long-name  ok\né");
    }

    #[test]
    fn what_came_from_outside_stays_in_its_cell() {
        let mut table = Table::new(&["EVENT", "N"]);
        table.row(["push\nforged \u{1b}[2J\r", "1"]);
        assert_eq!(table.text(), "EVENT                     N\npush\\nforged \\u{1b}[2J\\r  1");
        assert_eq!(lines("a\tb\n\u{1b}]0;x\u{7}\n"), "a\tb\n\\u{1b}]0;x\\u{7}\n");
    }
}
