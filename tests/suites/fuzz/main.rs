//! The targets of `tests/fuzz` over their corpus, on any compiler: each input as it is, and changed at random a few times.
//!
//! What the fuzzer finds is added to `tests/fuzz/corpus/TARGET/` and so stays found.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a panic here is a failed test")]

#[path = "../../fuzz/src/filter.rs"]
mod filter;
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Changed copies of each input.
const CHANGES: u64 = 40;
/// Longest time for one input; the targets need microseconds, a busy machine may take its time.
const INPUT_TIME_MAX: Duration = Duration::from_secs(5);

/// A source of chance that is the same every time.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below.max(1) as u64).unwrap()
    }
}

/// A copy with a few bytes changed, doubled, removed or taken from another input.
fn changed(input: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    const TELLING: &[u8] = b"@~^*.\"{}[],:0-\\%+\x00\x1d\x7f\xc3\xa9/()!&|'";
    let mut out = input.to_vec();
    for _ in 0..=chance.next(4) {
        let at = chance.next(out.len() + 1);
        match chance.next(5) {
            0 => out.insert(at, TELLING[chance.next(TELLING.len())]),
            1 if at < out.len() => drop(out.remove(at)),
            2 if at < out.len() => out[at] = TELLING[chance.next(TELLING.len())],
            3 => {
                let from = at.min(out.len());
                let piece = out[from..(from + chance.next(24)).min(out.len())].to_vec();
                let again = chance.next(6);
                (0..again).for_each(|_| drop(out.splice(from..from, piece.iter().copied())));
            }
            _ => {
                let from = chance.next(other.len());
                let piece = &other[from..(from + chance.next(48)).min(other.len())];
                out.splice(at..at, piece.iter().copied());
            }
        }
    }
    out
}

fn run(name: &str, target: impl Fn(&[u8])) {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "fuzz", "corpus", name].iter().collect();
    let mut inputs: Vec<(PathBuf, Vec<u8>)> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let timed = |place: &str, input: &[u8]| {
        let began = Instant::now();
        target(input);
        assert!(began.elapsed() < INPUT_TIME_MAX, "{place} took {:?}: {input:?}", began.elapsed());
    };
    for (path, input) in &inputs {
        timed(&path.display().to_string(), input);
        for _ in 0..CHANGES {
            let (_, other) = &inputs[chance.next(inputs.len())];
            timed(&path.display().to_string(), &changed(input, other, &mut chance));
        }
    }
}

#[test]
fn references() {
    run("reference", targets::reference);
}

#[test]
fn keys() {
    run("key", targets::key);
}

#[test]
fn bodies() {
    run("json", targets::json);
}

#[test]
fn tokens() {
    run("token", targets::token);
}

#[test]
fn filters() {
    run("filter", filter::filter);
}
