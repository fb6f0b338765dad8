//! What people do to the queue by hand: each puts its wish into the ledger and rings the bell of the stage that acts on it.

use crate::Core;

/// The reason of an event that a person cancelled.
const BY_HAND: &str = "by_hand";

impl Core {
    /// Queues an event that ended without success, or waits for its retry, to run again at once.
    pub async fn retry_event(&self, id: &str) -> Result<(), ledger::Error> {
        self.ledger.retry_event(id).await?;
        self.runs_bell.notify_one();
        tracing::info!(event_id = id, "event retried by hand");
        Ok(())
    }

    /// Ends an event that waits.
    pub async fn cancel_event(&self, id: &str) -> Result<(), ledger::Error> {
        self.ledger.cancel_event(id, BY_HAND, self.clock.now()).await?;
        // What waited behind it in its line may run now.
        self.runs_bell.notify_one();
        tracing::info!(event_id = id, "event cancelled by hand");
        Ok(())
    }

    /// Holds a route's events. `false`: it was paused already.
    pub async fn pause(&self, route: &str) -> Result<bool, ledger::Error> {
        let changed = self.ledger.pause(route, self.clock.now()).await?;
        if changed {
            tracing::info!(route, "route paused");
        }
        Ok(changed)
    }

    /// Lets a paused route go on. `false`: it was not paused.
    pub async fn resume(&self, route: &str) -> Result<bool, ledger::Error> {
        let changed = self.ledger.resume(route).await?;
        self.runs_bell.notify_one();
        if changed {
            tracing::info!(route, "route resumed");
        }
        Ok(changed)
    }

    /// Has a delivery sent again that is not delivered.
    pub async fn retry_delivery(&self, id: &str) -> Result<(), ledger::Error> {
        self.ledger.retry_delivery(id, self.clock.now()).await?;
        self.deliveries_bell.notify_one();
        tracing::info!(delivery_id = id, "delivery retried by hand");
        Ok(())
    }
}
