//! The suite that says what a ledger does. Each test is one promise and runs against every store.
//!
//! The directed tests name the promises one by one; `histories` runs thousands of random steps against each store and the
//! model side by side and compares every answer.

mod admit;
mod claim;
mod deliveries;
mod finish;
mod histories;
mod lines;
mod nodes;
mod paging;
mod recover;
mod repair;
mod routes;
mod scene;
mod texts;
mod time;

use scene::Subject;

/// Runs each test against each store.
macro_rules! suite {
    ($($area:ident { $($test:ident,)+ })+) => {
        mod model {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$area::$test(super::Subject::in_memory().await).await;
            })+)+
        }
        mod sqlite {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$area::$test(super::Subject::on_disk().await).await;
            })+)+
        }
        mod postgres {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$area::$test(super::Subject::on_server().await).await;
            })+)+
        }
    };
}

suite! {
    admit {
        an_unfinished_event_makes_a_duplicate,
        parallel_copies_make_one_event,
        a_success_makes_a_duplicate_for_its_window,
        what_was_exhausted_is_new_work,
        what_was_cancelled_makes_a_duplicate,
        keys_are_those_of_a_route,
        the_rate_limit_tells_when_to_come_again,
        only_what_is_admitted_spends_a_token,
        a_paused_route_holds_what_comes,
        ignored_events_occupy_no_key,
        ignored_events_are_capped,
        a_request_comes_back_as_it_was,
        a_taken_id_leaves_nothing,
    }
    claim {
        priority_goes_first_then_arrival,
        rooms_bound_a_claim,
        a_route_named_twice_offers_its_events_once,
        a_due_time_is_waited_for,
        many_due_at_once_all_run,
        parallel_claims_take_each_event_once,
        a_taken_run_id_leaves_the_event,
        the_prompt_is_kept_for_the_life_that_runs,
        what_is_claimed_says_what_it_is,
    }
    lines {
        a_line_runs_in_order,
        lines_do_not_wait_for_each_other,
        a_waiting_retry_holds_its_line,
        a_due_time_holds_its_line,
        an_older_event_that_comes_back_goes_before_what_is_ready,
        an_older_event_that_comes_back_waits_for_the_one_that_runs,
        cancelling_the_head_frees_the_next,
        parallel_claims_never_run_two_of_a_line,
        pausing_stops_a_line_and_resuming_starts_it_in_order,
        a_paused_line_keeps_its_due_times,
    }
    finish {
        a_success_creates_its_deliveries_in_the_same_step,
        the_record_shows_what_happened,
        only_the_run_in_flight_is_ended,
        a_late_result_of_an_earlier_life_is_refused,
        a_later_life_ends_what_an_earlier_one_left,
        an_interruption_on_a_paused_route_is_held,
        a_retry_on_a_paused_route_is_held_when_due,
        a_run_of_a_route_that_has_gone_leaves_its_event_held,
        a_taken_delivery_id_takes_the_whole_end_back,
        an_event_queued_for_a_time_waits_for_it,
        impossible_ends_are_refused,
        the_standing_goes_from_run_to_run,
    }
    deliveries {
        a_claim_marks_what_is_sent,
        the_longest_due_goes_first_within_the_room,
        a_failed_delivery_waits_for_its_time,
        an_end_is_fenced,
        what_an_earlier_life_was_sending_is_taken_over,
        people_may_have_it_sent_again,
        what_cannot_be_sent_is_never_claimed,
        impossible_states_are_refused,
    }
    recover {
        lives_are_numbered,
        orphans_are_found,
        everything_survives_a_restart,
        a_probe_changes_nothing,
        a_closed_ledger_says_so,
    }
    nodes {
        a_life_that_is_over_takes_and_writes_nothing,
        a_life_that_ends_itself_leaves_what_it_had,
        a_dead_life_has_one_heir,
        a_life_that_goes_on_keeps_its_own,
        a_life_finds_what_it_has_under_way,
        nodes_are_listed_while_they_matter,
        a_limit_for_all_nodes_counts_every_run_in_flight,
    }
    routes {
        pausing_holds_and_resuming_frees,
        a_route_that_has_gone_holds_its_events,
        a_retry_that_waits_keeps_its_time_while_its_route_is_gone,
        a_paused_route_that_has_gone_stays_held_until_both_are_over,
        before_the_routes_are_told_none_is_missing,
    }
    repair {
        what_waits_can_be_cancelled,
        what_ended_badly_can_be_retried,
        a_retry_on_a_paused_route_is_held,
        what_another_does_or_has_done_is_not_retried,
        a_retry_takes_its_key_back,
        a_retry_cares_for_its_own_key_only,
        pruning_takes_the_longest_ended_first,
        pruning_spares_what_is_still_to_be_sent,
        pruning_lets_go_of_keys_but_not_of_newer_ones,
    }
    time {
        the_time_that_was_noted_is_answered,
        what_waits_does_not_wait_for_a_clock_that_was_set_back,
        a_delivery_does_not_wait_for_a_clock_that_was_set_back,
        a_clock_that_goes_forward_moves_nothing,
    }
    texts {
        a_nul_character_is_a_character,
        bytes_that_are_no_text_come_back,
    }
    paging {
        pages_are_stable_while_events_come,
        events_are_filtered,
        since_is_exact_in_spite_of_some_disorder,
        runs_are_filtered,
        deliveries_are_filtered,
        unknown_cursors_are_refused,
        limits_have_ends,
        long_texts_are_cut_in_listings_only,
        unknown_ids_are_named,
        the_counters_are_those_of_the_listing,
        what_waits_for_a_time_is_not_the_oldest_that_waits,
    }
}
