//! Memory of this process as the system counts it.

use std::fs;

/// The most memory held since a moment.
pub struct Peak {
    held_bytes: u64,
}

impl Peak {
    /// Begins now.
    pub fn begin() -> Self {
        // "5" takes the peak back to what is held now.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self { held_bytes: status("VmRSS:").unwrap_or(0) }
    }

    /// Bytes held at most, beyond those at the beginning; 0 where the system does not tell.
    pub fn grown_by(&self) -> u64 {
        status("VmHWM:").unwrap_or(0).saturating_sub(self.held_bytes)
    }
}

fn status(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}
