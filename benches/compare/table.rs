//! Tables of text: a figure a row, an init a column, and the goal.

use std::fmt::{self, Display, Formatter};

use crate::goals::Goal;

/// A table in the making.
pub(crate) struct Table {
    title: String,
    /// Names of the columns; the first is measured against.
    columns: Vec<String>,
    rows: Vec<Row>,
    /// Which column the goals are for.
    ours: usize,
}

struct Row {
    name: String,
    values: Vec<Option<f64>>,
    goal: Goal,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
        let ours = columns.iter().position(|name| name == "host-init");
        Self {
            title: title.into(),
            columns,
            rows: Vec::new(),
            ours: ours.unwrap_or(0),
        }
    }

    /// Adds a figure: a value for each column, none where there is none.
    pub(crate) fn row(&mut self, name: impl Into<String>, values: Vec<Option<f64>>, goal: Goal) {
        let name = name.into();
        self.rows.push(Row { name, values, goal });
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let base = row.values.first().copied().flatten();
        let mut cells = vec![row.name.clone()];
        for (number, value) in row.values.iter().enumerate() {
            cells.push(value.map_or_else(|| "-".into(), written));
            if number > 0 {
                cells.push(ratio(*value, base));
            }
        }
        let ours = row.values.get(self.ours).copied().flatten();
        cells.extend(match (row.goal, ours) {
            (Goal::None, _) => [String::new(), String::new()],
            (Goal::AtMost(most), None) => [format!("<= {}", written(most)), "-".into()],
            (Goal::AtMost(most), Some(value)) => {
                // Judged as it is shown.
                let is_reached = (value * 1000.0).round() <= most * 1000.0;
                let word = if is_reached { "reached" } else { "not yet" };
                [format!("<= {}", written(most)), word.into()]
            }
        });
        cells
    }

    fn head(&self) -> Vec<String> {
        let mut head = vec![self.title.clone()];
        for (number, column) in self.columns.iter().enumerate() {
            head.push(column.clone());
            if number > 0 {
                head.push("x".into());
            }
        }
        head.extend(["goal".into(), "host-init".into()]);
        head
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut lines = vec![self.head()];
        lines.extend(self.rows.iter().map(|row| self.cells(row)));
        write_aligned(f, &lines)
    }
}

/// Writes lines of cells as a Markdown table: the first column to the left, the
/// rest to the right.
pub(crate) fn write_aligned(f: &mut Formatter<'_>, lines: &[Vec<String>]) -> fmt::Result {
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    for (number, line) in lines.iter().enumerate() {
        for (column, width) in widths.iter().enumerate() {
            let cell = line.get(column).map_or("", String::as_str);
            if column == 0 {
                write!(f, "| {cell:<width$} ")?;
            } else {
                write!(f, "| {cell:>width$} ")?;
            }
        }
        writeln!(f, "|")?;
        if number == 0 {
            for (column, width) in widths.iter().enumerate() {
                let end = if column == 0 { "-" } else { ":" };
                write!(f, "|-{}{end}", "-".repeat(*width))?;
            }
            writeln!(f, "|")?;
        }
    }
    Ok(())
}

fn ratio(value: Option<f64>, base: Option<f64>) -> String {
    match (value, base) {
        (Some(value), Some(base)) if base > 0.0 => format!("{:.2}", value / base),
        _ => String::new(),
    }
}

/// A number for people: thousands apart, and no more digits than mean something.
pub(crate) fn written(value: f64) -> String {
    if value.fract() != 0.0 && value < 100.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (number, digit) in digits.chars().enumerate() {
        if number > 0 && (digits.len() - number).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
