//! Reading for people and programs.

use std::collections::BTreeMap;

use rules::states::{EventState, RunState};

use super::data::{Data, missing};
use crate::api::views::{LARGEST_PAGE, listed};
use crate::{Delivery, DeliveryQuery, Due, Error, Event, EventQuery, Page, Run, RunQuery, Status};

/// Whether a filter lets a value through; one that was not given does.
fn fits<T: PartialEq>(filter: Option<&T>, value: &T) -> bool {
    filter.is_none_or(|wanted| wanted == value)
}

/// The page that begins below the row of the cursor. `rows` come with their numbers, oldest first.
fn page<T>(
    rows: impl DoubleEndedIterator<Item = (u64, T)>,
    limit: u32,
    cursor: Option<&str>,
) -> Result<Page<T>, Error> {
    let before: u64 = match cursor {
        Some(text) => text.strip_prefix("row").and_then(|n| n.parse().ok()).ok_or(Error::BadCursor)?,
        None => u64::MAX,
    };
    let limit = usize::try_from(limit.clamp(1, LARGEST_PAGE)).unwrap_or(usize::MAX);
    let mut below = rows.rev().filter(|(seq, _)| *seq < before).peekable();
    let mut items = Vec::new();
    let mut last = 0;
    while items.len() < limit
        && let Some((seq, item)) = below.next()
    {
        last = seq;
        items.push(item);
    }
    Ok(Page { items, next: below.peek().map(|_| format!("row{last}")) })
}

fn shortened_run(run: &Run) -> Run {
    let run = run.clone();
    Run { prompt: listed(run.prompt), answer: listed(run.answer), stderr: listed(run.stderr), ..run }
}

fn shortened_delivery(delivery: &Delivery) -> Delivery {
    let delivery = delivery.clone();
    Delivery { content: listed(delivery.content), ..delivery }
}

impl Data {
    pub(super) fn show_event(&self, id: &str) -> Result<Event, Error> {
        self.event(id).map(|row| row.shown.clone())
    }

    pub(super) fn list_events(&self, query: &EventQuery) -> Result<Page<Event>, Error> {
        let wanted = |e: &Event| {
            fits(query.route.as_ref(), &e.route)
                && fits(query.state.as_ref(), &e.state)
                && fits(query.delivery_id.as_ref(), &e.delivery_id)
                && query.since.is_none_or(|since| e.received_at >= since)
        };
        let rows = self.events.iter().filter(|row| wanted(&row.shown)).map(|row| (row.seq, row.shown.clone()));
        page(rows, query.limit, query.cursor.as_deref())
    }

    pub(super) fn show_run(&self, id: &str) -> Result<Run, Error> {
        let row = self.runs.iter().find(|r| r.shown.id == id).ok_or_else(|| missing("run", id))?;
        Ok(row.shown.clone())
    }

    pub(super) fn list_runs(&self, query: &RunQuery) -> Result<Page<Run>, Error> {
        let wanted = |r: &Run| {
            fits(query.event_id.as_ref(), &r.event_id)
                && fits(query.route.as_ref(), &r.route)
                && fits(query.state.as_ref(), &r.state)
        };
        let rows = self.runs.iter().filter(|row| wanted(&row.shown)).map(|row| (row.seq, shortened_run(&row.shown)));
        page(rows, query.limit, query.cursor.as_deref())
    }

    pub(super) fn show_delivery(&self, id: &str) -> Result<Delivery, Error> {
        let row = self.deliveries.iter().find(|d| d.shown.id == id).ok_or_else(|| missing("delivery", id))?;
        Ok(row.shown.clone())
    }

    pub(super) fn list_deliveries(&self, query: &DeliveryQuery) -> Result<Page<Delivery>, Error> {
        let wanted = |d: &Delivery| fits(query.event_id.as_ref(), &d.event_id) && fits(query.state.as_ref(), &d.state);
        let rows = self.deliveries.iter().filter(|row| wanted(&row.shown));
        page(rows.map(|row| (row.seq, shortened_delivery(&row.shown))), query.limit, query.cursor.as_deref())
    }

    pub(super) fn status(&self) -> Status {
        let mut status =
            Status { events: BTreeMap::new(), paused: self.paused.iter().cloned().collect(), ..Status::default() };
        for event in &self.events {
            *status.events.entry(event.shown.state).or_default() += 1;
        }
        for delivery in &self.deliveries {
            *status.deliveries.entry(delivery.shown.state).or_default() += 1;
        }
        let running = self.runs.iter().filter(|r| r.shown.state == RunState::Running).count();
        status.running = u64::try_from(running).unwrap_or(u64::MAX);
        let queued = self.events.iter().find(|e| e.shown.state == EventState::Queued && e.shown.due_at.is_none());
        status.oldest_waiting = queued.map(|e| e.shown.received_at);
        status
    }

    pub(super) fn due(&self) -> Due {
        Due {
            event: self.events.iter().filter_map(|e| e.shown.due_at).min(),
            delivery: self.deliveries.iter().filter_map(|d| d.shown.due_at).min(),
        }
    }
}
