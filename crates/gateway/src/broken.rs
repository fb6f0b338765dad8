//! A part that breaks off by a panic: a gateway without it would take requests and do nothing with them.

use tokio_util::sync::CancellationToken;

/// Tells that a part broke off. The gateway then stops in order, and its next start settles what was left half done.
#[derive(Debug, Clone, Default)]
pub struct Broken(CancellationToken);

impl Broken {
    /// To be held by a part while it works: a panic meanwhile is told.
    pub fn watch(&self) -> Watch {
        Watch(self.0.clone())
    }

    /// Returns when a part has broken off.
    pub async fn told(&self) {
        self.0.cancelled().await;
    }
}

/// Held by a part while it works.
#[derive(Debug)]
pub struct Watch(CancellationToken);

impl Drop for Watch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.cancel();
        }
    }
}
