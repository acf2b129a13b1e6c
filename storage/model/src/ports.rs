//! Time and chance come in through these ports only, so that a test can replay both.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{id::ContentId, time::Micros};

/// The wall clock.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Micros;
}

/// A source of random bytes.
pub trait Rng: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);

    /// A new random (version 4) content id.
    fn content_id(&self) -> ContentId {
        let mut bytes = [0u8; 16];
        self.fill(&mut bytes);
        ContentId::from_bytes(uuid::Builder::from_random_bytes(bytes).into_uuid().into_bytes())
    }
}

/// The clock of the operating system.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Micros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Micros::try_from(since.as_micros()).unwrap_or(Micros::MAX)
    }
}

/// The randomness of the operating system, as the `uuid` crate draws it.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemRng;

impl Rng for SystemRng {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            // A version 4 UUID has 122 random bits; its last eight bytes hold 62 of them, so fold both halves.
            let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
            let mixed = (high.rotate_left(17) ^ low).to_le_bytes();
            for (to, from) in chunk.iter_mut().zip(mixed) {
                *to = from;
            }
        }
    }
}
