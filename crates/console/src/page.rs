//! The overview page: how it stands, on one page that reads well on a phone, and changes nothing.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use ledger::api::views::rfc3339;
use ledger::{Delivery, DeliveryQuery, Event, EventQuery, Millis};
use rules::states::{DeliveryState, EventState};

use crate::api::{RouteView, route_views};
use crate::desk::Desk;
use crate::problem::Problem;
use crate::sign_in;

/// Events that the page shows.
const EVENTS: u32 = 20;
/// Deliveries in trouble that the page shows.
const DELIVERIES: u32 = 10;
/// States of a delivery that somebody should look at.
const TROUBLE: [DeliveryState; 3] = [DeliveryState::Failed, DeliveryState::Exhausted, DeliveryState::Unknown];

pub(crate) fn router() -> Router<Arc<Desk>> {
    Router::new().route("/", get(show)).route("/style.css", get(style))
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("../templates/style.css")).into_response()
}

/// A page of a template.
pub(crate) fn html(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            Problem::internal().into_response()
        }
    }
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    version: &'static str,
    node: String,
    events: Vec<(EventState, u64)>,
    deliveries: Vec<(DeliveryState, u64)>,
    running: u64,
    longest_wait: Option<String>,
    routes: Vec<RouteView>,
    newest: Vec<(Event, When)>,
    trouble: Vec<(Delivery, When)>,
    may_sign_out: bool,
}

#[derive(Template)]
#[template(path = "trouble.html")]
struct Trouble<'a> {
    title: &'a str,
    detail: &'a str,
}

async fn show(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Response {
    if !desk.keeper.has_entered(&headers) {
        return sign_in::form(StatusCode::OK, None);
    }
    match overview(&desk).await {
        Ok(page) => html(StatusCode::OK, &page),
        Err(error) => {
            let problem = Problem::from(error);
            html(problem.status(), &Trouble { title: problem.kind.title(), detail: &problem.detail })
        }
    }
}

async fn overview(desk: &Desk) -> Result<Overview, ledger::Error> {
    let ledger = &desk.core.ledger;
    let status = ledger.status().await?;
    let newest = ledger.events(EventQuery { limit: EVENTS, ..EventQuery::default() }).await?.items;
    let mut trouble = Vec::new();
    for state in TROUBLE {
        let query = DeliveryQuery { state: Some(state), limit: DELIVERIES, ..DeliveryQuery::default() };
        trouble.extend(ledger.deliveries(query).await?.items);
    }
    trouble.sort_by_key(|delivery| std::cmp::Reverse(delivery.created_at));
    trouble.truncate(DELIVERIES as usize);
    let now = desk.core.clock.now();
    Ok(Overview {
        version: env!("CARGO_PKG_VERSION"),
        node: desk.node.clone(),
        events: EventState::ALL.iter().map(|s| (*s, status.events.get(s).copied().unwrap_or_default())).collect(),
        deliveries: DeliveryState::ALL
            .iter()
            .map(|s| (*s, status.deliveries.get(s).copied().unwrap_or_default()))
            .collect(),
        running: status.running,
        longest_wait: status.oldest_waiting.map(|since| length(now.saturating_sub(since))),
        routes: route_views(&desk.core.config(), &status.paused),
        newest: dated(newest, |event| event.received_at, now),
        trouble: dated(trouble, |delivery| delivery.created_at, now),
        may_sign_out: !desk.keeper.is_open(),
    })
}

fn dated<T>(rows: Vec<T>, at: impl Fn(&T) -> Millis, now: Millis) -> Vec<(T, When)> {
    let dated = rows.into_iter().map(|row| {
        let when = When::new(at(&row), now);
        (row, when)
    });
    dated.collect()
}

/// A time as people read it, and as machines do.
struct When {
    exact: String,
    ago: String,
}

impl When {
    fn new(at: Millis, now: Millis) -> When {
        When { exact: rfc3339(at), ago: format!("{} ago", length(now.saturating_sub(at))) }
    }
}

/// A length of time in its largest unit.
fn length(ms: Millis) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_in_their_largest_unit() {
        let told = [-5, 0, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 172_800_000].map(length);
        assert_eq!(told, ["0 s", "0 s", "59 s", "1 min", "59 min", "1 h", "23 h", "2 d"]);
    }
}
