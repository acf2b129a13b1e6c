//! Medians and ratios of neighbouring slices.

use serde::Serialize;

/// Median of some figures with their extremes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Middle figure, or the mean of the two in the middle.
    pub median: f64,
    /// Smallest figure.
    pub min: f64,
    /// Largest figure.
    pub max: f64,
}

/// Summarises figures; `None` when there are none.
pub fn spread(figures: &[f64]) -> Option<Spread> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let upper = *sorted.get(sorted.len() / 2)?;
    let median = if sorted.len().is_multiple_of(2) {
        (upper + *sorted.get(sorted.len() / 2 - 1)?) / 2.0
    } else {
        upper
    };
    Some(Spread { median, min, max })
}

/// Compares `a` with `b` slice by slice. Slices of one index ran next to each other, so what disturbed one most
/// likely disturbed the other: that is why the ratios are taken first and the median afterwards. A slice without a
/// rate on either side is left out.
pub fn of_neighbours(a: &[f64], b: &[f64]) -> Option<Spread> {
    let ratios: Vec<f64> =
        a.iter().zip(b).filter(|(x, y)| **x > 0.0 && **y > 0.0).map(|(x, y)| x / y).collect();
    spread(&ratios)
}

/// Share of the slowest of `ops` workers: its operations over the mean, 1 when all are equal, 0 when one starved.
pub fn slowest_share(ops: &[u64]) -> Option<f64> {
    let total: u64 = ops.iter().sum();
    let least = *ops.iter().min()?;
    (total > 0).then(|| least as f64 * ops.len() as f64 / total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[3.0]), Some(Spread { median: 3.0, min: 3.0, max: 3.0 }));
        assert_eq!(spread(&[5.0, 1.0, 2.0]), Some(Spread { median: 2.0, min: 1.0, max: 5.0 }));
        assert_eq!(spread(&[4.0, 1.0, 2.0, 9.0]), Some(Spread { median: 3.0, min: 1.0, max: 9.0 }));
    }

    #[test]
    fn ratios_are_taken_per_pair_before_the_median() {
        // The machine was ten times slower during the second pair; the ratio does not see it.
        let got = of_neighbours(&[50.0, 5.0, 60.0], &[100.0, 10.0, 100.0]);
        assert_eq!(got, Some(Spread { median: 0.5, min: 0.5, max: 0.6 }));
    }

    #[test]
    fn pairs_without_a_figure_are_left_out() {
        assert_eq!(of_neighbours(&[0.0, 2.0], &[1.0, 4.0]).map(|s| s.median), Some(0.5));
        assert_eq!(of_neighbours(&[1.0], &[0.0]), None);
        assert_eq!(of_neighbours(&[1.0, 3.0], &[2.0]).map(|s| s.median), Some(0.5));
    }

    #[test]
    fn the_slowest_share() {
        assert_eq!(slowest_share(&[10, 10, 10]), Some(1.0));
        assert_eq!(slowest_share(&[0, 20]), Some(0.0));
        assert_eq!(slowest_share(&[5, 15]), Some(0.5));
        assert_eq!(slowest_share(&[]), None);
        assert_eq!(slowest_share(&[0, 0]), None);
    }
}
