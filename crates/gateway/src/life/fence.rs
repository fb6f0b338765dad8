//! A result that was not written, since the ledger says that the life which offered it is over.

use std::time::Duration;

use ledger::{Boot, Error, Renewal};
use tokio::time::timeout;

use crate::Core;

/// How long to wait for another life to begin.
const PATIENCE: Duration = Duration::from_secs(30);

/// What to do with the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Offer it once more.
    Again,
    /// Somebody else has ended it.
    Over,
}

/// Judges refusals of one result. A lease that ran out while the ledger was away is taken up again as long as nobody has
/// taken anything over; and what nobody has taken over yet of a life that was lost can be ended by the next one.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// The life that was found to live before it was refused again.
    asked: Option<Boot>,
}

impl Fence {
    /// Asks whether `boot`, which was refused, is over.
    pub(crate) async fn ask(&mut self, core: &Core, boot: Boot) -> Result<Verdict, Error> {
        if self.asked == Some(boot) {
            return Ok(Verdict::Over);
        }
        let mut boots = core.boots();
        if matches!(core.ledger.renew(boot).await?, Renewal::Kept { .. }) {
            self.asked = Some(boot);
            return Ok(Verdict::Again);
        }
        core.lease_bell.notify_one();
        let another = timeout(PATIENCE, boots.wait_for(|now| *now != boot)).await;
        Ok(if matches!(another, Ok(Ok(_))) { Verdict::Again } else { Verdict::Over })
    }
}
