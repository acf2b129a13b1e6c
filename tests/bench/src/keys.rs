//! Where the tables of a base branch lie: spread over many namespaces, numbered.

use std::fmt::Write;

/// Tables per namespace, about.
const TABLES_PER_NAMESPACE: usize = 100;
/// Fewest namespaces, so that small bases are spread too.
const NAMESPACES_MIN: usize = 10;

/// Layout of `tables` tables; neighbours in number lie in different namespaces.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Number of tables.
    pub tables: usize,
    /// Number of namespaces.
    pub namespaces: usize,
}

impl Layout {
    /// Layout for this many tables.
    pub fn new(tables: usize) -> Self {
        let tables = tables.max(1);
        Self { tables, namespaces: (tables / TABLES_PER_NAMESPACE).max(NAMESPACES_MIN).min(tables) }
    }

    /// Name of a namespace.
    pub fn namespace(self, number: usize) -> String {
        format!("ns{number:05}")
    }

    /// Key of a table as it stands in a path.
    pub fn push_path(self, table: usize, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(out, "ns{:05}.t{table:08}", table % self.namespaces);
    }

    /// Key of a table in JSON.
    pub fn push_json(self, table: usize, out: &mut String) {
        let _ = write!(out, r#"{{"elements":["ns{:05}","t{table:08}"]}}"#, table % self.namespaces);
    }

    /// Number of a table from the last element of its key.
    pub fn number(element: &str) -> Option<usize> {
        element.strip_prefix('t')?.parse().ok()
    }

    /// Table `i` of `n` spread evenly over all tables.
    pub fn spread(self, i: usize, n: usize) -> usize {
        (i * self.tables / n.max(1)) % self.tables
    }
}

/// Walks over `0..count` in an order that jumps about and meets every number once per round.
#[derive(Clone, Debug)]
pub struct Walk {
    at: usize,
    stride: usize,
    count: usize,
}

impl Walk {
    /// Starts somewhere that depends on `seed`.
    pub fn new(count: usize, seed: usize) -> Self {
        let count = count.max(1);
        // The golden section makes far jumps; the next number without a common divisor reaches everything.
        let mut stride = ((count as f64 * 0.618) as usize).max(1);
        while gcd(stride, count) != 1 {
            stride += 1;
        }
        Self { at: seed.wrapping_mul(7919) % count, stride, count }
    }

    /// The next number.
    pub fn step(&mut self) -> usize {
        self.at = (self.at + self.stride) % self.count;
        self.at
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_walk_meets_every_table_once_per_round() {
        for count in [1, 2, 7, 10, 64, 1000] {
            let mut walk = Walk::new(count, 3);
            let seen: HashSet<usize> = (0..count).map(|_| walk.step()).collect();
            assert_eq!(seen.len(), count, "{count}");
        }
    }

    #[test]
    fn spread_tables_are_distinct_and_cover_the_range() {
        let layout = Layout::new(1000);
        let tables: Vec<usize> = (0..64).map(|i| layout.spread(i, 64)).collect();
        let distinct: HashSet<_> = tables.iter().collect();
        assert_eq!(distinct.len(), 64);
        assert!(*tables.last().unwrap() > 960);
    }

    #[test]
    fn keys_read_back() {
        let layout = Layout::new(100_000);
        assert_eq!(layout.namespaces, 1000);
        let mut path = String::new();
        layout.push_path(12_345, &mut path);
        assert_eq!(path, "ns00345.t00012345");
        assert_eq!(Layout::number("t00012345"), Some(12_345));
    }
}
