//! Being told to stop.

use tokio::sync::watch;

/// Exit code of a process that was told to stop twice.
const IMPATIENT: i32 = 130;

/// Tells every part of a server to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Nobody has said so yet.
    pub fn new() -> Self {
        Stop(watch::Sender::new(false))
    }

    /// Says it.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Resolves once it was said.
    pub fn told(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut receiver = self.0.subscribe();
        async move {
            // The other end being gone means the same.
            let _ = receiver.wait_for(|stop| *stop).await;
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop::new()
    }
}

/// Catches SIGTERM and SIGINT from now on. Resolves at the first of them; a second one ends the process at once.
pub fn signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            std::process::exit(IMPATIENT);
        });
    })
}
