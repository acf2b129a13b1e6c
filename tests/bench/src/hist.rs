//! Latency histogram with buckets of bounded relative width.

use std::time::Duration;

/// Buckets per doubling of the latency: a reported quantile is at most 1/64 above the true one.
const STEPS_PER_DOUBLING: u64 = 64;
/// Doublings covered beyond the linear part: up to about 18 minutes in nanoseconds.
const DOUBLINGS: usize = 35;
const BUCKETS: usize = STEPS_PER_DOUBLING as usize * (DOUBLINGS + 1);

/// Counts latencies; everything beyond the covered range lands in the last bucket, the maximum stays exact.
#[derive(Clone)]
pub struct Hist {
    counts: Vec<u64>,
    total: u64,
    max_ns: u64,
}

impl Default for Hist {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, max_ns: 0 }
    }
}

impl Hist {
    /// Records one latency.
    pub fn add(&mut self, latency: Duration) {
        let ns = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        if let Some(count) = self.counts.get_mut(bucket(ns)) {
            *count += 1;
        }
        self.total += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds everything recorded in `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Largest latency recorded, exact, in milliseconds.
    pub fn max_ms(&self) -> f64 {
        ms(self.max_ns)
    }

    /// Upper bound of the quantile `q` (0..=1) in milliseconds; 0 when nothing was recorded.
    pub fn quantile_ms(&self, q: f64) -> f64 {
        if self.total == 0 {
            return 0.0;
        }
        let rank = ((q * self.total as f64).ceil() as u64).clamp(1, self.total);
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return ms(upper_bound(i).min(self.max_ns));
            }
        }
        self.max_ms()
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Below 64 ns one bucket per nanosecond; above, the leading seven bits choose the bucket.
fn bucket(ns: u64) -> usize {
    if ns < STEPS_PER_DOUBLING {
        return ns as usize;
    }
    let doubling = u64::from(ns.ilog2() - STEPS_PER_DOUBLING.ilog2());
    let step = (ns >> doubling) - STEPS_PER_DOUBLING;
    (((doubling + 1) * STEPS_PER_DOUBLING + step) as usize).min(BUCKETS - 1)
}

/// Largest latency of a bucket, in nanoseconds.
fn upper_bound(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS_PER_DOUBLING {
        return bucket;
    }
    let doubling = bucket / STEPS_PER_DOUBLING - 1;
    let step = bucket % STEPS_PER_DOUBLING;
    ((STEPS_PER_DOUBLING + step + 1) << doubling) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_are_narrow() {
        let mut ns = 1u64;
        while ns < 1 << 40 {
            for value in [ns - 1, ns, ns + ns / 3] {
                let b = bucket(value);
                assert!(value <= upper_bound(b), "{value} above its bucket {b}");
                assert!(b == 0 || value > upper_bound(b - 1), "{value} below its bucket {b}");
                assert!(
                    upper_bound(b) - value <= value / STEPS_PER_DOUBLING,
                    "bucket {b} too wide for {value}"
                );
            }
            ns *= 2;
        }
    }

    #[test]
    fn quantiles_of_a_known_distribution() {
        let mut h = Hist::default();
        for us in 1..=1000 {
            h.add(Duration::from_micros(us));
        }
        for (q, want) in [(0.5, 0.5), (0.99, 0.99), (1.0, 1.0), (0.0, 0.001)] {
            let got = h.quantile_ms(q);
            assert!(got >= want && got <= want * 1.02, "q{q}: {got} instead of {want}");
        }
        assert_eq!(h.max_ms(), 1.0);
        assert_eq!(h.total, 1000);
    }

    #[test]
    fn an_empty_histogram_answers_zero_and_a_huge_value_is_kept() {
        let mut h = Hist::default();
        assert_eq!(h.quantile_ms(0.5), 0.0);
        h.add(Duration::from_secs(1 << 30));
        assert_eq!(h.quantile_ms(0.5), h.max_ms().min(h.quantile_ms(0.5)));
        assert_eq!(h.max_ms(), (1u64 << 30) as f64 * 1e3);
    }

    #[test]
    fn merging_equals_recording_everything_in_one() {
        let (mut a, mut b, mut all) = (Hist::default(), Hist::default(), Hist::default());
        for i in 0..500u64 {
            let d = Duration::from_nanos(i * i * 37);
            if i % 3 == 0 {
                a.add(d)
            } else {
                b.add(d)
            }
            all.add(d);
        }
        a.merge(&b);
        assert_eq!(a.counts, all.counts);
        assert_eq!((a.total, a.max_ns), (all.total, all.max_ns));
    }
}
