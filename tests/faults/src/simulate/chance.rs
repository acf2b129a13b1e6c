//! Chance for the engine's port.

use std::sync::Mutex;

use super::executor::locked;
use crate::rng::Rng;

/// Bytes from a seed.
pub struct Chance(Mutex<Rng>);

impl Chance {
    /// Bytes of a stream.
    pub fn new(rng: Rng) -> Self {
        Self(Mutex::new(rng))
    }
}

impl lochan_storage_model::Rng for Chance {
    fn fill(&self, bytes: &mut [u8]) {
        let mut rng = locked(&self.0);
        for chunk in bytes.chunks_mut(8) {
            for (to, from) in chunk.iter_mut().zip(rng.draw().to_le_bytes()) {
                *to = from;
            }
        }
    }
}
