//! Which messages go now, and when to look again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use config::Config;
use ledger::{Boot, ClaimDeliveries, ClaimedDelivery, DeliveryEnd, TargetRoom};
use rules::retry::{Backoff, after, asked_or};
use rules::states::DeliveryState;
use targets::{Target, Verdict};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::attempt;
use crate::egress::Client;
use crate::life::fence::{Fence, Verdict as Fenced};
use crate::{Core, chance};

/// Messages to one target that may be under way at a time: enough to hide a slow answer, too few to trip its limits.
const AT_ONCE: u32 = 4;
/// Without a bell and without a due time the ledger is looked at now and then all the same.
const LONGEST_SLEEP: Duration = Duration::from_mins(1);
/// While the ledger cannot be used, or something is due that has no room.
const SHORT_SLEEP: Duration = Duration::from_secs(1);

/// Sends what is due.
pub struct Courier {
    core: Arc<Core>,
    client: Client,
    under_way: Arc<Mutex<HashMap<String, u32>>>,
    sending: TaskTracker,
}

impl Courier {
    /// A courier whose attempts are tracked by `sending`. The error says why there can be no HTTP client.
    pub fn new(core: Arc<Core>, sending: TaskTracker) -> Result<Courier, String> {
        Ok(Courier { core, client: Client::new()?, under_way: Arc::default(), sending })
    }

    /// Sends until `shutdown`. Attempts under way go on.
    pub async fn run(self, shutdown: CancellationToken) {
        let _watch = self.core.broken.watch();
        loop {
            let wait = match self.send_all().await {
                Ok(wait) => wait,
                Err(error) => {
                    self.core.signals.ledger_failed("claim deliveries", &error);
                    SHORT_SLEEP
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = self.core.deliveries_bell.notified() => {}
                () = sleep(wait) => {}
            }
        }
    }

    async fn send_all(&self) -> Result<Duration, ledger::Error> {
        let config = self.core.config();
        let now = self.core.clock.now();
        let due = self.core.ledger.due().await?.delivery;
        let Some(due) = due else { return Ok(LONGEST_SLEEP) };
        if let Ok(millis @ 1..) = u64::try_from(due - now) {
            return Ok(Duration::from_millis(millis).min(LONGEST_SLEEP));
        }
        let claim = ClaimDeliveries { boot: self.core.boot(), now, targets: self.room(&config) };
        let _claiming = self.core.claims.read().await;
        let claimed = self.core.ledger.claim_deliveries(claim).await?;
        // What is due without room, or for a target that the configuration no longer has, waits for the next look.
        let wait = if claimed.is_empty() { SHORT_SLEEP } else { Duration::ZERO };
        for delivery in claimed {
            self.send(&config, delivery);
        }
        Ok(wait)
    }

    fn room(&self, config: &Config) -> Vec<TargetRoom> {
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        config
            .targets
            .keys()
            .map(|name| TargetRoom {
                target: name.clone(),
                room: AT_ONCE.saturating_sub(under_way.get(name).copied().unwrap_or(0)),
            })
            .filter(|target| target.room > 0)
            .collect()
    }

    fn send(&self, config: &Config, delivery: ClaimedDelivery) {
        let Some(target) = config.targets.get(&delivery.target).cloned() else { return };
        let (core, client, under_way) = (Arc::clone(&self.core), self.client.clone(), Arc::clone(&self.under_way));
        count(&under_way, &target.name, 1);
        core.sending.begin(&delivery.id);
        self.sending.spawn(async move {
            let _watch = core.broken.watch();
            points::reach("delivery.claimed");
            let verdict = attempt::attempt(&core, &client, &target, &delivery).await;
            points::reach("delivery.sent");
            record(&core, &ended(&core, &target, &delivery, verdict), &target.name).await;
            points::reach("delivery.recorded");
            core.sending.end(&delivery.id);
            count(&under_way, &target.name, -1);
            core.deliveries_bell.notify_one();
        });
    }
}

fn count(under_way: &Mutex<HashMap<String, u32>>, target: &str, change: i32) {
    let mut under_way = under_way.lock().unwrap_or_else(PoisonError::into_inner);
    let count = under_way.entry(target.to_owned()).or_default();
    *count = count.saturating_add_signed(change);
}

/// What an attempt's verdict makes of its delivery.
fn ended(core: &Core, target: &Target, delivery: &ClaimedDelivery, verdict: Verdict) -> DeliveryEnd {
    let now = core.clock.now();
    let (state, error, due_at) = match verdict {
        Verdict::Delivered => (DeliveryState::Delivered, None, None),
        Verdict::Final(why) => (DeliveryState::Exhausted, Some(why), None),
        Verdict::Unknown(why) => (DeliveryState::Unknown, Some(why), None),
        Verdict::Later { why, .. } if delivery.spent >= target.max_attempts => {
            (DeliveryState::Exhausted, Some(why), None)
        }
        Verdict::Later { wait, why } => {
            let backoff = Backoff { first: target.retry_backoff, cap: targets::LONGEST_BACKOFF };
            let own = backoff.delay(delivery.spent, chance::jitter());
            (DeliveryState::Failed, Some(why), Some(after(now, asked_or(wait, own))))
        }
    };
    DeliveryEnd { id: delivery.id.clone(), boot: core.boot(), attempt: delivery.attempt, state, error, due_at, now }
}

/// What to do with an end that was not written. In another life the delivery has to be taken over first.
async fn fenced(core: &Core, fence: &mut Fence, boot: Boot, id: &str) -> Result<Fenced, ledger::Error> {
    let verdict = fence.ask(core, boot).await?;
    if matches!(verdict, Fenced::Again) && core.boot() != boot {
        core.ledger.adopt_delivery(id, core.boot()).await?;
    }
    Ok(verdict)
}

/// Offers an attempt's end to the ledger until it takes it or is closed.
pub(super) async fn record(core: &Core, end: &DeliveryEnd, target: &str) {
    let mut fence = Fence::default();
    // An offer came to no answer: it may be on record.
    let mut unsure = false;
    let written = || core.signals.delivery(target, end.state.as_str(), &end.id, end.error.as_deref());
    loop {
        let boot = core.boot();
        match core.ledger.finish_delivery(DeliveryEnd { boot, ..end.clone() }).await {
            Ok(true) => return written(),
            Ok(false) => match fenced(core, &mut fence, boot, &end.id).await {
                Ok(Fenced::Again) => continue,
                Ok(Fenced::Over) if unsure => match core.ledger.delivery(&end.id).await {
                    Ok(now) if (now.state, now.attempts) == (end.state, end.attempt) => return written(),
                    Ok(_) | Err(ledger::Error::Closed | ledger::Error::NotFound { .. }) => return,
                    Err(error) => core.signals.ledger_failed("record a delivery's result", &error),
                },
                Ok(Fenced::Over) | Err(ledger::Error::Closed) => return,
                Err(error) => core.signals.ledger_failed("record a delivery's result", &error),
            },
            Err(ledger::Error::Closed) => return,
            Err(error @ ledger::Error::Conflict(_)) => {
                return tracing::error!(delivery_id = end.id, %error, "the delivery's result cannot be recorded");
            }
            Err(error) => {
                unsure = true;
                core.signals.ledger_failed("record a delivery's result", &error);
            }
        }
        sleep(SHORT_SLEEP).await;
    }
}
