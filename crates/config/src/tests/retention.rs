use std::time::Duration;

use super::*;

const DAY: Duration = Duration::from_hours(24);

fn kept(store: &str) -> [u32; 4] {
    let kept = read(store).store.retention;
    [kept.succeeded, kept.exhausted, kept.cancelled, kept.ignored]
        .map(|kept| u32::try_from(kept.as_secs() / DAY.as_secs()).unwrap())
}

#[test]
fn one_length_for_all_or_one_a_state() {
    assert_eq!(kept("{}"), [30, 30, 30, 3]);
    assert_eq!(kept("store: {retention: 7d}"), [7, 7, 7, 3]);
    assert_eq!(kept("store: {retention: 86400}"), [1, 1, 1, 1], "ignored ones never longer than the others");
    assert_eq!(kept("store: {retention: {exhausted: 90d, ignored: 1d}}"), [30, 90, 30, 1]);
}

#[test]
fn what_cannot_be_meant_is_said_with_its_place() {
    for (store, line) in [
        (
            "store: {retention: {done: 1d}}",
            "store.retention.done: unknown key (config.yaml:1:21); known here: succeeded, exhausted, cancelled, ignored",
        ),
        (
            "store: {retention: {ignored: soon}}",
            "store.retention.ignored: `soon` is not a duration: write 500ms, 30s, 5m, 2h, 7d, or a number of seconds (config.yaml:1:30)",
        ),
        (
            "store: {retention: {succeeded: 0}}",
            "store.retention: succeeded events would be removed as they end (config.yaml:1:9); keep them for an hour or more",
        ),
    ] {
        assert_eq!(wrong(store), [line]);
    }
}

#[test]
fn a_window_of_duplicates_must_not_outlast_what_is_kept() {
    let file = |window: &str, kept: &str| {
        format!(
            "store: {{retention: {kept}}}\nagents: {{default: {{preset: command, command: [cat]}}}}\n\
             routes:\n  r: {{secret: a-secret-of-length, dedupe_window: {window}}}\n"
        )
    };
    read(&file("7d", "7d"));
    let lines = wrong(&file("8d", "7d"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("routes.r.dedupe_window: longer than store.retention keeps events"), "{lines:?}");
}
