//! The limits that the README names, each at its bound and one past it: refused with a plain answer, at once, and without
//! the memory that the request asks for. One test in a process of its own, so that its memory can be measured.

#![allow(
    clippy::indexing_slicing,
    reason = "documents of answers are read by name; a missing field fails the test"
)]

mod documented;
#[allow(dead_code, reason = "this suite needs a part of it")]
#[path = "../nessie/harness.rs"]
mod harness;
mod memory;
mod rows;
mod streams;

use std::time::{Duration, Instant};

use harness::{Answer, Server};
use rows::Row;

/// How soon a refusal is there. The slowest, a filter that takes all its steps, needs 70 ms with optimisation and 170 without,
/// and a build without it shares the machine with the other tests.
const REFUSED_WITHIN: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 100 });
/// Memory that a refused request may take beside itself, in bytes.
const REFUSAL_BYTES_MAX: u64 = 64 << 20;
/// A machine may be busy with something else; the fastest of some tries counts.
const TRIES: usize = 3;

/// Sends what is past a bound some times, and gets the answer with the moment at which all was sent; what is wrong with the
/// refusal goes to `wrong`. `sent_bytes` of memory are the request's own.
#[expect(clippy::print_stdout, reason = "the figures are for whoever runs it with --nocapture")]
async fn measured(
    what: &str,
    wrong: &mut Vec<String>,
    sent_bytes: u64,
    status: u16,
    words: &str,
    send: impl AsyncFn() -> (Answer, Instant),
) {
    let (mut soonest, mut most_bytes) = (Duration::MAX, 0);
    for _ in 0..TRIES {
        let memory = memory::Peak::begin();
        let (answer, begun) = send().await;
        soonest = soonest.min(begun.elapsed());
        let took = memory.grown_by();
        most_bytes = most_bytes.max(took);
        if answer.status != status || !answer.body.to_string().contains(words) {
            wrong.push(format!("{what}: past the bound: {} {}", answer.status, answer.body));
            break;
        }
        if took > REFUSAL_BYTES_MAX + sent_bytes {
            wrong.push(format!("{what}: took {took} bytes to refuse"));
        }
    }
    println!("{what}: {soonest:?}, {} KiB", most_bytes / 1024);
    if soonest > REFUSED_WITHIN {
        wrong.push(format!("{what}: refused after {soonest:?}"));
    }
}

#[tokio::test]
async fn one_past_the_bound_is_refused_at_once() {
    let server = Server::start().await;
    rows::prepare(&server).await;
    let mut wrong = Vec::new();
    for Row { what, at, past, status, words } in rows::all() {
        let answer = at.send(&server).await;
        let refused_by_the_limit = answer.status == status && answer.body.to_string().contains(words);
        if refused_by_the_limit && (!words.is_empty() || answer.body.is_null()) {
            wrong.push(format!("{what}: at the bound: {} {}", answer.status, answer.body));
        }
        let sent_bytes = past.body.len() as u64;
        measured(what, &mut wrong, sent_bytes, status, words, async || {
            let begun = Instant::now();
            (past.send(&server).await, begun)
        })
        .await;
    }
    wrong.extend(streams::tried(&server).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
