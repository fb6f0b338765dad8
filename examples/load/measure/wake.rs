//! Wake-up: from the sender's 202 to the first instruction of the agent.

use std::path::Path;
use std::time::Duration;

use crate::drive::Drive;
use crate::figures::Figures;
use crate::gateway::{Gateway, SECRET, stamps, until};
use crate::request::Shape;
use crate::stub::now;

/// One event after the other, the next one when the agent of the one before was woken.
pub(crate) fn measure(gateway: &Gateway, times: usize) -> Figures {
    let shape = Shape::github("wake", SECRET, 512);
    let took = (0..times)
        .map(|number| {
            let id = format!("{}-{number}", uuid::Uuid::now_v7().simple());
            let began = now();
            let outcome =
                Drive::to(gateway.public).run(vec![vec![shape.make(&id, number)]]).all_accepted("the gateway");
            // Without the time that it took to connect, so that the figure is rather too large than too small.
            let acknowledged = began + outcome.took;
            read_stamp(&stamps(&gateway.home).join(id)).saturating_sub(acknowledged)
        })
        .collect();
    Figures::new(took)
}

fn read_stamp(file: &Path) -> Duration {
    let text = until("an agent is woken", Duration::from_millis(1), || std::fs::read_to_string(file).ok());
    Duration::from_nanos(text.parse().expect("nanoseconds"))
}
