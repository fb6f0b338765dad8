use proptest::prelude::*;

use super::*;

const NOW: i64 = 784_111_777_000;

fn judge(reply: &Reply, resend: bool) -> Verdict {
    let step = Step::Log { line: String::new() };
    Judge { resend, now_ms: NOW, step: &step }.judge(reply)
}

fn answer(status: u16, body: &str) -> Verdict {
    judge(&Reply::Http { status, retry_after: None, body: body.into() }, false)
}

fn later(why: &str) -> Verdict {
    Verdict::Later { wait: None, why: why.to_owned() }
}

fn ended(end: End, stderr: &str) -> Verdict {
    judge(&Reply::Ended { end, stderr_end: stderr.to_owned() }, false)
}

#[test]
fn a_status_decides() {
    assert_eq!(answer(200, ""), Verdict::Delivered);
    assert_eq!(answer(204, ""), Verdict::Delivered);
    assert_eq!(answer(503, "{}"), later("HTTP 503"));
    assert_eq!(answer(404, "{\"message\":\"Not Found\"}"), Verdict::Final("HTTP 404: Not Found".into()));
    for status in [301, 302, 304, 307, 308] {
        let Verdict::Final(why) = answer(status, "moved") else { panic!("{status}") };
        assert!(why.contains("redirect") && why.contains(&status.to_string()), "{why}");
    }
}

#[test]
fn a_busy_receiver_says_how_long() {
    let busy = |status, header: &str| {
        let reply = Reply::Http { status, retry_after: Some(header.into()), body: Vec::new() };
        judge(&reply, false)
    };
    let wait = |verdict| match verdict {
        Verdict::Later { wait, .. } => wait,
        other => panic!("{other:?}"),
    };
    assert_eq!(wait(busy(429, "0.5")), Some(Duration::from_millis(500)));
    assert_eq!(wait(busy(503, "Sun, 06 Nov 1994 08:50:37 GMT")), Some(Duration::from_mins(1)));
    assert_eq!(wait(busy(429, "86400")), Some(Duration::from_hours(1)));
    assert_eq!(wait(busy(429, "soon")), None);
    assert_eq!(wait(answer(429, "")), None);
}

#[test]
fn the_receivers_words_are_one_short_line() {
    let why = |body: &str| match answer(422, body) {
        Verdict::Final(why) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why("{\"message\":\"because of\\nreasons\"}"), "HTTP 422: because of reasons");
    assert_eq!(why("{\"error\":{\"message\":\"inner\"}}"), "HTTP 422: inner");
    assert_eq!(why("plain\r\n\u{1b}[31m words"), "HTTP 422: plain [31m words");
    assert_eq!(why("\"a text\""), "HTTP 422: a text");
    for silent in ["", "{}", "[1]", " \n", "<!DOCTYPE html><html>…"] {
        assert_eq!(why(silent), "HTTP 422", "{silent}");
    }
    assert_eq!(why(&"ü".repeat(5_000)).chars().count(), "HTTP 422: ".len() + 200);
}

#[test]
fn an_answer_that_never_came_is_unknown_unless_resending_is_safe() {
    let silence = Reply::NoAnswer("timed out after 10s".into());
    let why = "sent, but no answer came: timed out after 10s";
    assert_eq!(judge(&silence, false), Verdict::Unknown(why.into()));
    assert_eq!(judge(&silence, true), later(why));
    for resend in [true, false] {
        assert_eq!(judge(&Reply::NotSent("refused".into()), resend), later("not sent: refused"));
    }
}

#[test]
fn writing_is_delivered_or_tried_again() {
    assert_eq!(judge(&Reply::Written, false), Verdict::Delivered);
    assert_eq!(judge(&Reply::WriteFailed("disk full".into()), false), later("could not write: disk full"));
}

#[test]
fn a_program_tells_by_its_exit_status() {
    assert_eq!(ended(End::Code(0), "noise"), Verdict::Delivered);
    assert_eq!(ended(End::Code(65), "no such room\n"), Verdict::Final("exit status 65: no such room".into()));
    assert_eq!(ended(End::Code(75), ""), later("exit status 75"));
    assert_eq!(ended(End::Code(1), "a\nb"), later("exit status 1: a b"));
    assert_eq!(ended(End::Signal(9), ""), later("ended by signal 9"));
    assert_eq!(ended(End::TimedOut(Duration::from_secs(10)), ""), later("timed out after 10s"));
    let Verdict::Final(why) = ended(End::Code(64), &format!("{}the end", "x".repeat(70_000))) else { panic!() };
    assert!(why.ends_with("the end") && why.len() < 230, "{why}");
}

proptest! {
    #[test]
    fn every_status_has_one_meaning(status: u16, body: Vec<u8>, retry_after: Option<String>, resend: bool) {
        let verdict = judge(&Reply::Http { status, retry_after, body }, resend);
        let right = match status {
            200..=299 => verdict == Verdict::Delivered,
            429 | 500..=599 => matches!(verdict, Verdict::Later { .. }),
            _ => matches!(verdict, Verdict::Final(_)),
        };
        prop_assert!(right, "{} is {:?}", status, verdict);
        if let Verdict::Later { why, .. } | Verdict::Final(why) = verdict {
            prop_assert!(why.contains(&status.to_string()) && why.chars().count() <= 220);
            prop_assert!(!why.contains(char::is_control));
        }
    }

    #[test]
    fn every_exit_status_has_one_meaning(code: i32, stderr: String) {
        let verdict = ended(End::Code(code), &stderr);
        let right = match code {
            0 => verdict == Verdict::Delivered,
            64..=74 | 76..=78 => matches!(verdict, Verdict::Final(_)),
            _ => matches!(verdict, Verdict::Later { wait: None, .. }),
        };
        prop_assert!(right, "{} is {:?}", code, verdict);
    }
}
