//! What may happen. Things are named by small numbers that the player turns into ids.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rules::states::{DeliveryState, EventState};

/// Routes `r0` to `r2`.
pub(super) const ROUTES: u8 = 3;

/// One step.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Admit {
        event: New,
        key: Option<u8>,
        window: u16,
        rate: u8,
    },
    /// What ended without success comes once more.
    AdmitAgain {
        event: New,
        of: u8,
        window: u16,
    },
    Ignore {
        event: New,
    },
    Claim {
        routes: Vec<(u8, u8)>,
        agents: [u8; 2],
        together: Option<u8>,
        most: u8,
        life: Life,
    },
    Prompt {
        run: u8,
        life: Life,
    },
    Finish {
        run: u8,
        life: Life,
        wrong_attempt: bool,
        next: EventState,
        due_in: Option<u16>,
        deliveries: Vec<u8>,
        clash: bool,
    },
    ClaimDeliveries {
        rooms: [u8; 2],
        life: Life,
    },
    FinishDelivery {
        delivery: u8,
        life: Life,
        wrong_attempt: bool,
        state: DeliveryState,
        due_in: Option<u16>,
    },
    Adopt {
        delivery: u8,
    },
    Pause {
        route: u8,
    },
    Resume {
        route: u8,
    },
    Reconcile {
        known: Vec<u8>,
    },
    Cancel {
        event: u8,
    },
    Retry {
        event: u8,
    },
    /// Of one that ended without success.
    RetryEnded {
        event: u8,
    },
    RetryDelivery {
        delivery: u8,
    },
    Prune {
        state: EventState,
        age: u16,
        limit: u8,
    },
    Wait {
        seconds: u16,
    },
    KeepTime {
        back: Option<i16>,
    },
    NextLife,
    Inherit {
        dead: Life,
    },
    EndLife {
        life: Life,
    },
    Renew {
        life: Life,
    },
    Reopen,
    Look,
}

/// Whose life a step is said to belong to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Life {
    Current,
    Earlier,
    Later,
}

/// An event.
#[derive(Debug, Clone)]
pub(super) struct New {
    pub(super) route: u8,
    pub(super) line: Option<u8>,
    pub(super) priority: i8,
    pub(super) due_in: Option<u16>,
    /// Seconds between its arrival and its admission.
    pub(super) slow: u8,
    /// The id of an event that is there already.
    pub(super) clash: bool,
}

/// A history.
pub(super) fn history() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..120)
}

fn life() -> impl Strategy<Value = Life> {
    prop_oneof![10 => Just(Life::Current), 1 => Just(Life::Earlier), 1 => Just(Life::Later)]
}

fn rarely() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.05)
}

fn new() -> impl Strategy<Value = New> {
    (
        0..ROUTES,
        prop::option::weighted(0.7, 0..2_u8),
        -1..2_i8,
        prop::option::weighted(0.2, 0..120_u16),
        0..30_u8,
        prop::bool::weighted(0.02),
    )
        .prop_map(|(route, line, priority, due_in, slow, clash)| New {
            route,
            line,
            priority,
            due_in,
            slow,
            clash,
        })
}

fn rooms() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop_oneof![
        3 => Just((0..ROUTES).map(|route| (route, 9)).collect::<Vec<_>>()),
        1 => vec((0..ROUTES, 0..3_u8), 0..4),
    ]
}

fn finish() -> impl Strategy<Value = Step> {
    let next = prop_oneof![
        6 => Just(EventState::Succeeded),
        6 => Just(EventState::Failed),
        3 => Just(EventState::Queued),
        4 => Just(EventState::Exhausted),
        1 => Just(EventState::Cancelled),
        1 => prop::sample::select(EventState::ALL.to_vec()),
    ];
    let due_in = prop::option::weighted(0.7, 0..90_u16);
    (any::<u8>(), life(), rarely(), next, due_in, vec(0..6_u8, 0..3), rarely()).prop_map(
        |(run, life, wrong_attempt, next, due_in, deliveries, clash)| Step::Finish {
            run,
            life,
            wrong_attempt,
            next,
            due_in,
            deliveries,
            clash,
        },
    )
}

fn finish_delivery() -> impl Strategy<Value = Step> {
    let state = prop::sample::select(DeliveryState::ALL.to_vec());
    let due_in = prop::option::weighted(0.7, 0..90_u16);
    (any::<u8>(), life(), rarely(), state, due_in).prop_map(|(delivery, life, wrong_attempt, state, due_in)| {
        Step::FinishDelivery { delivery, life, wrong_attempt, state, due_in }
    })
}

/// Seconds that a copy is a duplicate after the end. Few keys and often none of these: keys change hands.
fn window() -> impl Strategy<Value = u16> {
    prop_oneof![Just(0), 0..200_u16]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (new(), prop::option::weighted(0.7, 0..2_u8), window(), 0..8_u8)
            .prop_map(|(event, key, window, rate)| Step::Admit { event, key, window, rate }),
        4 => (new(), any::<u8>(), window()).prop_map(|(event, of, window)| Step::AdmitAgain { event, of, window }),
        1 => new().prop_map(|event| Step::Ignore { event }),
        12 => (rooms(), [0..4_u8, 0..4_u8], prop::option::weighted(0.2, 0..3_u8), 0..5_u8, life())
            .prop_map(|(routes, agents, together, most, life)| Step::Claim { routes, agents, together, most, life }),
        1 => (any::<u8>(), life()).prop_map(|(run, life)| Step::Prompt { run, life }),
        12 => finish(),
        5 => ([0..3_u8, 0..3_u8], life()).prop_map(|(rooms, life)| Step::ClaimDeliveries { rooms, life }),
        6 => finish_delivery(),
        1 => any::<u8>().prop_map(|delivery| Step::Adopt { delivery }),
        3 => (0..ROUTES).prop_map(|route| Step::Pause { route }),
        4 => (0..ROUTES).prop_map(|route| Step::Resume { route }),
        1 => vec(0..ROUTES, 0..4).prop_map(|known| Step::Reconcile { known }),
        1 => Just(Step::Reconcile { known: (0..ROUTES).collect() }),
        4 => any::<u8>().prop_map(|event| Step::Cancel { event }),
        4 => any::<u8>().prop_map(|event| Step::Retry { event }),
        6 => any::<u8>().prop_map(|event| Step::RetryEnded { event }),
        2 => any::<u8>().prop_map(|delivery| Step::RetryDelivery { delivery }),
        1 => (select(EventState::ALL), 0..200_u16, 0..5_u8).prop_map(|(state, age, limit)| Step::Prune { state, age, limit }),
        6 => (0..60_u16).prop_map(|seconds| Step::Wait { seconds }),
        1 => prop::option::of(-60..60_i16).prop_map(|back| Step::KeepTime { back }),
        3 => Just(Step::NextLife),
        1 => life().prop_map(|dead| Step::Inherit { dead }),
        1 => life().prop_map(|life| Step::EndLife { life }),
        1 => life().prop_map(|life| Step::Renew { life }),
        1 => Just(Step::Reopen),
        2 => Just(Step::Look),
    ]
}
