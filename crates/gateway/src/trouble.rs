//! Trouble with the ledger: said when it begins and when it is over, not each time that somebody meets it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ledger::Error;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::Core;

/// How often a ledger in trouble is asked whether it is over.
const ASK: Duration = Duration::from_secs(1);
/// Trouble is over when it has not been met for so long: one that comes and goes is one trouble.
const CALM: Duration = Duration::from_secs(2);
/// Faults of one trouble that are said; a disk that invents a new one each time is heard no longer.
const MOST_SAID: usize = 5;

/// The fault of a database that cannot be reached.
const AWAY: &str = "away";

/// Whether there is trouble.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    spell: Mutex<Option<Spell>>,
    begun: Notify,
}

#[derive(Debug)]
struct Spell {
    began: Instant,
    last: Instant,
    met: u64,
    said: HashSet<String>,
}

impl Trouble {
    /// Somebody was refused by the ledger, and may come again. Answers whether this is to be said.
    pub(crate) fn met(&self, error: &Error) -> bool {
        let now = Instant::now();
        let mut spell = self.spell.lock().unwrap_or_else(PoisonError::into_inner);
        let spell = spell.get_or_insert_with(|| {
            self.begun.notify_one();
            Spell { began: now, last: now, met: 0, said: HashSet::new() }
        });
        (spell.last, spell.met) = (now, spell.met + 1);
        // Who waits for a database that is away fills every queue before it.
        let follows = matches!(error, Error::Busy) && spell.said.contains(AWAY);
        !follows && spell.said.len() < MOST_SAID && spell.said.insert(fault(error))
    }

    /// The ledger works: ends the trouble when it has not been met lately. Answers how long it was and how often it was met.
    fn end(&self) -> Option<(Duration, u64)> {
        let mut spell = self.spell.lock().unwrap_or_else(PoisonError::into_inner);
        let over = spell.take_if(|spell| spell.last.elapsed() >= CALM)?;
        Some((over.began.elapsed(), over.met))
    }

    fn lasts(&self) -> bool {
        self.spell.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// What makes an error another one: the free bytes of a full disk do not.
fn fault(error: &Error) -> String {
    match error {
        Error::DiskLow { .. } => "disk low".to_owned(),
        Error::Damaged(_) => "damaged".to_owned(),
        Error::Away(_) => AWAY.to_owned(),
        other => other.to_string(),
    }
}

/// What trouble with the ledger means for those who wait for it, and what a person can do about it.
pub(crate) fn meaning(error: &Error) -> &'static str {
    match error {
        Error::DiskLow { .. } => {
            "webhooks are answered 503 until that is over: make room on the disk, or lower store.min_free"
        }
        Error::Damaged(_) => "webhooks are answered 503 and no runs are started",
        Error::Away(_) => "webhooks are answered 503 and results are kept in memory until it can be reached again",
        Error::Busy => "some webhooks are answered 503: the disk is too slow for what comes",
        _ => "webhooks are answered 503 and results are kept in memory until it can be written again",
    }
}

/// Asks a ledger in trouble until it works again, then says so and wakes who waits for it; until `shutdown`.
pub async fn watch(core: Arc<Core>, shutdown: CancellationToken) {
    loop {
        let trouble = core.signals.trouble();
        let next = async {
            if trouble.lasts() {
                sleep(ASK).await;
            } else {
                trouble.begun.notified().await;
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = next => {}
        }
        if trouble.lasts()
            && core.ledger.probe().await.is_ok()
            && let Some((lasted, met)) = trouble.end()
        {
            tracing::warn!(lasted_s = lasted.as_secs(), met, "the ledger can be written again");
            core.lease_bell.notify_one();
            core.ring_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_of_one_trouble_is_said_once() {
        let trouble = Trouble::default();
        let low = |free| Error::DiskLow { free, wanted: 100 };
        assert!(trouble.met(&low(1)));
        assert!(!trouble.met(&low(2)), "other figures are no other fault");
        assert!(trouble.met(&Error::Busy));
        assert!(!trouble.met(&Error::Busy));
        for number in 0..100 {
            let _ = trouble.met(&Error::Unavailable(number.to_string()));
        }
        assert!(!trouble.met(&Error::Unavailable("one more".into())), "there is an end to it");
        assert!(trouble.end().is_none(), "it was met just now");
    }

    #[test]
    fn a_queue_before_a_database_that_is_away_is_no_fault_of_its_own() {
        let trouble = Trouble::default();
        assert!(trouble.met(&Error::Away("no answer".into())));
        assert!(!trouble.met(&Error::Away("connection refused".into())), "however it shows");
        assert!(!trouble.met(&Error::Busy));
        assert!(trouble.met(&Error::Unavailable("no such right".into())));
    }
}
