//! Whether calls on one register can be put in an order that their times allow and that explains every answer.
//!
//! A depth-first search over what may come next (after Wing and Gong), with every position looked at once (after Lowe). Reads
//! that fit the present value are taken at once: they change nothing, so taking them early never spoils a later choice.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// A call on a register that holds a value or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<V> {
    /// It was found to hold this.
    Read(Option<V>),
    /// It was found not to hold this.
    Not(Option<V>),
    /// It was changed from one to the other.
    Move(Option<V>, Option<V>),
}

/// A call with its times.
#[derive(Clone, Debug)]
pub struct Call<V> {
    /// When it began.
    pub invoked: u64,
    /// When it had ended; `None` for a call of unknown outcome, which may take effect at any time from its beginning on, or
    /// never.
    pub returned: Option<u64>,
    /// What it did.
    pub action: Action<V>,
}

impl<V: Clone + Eq> Action<V> {
    fn fits(&self, value: &Option<V>) -> bool {
        match self {
            Self::Read(found) => found == value,
            Self::Not(other) => other != value,
            Self::Move(from, _) => from == value,
        }
    }

    fn after<'a>(&'a self, value: &'a Option<V>) -> &'a Option<V> {
        match self {
            Self::Move(_, to) => to,
            Self::Read(_) | Self::Not(_) => value,
        }
    }
}

/// A position of the search: which calls are taken, and the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Position<V> {
    /// All calls with an answer before this one, in the order of their beginnings, are taken.
    base: usize,
    /// Further ones that are taken, in order.
    ahead: Vec<usize>,
    /// Calls of unknown outcome that are taken, in order.
    unknown: Vec<usize>,
    value: Option<V>,
}

/// The calls, or why no order explains them: the position that explains most, and what it could not go on with.
pub fn check<V: Clone + Eq + Hash + Debug>(start: Option<V>, calls: &[Call<V>]) -> Result<(), String> {
    let mut sorted: Vec<&Call<V>> = calls.iter().collect();
    sorted.sort_by_key(|call| call.invoked);
    let (known, unknown): (Vec<&Call<V>>, Vec<&Call<V>>) =
        sorted.into_iter().partition(|call| call.returned.is_some());
    let search = Search { known, unknown };
    let first = search.read_on(Position { base: 0, ahead: Vec::new(), unknown: Vec::new(), value: start });
    let mut seen = HashSet::from([first.clone()]);
    let mut best = first.clone();
    let mut open = vec![first];
    while let Some(position) = open.pop() {
        if position.base >= search.known.len() {
            return Ok(());
        }
        if position.base + position.ahead.len() > best.base + best.ahead.len() {
            best = position.clone();
        }
        for next in search.moves(&position) {
            let next = search.read_on(next);
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Err(search.stuck(&best))
}

struct Search<'a, V> {
    known: Vec<&'a Call<V>>,
    unknown: Vec<&'a Call<V>>,
}

impl<V: Clone + Eq + Hash + Debug> Search<'_, V> {
    /// Places of the calls with an answer that may come next: none that began after another had ended.
    fn next(&self, position: &Position<V>) -> Vec<usize> {
        let mut first_end = u64::MAX;
        let mut next = Vec::new();
        for (place, call) in self.known.iter().enumerate().skip(position.base) {
            if call.invoked > first_end {
                break;
            }
            if position.ahead.binary_search(&place).is_err() {
                first_end = first_end.min(call.returned.unwrap_or(u64::MAX));
                next.push(place);
            }
        }
        let in_time = |place: &usize| self.known.get(*place).is_some_and(|call| call.invoked <= first_end);
        next.retain(in_time);
        next
    }

    fn take(&self, position: &mut Position<V>, place: usize) {
        if let Err(at) = position.ahead.binary_search(&place) {
            position.ahead.insert(at, place);
        }
        while position.ahead.first() == Some(&position.base) {
            position.ahead.remove(0);
            position.base += 1;
        }
    }

    /// Takes every read that fits, as long as there is one.
    fn read_on(&self, mut position: Position<V>) -> Position<V> {
        loop {
            let fits = |place: &usize| {
                self.known.get(*place).is_some_and(|call| {
                    !matches!(call.action, Action::Move(..)) && call.action.fits(&position.value)
                })
            };
            let Some(place) = self.next(&position).into_iter().find(fits) else { return position };
            self.take(&mut position, place);
        }
    }

    /// Positions after one more move.
    fn moves(&self, position: &Position<V>) -> Vec<Position<V>> {
        let mut positions = Vec::new();
        let next = self.next(position);
        let first_end = next.iter().filter_map(|place| self.known.get(*place)?.returned).min();
        for (place, call) in self.unknown.iter().enumerate() {
            let used = position.unknown.binary_search(&place);
            let Err(at) = used else { continue };
            if call.invoked <= first_end.unwrap_or(u64::MAX) && call.action.fits(&position.value) {
                let mut after = position.clone();
                after.unknown.insert(at, place);
                after.value.clone_from(call.action.after(&position.value));
                positions.push(after);
            }
        }
        for place in next {
            let Some(call) = self.known.get(place) else { continue };
            if matches!(call.action, Action::Move(..)) && call.action.fits(&position.value) {
                let mut after = position.clone();
                self.take(&mut after, place);
                after.value.clone_from(call.action.after(&position.value));
                positions.push(after);
            }
        }
        positions
    }

    fn stuck(&self, position: &Position<V>) -> String {
        let next: Vec<String> = self
            .next(position)
            .iter()
            .filter_map(|place| Some(format!("{:?}", self.known.get(*place)?)))
            .collect();
        format!(
            "no order explains more than {} of {} calls; at {:?} none of these fits: {}",
            position.base + position.ahead.len(),
            self.known.len(),
            position.value,
            next.join("; ")
        )
    }
}
