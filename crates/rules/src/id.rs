//! The ids that Doorbell gives: a prefix that tells what it is, then the part that makes it unique.

/// Before the id of an event.
pub const EVENT: &str = "ev_";
/// Before the id of a run.
pub const RUN: &str = "run_";
/// Before the id of a delivery.
pub const DELIVERY: &str = "dlv_";
/// Before the id of an outbound message.
pub const MESSAGE: &str = "out_";
/// Before the ids that Hookdeck and Stripe give to their events; never one of ours.
const FOREIGN: &str = "evt_";

/// What an id belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `ev_…`: an accepted request.
    Event,
    /// `run_…`: one execution of an agent.
    Run,
    /// `dlv_…`: one message on its way to a target.
    Delivery,
    /// `out_…`: a message of an outbound hook.
    Message,
    /// `evt_…`: an event of Hookdeck or Stripe, by their own id.
    Foreign,
}

impl Kind {
    /// The prefix of such an id, with its underscore.
    pub fn prefix(self) -> &'static str {
        match self {
            Kind::Event => EVENT,
            Kind::Run => RUN,
            Kind::Delivery => DELIVERY,
            Kind::Message => MESSAGE,
            Kind::Foreign => FOREIGN,
        }
    }

    /// The word for such a thing, as in "an id of …".
    fn noun(self) -> &'static str {
        match self {
            Kind::Event => "an event",
            Kind::Run => "a run",
            Kind::Delivery => "a delivery",
            Kind::Message => "an outbound message",
            Kind::Foreign => "an event at Hookdeck or Stripe",
        }
    }
}

/// What `id` belongs to, by its prefix; `None` when it is no id that Doorbell knows.
pub fn kind_of(id: &str) -> Option<Kind> {
    [Kind::Event, Kind::Run, Kind::Delivery, Kind::Message, Kind::Foreign]
        .into_iter()
        .find(|kind| id.strip_prefix(kind.prefix()).is_some_and(|rest| !rest.is_empty()))
}

/// What to tell somebody who gave `id` where an id of `wanted` belongs; `None` when the id is of that kind.
pub fn wrong_kind(id: &str, wanted: Kind) -> Option<String> {
    let prefix = wanted.prefix();
    match kind_of(id) {
        Some(kind) if kind == wanted => None,
        Some(Kind::Foreign) => Some(format!(
            "`{id}` is the sender's id (Hookdeck's and Stripe's begin with `{FOREIGN}`), and the id of {} begins with \
             `{prefix}`; `doorbell events list --delivery-id {id}` shows the event it arrived as",
            wanted.noun()
        )),
        Some(kind) => {
            Some(format!("`{id}` is the id of {}; the id of {} begins with `{prefix}`", kind.noun(), wanted.noun()))
        }
        None => Some(format!("`{id}` is no id of {}: such an id begins with `{prefix}`", wanted.noun())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_tells_the_kind() {
        assert_eq!(kind_of("ev_0198"), Some(Kind::Event));
        assert_eq!(kind_of("evt_0198"), Some(Kind::Foreign));
        assert_eq!(kind_of("run_1"), Some(Kind::Run));
        assert_eq!(kind_of("dlv_1"), Some(Kind::Delivery));
        assert_eq!(kind_of("out_1"), Some(Kind::Message));
        for none in ["", "ev_", "ev", "EV_1", "req_1", "41"] {
            assert_eq!(kind_of(none), None, "{none}");
        }
    }

    #[test]
    fn a_wrong_id_is_explained() {
        assert_eq!(wrong_kind("ev_1", Kind::Event), None);
        let hint = wrong_kind("evt_1", Kind::Event).unwrap();
        assert!(hint.contains("Hookdeck") && hint.contains("--delivery-id evt_1") && hint.contains("`ev_`"), "{hint}");
        assert!(wrong_kind("run_1", Kind::Event).unwrap().contains("a run"));
        assert!(wrong_kind("41", Kind::Delivery).unwrap().contains("`dlv_`"));
    }
}
