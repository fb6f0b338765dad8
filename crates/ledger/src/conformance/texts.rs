//! Texts that senders and agents make, of any characters.

use rules::states::EventState;

use super::scene::{Subject, T0, done, duplicate, event, keyed, message, stored};
use crate::{EventQuery, Finished, NewEvent, StoredRequest};

/// A text as senders must find it again: a store that has no NUL in its texts shows the character's picture.
fn seen(text: &str) -> String {
    text.replace('\u{2400}', "\0")
}

pub(super) async fn a_nul_character_is_a_character(mut on: Subject) {
    let odd = |id: &str| NewEvent {
        event_type: "push\0now".into(),
        delivery_id: "d\0\u{202e}\u{fffd}".into(),
        line: Some("l\0".into()),
        request: StoredRequest { headers: vec![("x-odd".into(), "a\0b\u{7f}".into())], body: b"\0{\0}".to_vec() },
        ..event(id, "r")
    };
    assert_eq!(on.admit(keyed(odd("ev_1"), "k\0")).await.unwrap(), stored(EventState::Queued));
    assert_eq!(on.admit(keyed(odd("ev_2"), "k\0")).await.unwrap(), duplicate("ev_1"), "a key is found again");
    assert_eq!(on.admit(keyed(odd("ev_3"), "k")).await.unwrap(), stored(EventState::Queued), "and is no other one");
    let answers = tokio::join!(on.admit(keyed(odd("ev_4"), "new\0")), on.admit(keyed(odd("ev_5"), "new\0")));
    let new = [answers.0.unwrap(), answers.1.unwrap()].iter().filter(|a| **a == stored(EventState::Queued)).count();
    assert_eq!(new, 1, "also of two that come at the same time");
    on.reopen().await;
    let request = on.request("ev_1").await.unwrap();
    assert_eq!(request, odd("ev_1").request);
    let shown = on.event("ev_1").await.unwrap();
    assert_eq!((seen(&shown.event), seen(&shown.delivery_id)), (odd("ev_1").event_type, odd("ev_1").delivery_id));
    let query = EventQuery { delivery_id: Some(odd("").delivery_id), limit: 9, ..EventQuery::default() };
    assert_eq!(on.events(query).await.unwrap().items.len(), 3, "found by what the sender calls it");
    // One line: one at a time.
    let run = on.claim_one(T0).await;
    assert_eq!((run.event_id.as_str(), seen(&run.event_type).as_str()), ("ev_1", "push\0now"));
    assert!(on.record_prompt(&run.run_id, on.boot, "say \0").await.unwrap());
    let mut finish = on.finish(&run, T0, done());
    finish.record.answer = Some("an\0swer".into());
    finish.record.error = Some("er\0ror".into());
    finish.record.stderr = "std\0err".into();
    finish.record.usage = Some(serde_json::json!({"a\0": "\0"}));
    finish.deliveries = vec![message("dlv_1")];
    finish.deliveries[0].extra.insert("to\0".into(), "\0".into());
    assert_eq!(on.finish_run(finish.clone()).await.unwrap(), Finished::Written);
    let ended = on.run(&run.run_id).await.unwrap();
    assert_eq!((ended.prompt.as_deref(), &ended.answer), (Some("say \0"), &finish.record.answer));
    assert_eq!((&ended.usage, ended.error.as_deref().map(seen)), (&finish.record.usage, finish.record.error));
    let sent = on.take(T0, 1).await.remove(0);
    assert_eq!((sent.content.as_str(), &sent.extra), ("an\0swer", &finish.deliveries[0].extra));
    assert_eq!(on.claim_one(T0).await.event_id, "ev_3", "its line goes on");
}

pub(super) async fn bytes_that_are_no_text_come_back(mut on: Subject) {
    let bodies: Vec<Vec<u8>> = vec![vec![0], vec![0xff; 3000], b"\xed\xa0\x80".to_vec(), (0..=255).collect()];
    for (number, body) in bodies.iter().enumerate() {
        let request = StoredRequest { headers: Vec::new(), body: body.clone() };
        on.put(NewEvent { request, ..event(&format!("ev_{number}"), "r") }).await;
    }
    on.reopen().await;
    for (number, body) in bodies.iter().enumerate() {
        assert_eq!(&on.request(&format!("ev_{number}")).await.unwrap().body, body);
    }
}
