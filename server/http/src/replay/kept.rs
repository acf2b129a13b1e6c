//! What is remembered of answers: as long, as many and as large as the bounds say.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lochan_server_catalog::requests::RequestKey;
use tokio::sync::OnceCell;

use crate::reply::Reply;

/// How long a key is remembered, in seconds.
pub(super) const LIFETIME_SECONDS: u64 = 30 * 60;
/// Keys kept at once.
pub(super) const KEYS_MAX: usize = 4_096;
/// Longest answer kept as it is, in bytes; a longer one is told anew from the state as it is then.
pub(super) const KEPT_BYTES_MAX: usize = 8 * 1024;

/// The bounds in force; those above by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) lifetime: Duration,
    pub(super) keys_max: usize,
    pub(super) kept_bytes_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            lifetime: Duration::from_secs(LIFETIME_SECONDS),
            keys_max: KEYS_MAX,
            kept_bytes_max: KEPT_BYTES_MAX,
        }
    }
}

/// Answers by key.
#[derive(Default)]
pub(super) struct Replays {
    bounds: Bounds,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    slots: HashMap<[u8; 32], Arc<Slot>>,
    /// The keys, the oldest first.
    order: VecDeque<[u8; 32]>,
}

/// The place of one key's answer.
pub(super) struct Slot {
    pub(super) fingerprint: [u8; 32],
    pub(super) answer: OnceCell<Kept>,
    begun: Instant,
}

/// What is remembered of an answer.
#[derive(Clone)]
pub(super) enum Kept {
    /// All of it.
    Reply(Reply),
    /// That it was a success, too long to keep.
    Success,
}

impl Replays {
    /// None yet.
    #[cfg(test)]
    pub(super) fn within(bounds: Bounds) -> Self {
        Replays { bounds, held: Mutex::default() }
    }

    /// What is kept of a final answer.
    pub(super) fn keep(&self, reply: &Reply) -> Kept {
        match reply.body.len() > self.bounds.kept_bytes_max && reply.status.is_success() {
            true => Kept::Success,
            false => Kept::Reply(reply.clone()),
        }
    }

    /// The place of a key's answer: a new one where there is none, or where its time is over.
    pub(super) fn slot(&self, request: &RequestKey, now: Instant) -> Arc<Slot> {
        // Every change of it is whole before anything could panic.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(oldest) = held.order.front().and_then(|key| held.slots.get(key))
            && now.saturating_duration_since(oldest.begun) >= self.bounds.lifetime
        {
            held.remove(0);
        }
        if let Some(slot) = held.slots.get(&request.key) {
            return slot.clone();
        }
        if held.order.len() >= self.bounds.keys_max {
            // One whose request is at work goes last: its duplicates could not wait for it any more.
            let idle =
                held.order.iter().position(|key| held.slots.get(key).is_none_or(|slot| slot.is_idle()));
            held.remove(idle.unwrap_or(0));
        }
        let slot = Arc::new(Slot { fingerprint: request.fingerprint, answer: OnceCell::new(), begun: now });
        held.slots.insert(request.key, slot.clone());
        held.order.push_back(request.key);
        slot
    }
}

impl Held {
    fn remove(&mut self, at: usize) {
        if let Some(key) = self.order.remove(at) {
            self.slots.remove(&key);
        }
    }
}

impl Slot {
    fn is_idle(self: &Arc<Self>) -> bool {
        self.answer.initialized() || Arc::strong_count(self) == 1
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use lochan_server_catalog::requests::RequestKey;

    use super::*;

    fn request(number: usize) -> RequestKey {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        RequestKey { key, fingerprint: [1; 32] }
    }

    /// Answers a request, and says whether it had been answered before.
    fn answered(replays: &Replays, number: usize, now: Instant) -> bool {
        let slot = replays.slot(&request(number), now);
        let before = slot.answer.initialized();
        let _ = slot.answer.set(Kept::Success);
        before
    }

    #[test]
    fn the_bounds_in_force_are_the_documented_ones() {
        let Bounds { lifetime, keys_max, kept_bytes_max } = Replays::default().bounds;
        assert_eq!((lifetime, keys_max, kept_bytes_max), (Duration::from_secs(30 * 60), 4_096, 8 << 10));
    }

    #[test]
    fn as_many_keys_are_kept_as_the_bound_says_and_the_oldest_goes() {
        let (replays, now) = (Replays::default(), Instant::now());
        assert!((0..KEYS_MAX).all(|number| !answered(&replays, number, now)));
        assert!((0..KEYS_MAX).all(|number| answered(&replays, number, now)), "all are remembered");
        assert!(!answered(&replays, KEYS_MAX, now));
        assert!((1..=KEYS_MAX).all(|number| answered(&replays, number, now)), "the others are");
        assert!(!answered(&replays, 0, now), "the oldest is not");
        let held = replays.held.lock().unwrap();
        assert_eq!((held.slots.len(), held.order.len()), (KEYS_MAX, KEYS_MAX));
    }

    #[test]
    fn a_key_is_kept_as_long_as_the_bound_says() {
        let (replays, begun) = (Replays::default(), Instant::now());
        let over = begun + Duration::from_secs(LIFETIME_SECONDS);
        assert!(!answered(&replays, 1, begun));
        assert!(answered(&replays, 1, over - Duration::from_millis(1)));
        assert!(!answered(&replays, 1, over));
        assert_eq!(replays.held.lock().unwrap().slots.len(), 1);
    }

    #[test]
    fn a_request_at_work_stays_while_another_can_go() {
        let replays = Replays::within(Bounds { keys_max: 2, ..Bounds::default() });
        let now = Instant::now();
        let at_work = replays.slot(&request(1), now);
        answered(&replays, 2, now);
        answered(&replays, 3, now);
        assert!(Arc::ptr_eq(&at_work, &replays.slot(&request(1), now)));
        assert!(answered(&replays, 3, now));
    }

    #[test]
    fn an_answer_of_the_largest_size_is_kept_as_it_is() {
        let reply = |length: usize| {
            let mut reply = Reply::empty(StatusCode::OK);
            reply.body = vec![b'x'; length].into();
            reply
        };
        let kept = |length| matches!(Replays::default().keep(&reply(length)), Kept::Reply(_));
        assert!(kept(KEPT_BYTES_MAX));
        assert!(!kept(KEPT_BYTES_MAX + 1));
    }
}
