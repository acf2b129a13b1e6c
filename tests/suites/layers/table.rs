//! The import table of `ARCHITECTURE.md`, as data.

/// Title of the section that holds the table.
const SECTION: &str = "Who may import whom";

/// One crate, or one pattern of crates, and what it may import. Names are folders below the root.
#[derive(Debug)]
pub struct Row {
    crates: Vec<String>,
    allowed: Vec<String>,
}

/// The table, top to bottom.
#[derive(Debug)]
pub struct Table(Vec<Row>);

impl Table {
    /// Reads the first table of the section: `| crates | imports |`, names in back quotes. Text outside of back quotes
    /// is for readers.
    pub fn read(page: &str) -> Self {
        let rows: Vec<Row> = page
            .lines()
            .skip_while(|line| !(line.starts_with('#') && line.contains(SECTION)))
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .skip(2)
            .map(|line| {
                let mut cells = line.trim_matches('|').split('|');
                let mut cell =
                    || quoted(cells.next().unwrap_or_else(|| panic!("a row without two cells: {line}")));
                Row { crates: cell(), allowed: cell() }
            })
            .collect();
        assert!(!rows.is_empty(), "ARCHITECTURE.md has no table in a section `{SECTION}`");
        Self(rows)
    }

    /// Whether any row speaks of `folder`.
    pub fn knows(&self, folder: &str) -> bool {
        self.0.iter().any(|row| row.crates.iter().any(|pattern| matches(pattern, folder)))
    }

    /// Whether the rows that speak of `from` allow it to import `to`.
    pub fn allows(&self, from: &str, to: &str) -> bool {
        let speaks_of = |row: &&Row| row.crates.iter().any(|pattern| matches(pattern, from));
        self.0.iter().filter(speaks_of).any(|row| row.allowed.iter().any(|pattern| matches(pattern, to)))
    }

    /// Every name of the table, patterns included.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|row| row.crates.iter().chain(&row.allowed)).map(String::as_str)
    }
}

/// `server/*` matches every crate below `server`, `storage/odb-*` every one whose name begins so.
pub fn matches(pattern: &str, folder: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => folder.strip_prefix(start).is_some_and(|rest| !rest.is_empty()),
        None => pattern == folder,
    }
}

/// The words in back quotes.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn reads_names_and_patterns() {
    let page = "## Who may import whom\n\nwords\n\n| crate | imports |\n| --- | --- |\n| `a`, `b/c` | nothing |\n| `b` (x) | `a`, `b/*` |\n\n| `z` | `q` |\n";
    let table = Table::read(page);
    assert!(table.knows("a") && table.knows("b/c") && table.knows("b") && !table.knows("z"));
    assert!(!table.allows("a", "b"));
    assert!(table.allows("b", "a") && table.allows("b", "b/c") && !table.allows("b", "b"));
}
