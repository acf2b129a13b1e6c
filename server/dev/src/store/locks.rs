//! One lock per key, there only while somebody holds or awaits it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(super) struct KeyLocks(Mutex<HashMap<String, Arc<Mutex<()>>>>);

impl KeyLocks {
    /// Runs `work` while nobody else works on `key`. Other keys are not waited for.
    pub(super) fn hold<T>(&self, key: &str, work: impl FnOnce() -> T) -> T {
        let lock = Arc::clone(self.all().entry(key.to_owned()).or_default());
        let result = {
            // The lock guards no data, so one who panicked with it has broken nothing in it.
            let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
            work()
        };
        let mut all = self.all();
        // The map's reference and ours: nobody else can take one while we hold the map.
        if Arc::strong_count(&lock) == 2 {
            all.remove(key);
        }
        result
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn one_key_at_a_time_and_others_meanwhile() {
        let locks = Arc::new(KeyLocks::default());
        let (entered_tx, entered) = mpsc::channel();
        let (leave, leave_rx) = mpsc::channel::<()>();
        let first = thread::spawn({
            let locks = Arc::clone(&locks);
            move || {
                locks.hold("a", || {
                    entered_tx.send(()).unwrap();
                    leave_rx.recv().unwrap();
                });
            }
        });
        entered.recv().unwrap();
        locks.hold("b", || ());
        let second = thread::spawn({
            let locks = Arc::clone(&locks);
            move || locks.hold("a", || 2)
        });
        leave.send(()).unwrap();
        first.join().unwrap();
        assert_eq!(second.join().unwrap(), 2);
        assert!(locks.all().is_empty());
    }
}
