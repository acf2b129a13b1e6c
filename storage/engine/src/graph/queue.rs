//! A queue of commits by depth whose order among equals is that of the reference server.

use lochan_storage_model::CommitId;

/// Commits, deepest first.
///
/// Which of several commits of one depth comes first decides which merge base is found where history crosses, so it must
/// not be left to chance: this is the binary heap of the reference server's language, step by step.
#[derive(Debug, Default)]
pub(super) struct Queue(Vec<(u64, CommitId)>);

impl Queue {
    pub(super) fn push(&mut self, depth: u64, id: CommitId) {
        let mut at = self.0.len();
        self.0.push((depth, id));
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.depth(at) <= self.depth(parent) {
                break;
            }
            self.0.swap(at, parent);
            at = parent;
        }
    }

    pub(super) fn pop(&mut self) -> Option<CommitId> {
        let last = self.0.len().checked_sub(1)?;
        self.0.swap(0, last);
        let (_, id) = self.0.pop()?;
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let Some(left_depth) = self.depth(left) else { break };
            let child = if self.depth(right) > Some(left_depth) { right } else { left };
            if self.depth(at) >= self.depth(child) {
                break;
            }
            self.0.swap(at, child);
            at = child;
        }
        Some(id)
    }

    fn depth(&self, at: usize) -> Option<u64> {
        self.0.get(at).map(|(depth, _)| *depth)
    }
}

#[cfg(test)]
mod tests {
    use lochan_storage_model::ObjectId;

    use super::*;

    #[test]
    fn deepest_first_and_equals_in_the_order_of_the_heap() {
        let id = |n: u8| CommitId::new(ObjectId::from_bytes([n; 32]));
        let mut queue = Queue::default();
        for (n, depth) in [(1, 2), (2, 5), (3, 5), (4, 5), (5, 9)] {
            queue.push(depth, id(n));
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [5, 4, 2, 3, 1].map(id));
    }
}
