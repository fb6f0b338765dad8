//! Every answer of the public port, in one place.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// What a sender is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Healthy,
    NotFound,
    /// The text lists the methods that are allowed.
    MethodNotAllowed(&'static str),
    UnknownRoute(String),
    Disabled(String),
    TooLarge,
    BadRequest,
    TooSlow,
    InvalidSignature,
    Pong,
    UnsupportedEncoding(String),
    CannotParse,
    Ignored {
        reason: &'static str,
        event: String,
        route: String,
    },
    Duplicate {
        delivery_id: String,
        event_id: String,
    },
    /// Seconds.
    Limited {
        retry_after: u64,
    },
    /// Seconds.
    CannotStore {
        retry_after: u64,
    },
    Accepted {
        route: String,
        event: String,
        delivery_id: String,
        event_id: String,
    },
}

impl Answer {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Answer::Healthy | Answer::Pong | Answer::Ignored { .. } | Answer::Duplicate { .. } => StatusCode::OK,
            Answer::Accepted { .. } => StatusCode::ACCEPTED,
            Answer::BadRequest | Answer::CannotParse => StatusCode::BAD_REQUEST,
            Answer::InvalidSignature => StatusCode::UNAUTHORIZED,
            Answer::Disabled(_) => StatusCode::FORBIDDEN,
            Answer::NotFound | Answer::UnknownRoute(_) => StatusCode::NOT_FOUND,
            Answer::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Answer::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Answer::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Answer::UnsupportedEncoding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Answer::Limited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Answer::CannotStore { .. } => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The word for metrics and the log.
    pub(super) fn outcome(&self) -> &'static str {
        match self {
            Answer::Healthy => "healthy",
            Answer::NotFound => "not_found",
            Answer::MethodNotAllowed(_) => "method_not_allowed",
            Answer::UnknownRoute(_) => "unknown_route",
            Answer::Disabled(_) => "disabled",
            Answer::TooLarge => "too_large",
            Answer::BadRequest => "bad_request",
            Answer::TooSlow => "too_slow",
            Answer::InvalidSignature => "invalid_signature",
            Answer::Pong => "pong",
            Answer::UnsupportedEncoding(_) => "unsupported_encoding",
            Answer::CannotParse => "cannot_parse",
            Answer::Ignored { .. } => "ignored",
            Answer::Duplicate { .. } => "duplicate",
            Answer::Limited { .. } => "limited",
            Answer::CannotStore { .. } => "cannot_store",
            Answer::Accepted { .. } => "accepted",
        }
    }

    fn body(&self) -> Value {
        match self {
            Answer::Healthy => json!({"status": "ok", "platform": "webhook"}),
            Answer::NotFound => json!({"error": "Not found"}),
            Answer::MethodNotAllowed(_) => json!({"error": "Method not allowed"}),
            Answer::UnknownRoute(name) => json!({"error": format!("Unknown route: {name}")}),
            Answer::Disabled(name) => json!({"error": format!("Route disabled: {name}")}),
            Answer::TooLarge => json!({"error": "Payload too large"}),
            Answer::BadRequest => json!({"error": "Bad request"}),
            Answer::TooSlow => json!({"error": "Request timed out"}),
            Answer::InvalidSignature => json!({"error": "Invalid signature"}),
            Answer::Pong => json!({"status": "pong"}),
            Answer::UnsupportedEncoding(name) => json!({"error": format!("Unsupported Content-Encoding: {name}")}),
            Answer::CannotParse => json!({"error": "Cannot parse body"}),
            Answer::Ignored { reason, event, route } => {
                json!({"status": "ignored", "reason": reason, "event": event, "route": route})
            }
            Answer::Duplicate { delivery_id, event_id } => {
                json!({"status": "duplicate", "delivery_id": delivery_id, "event_id": event_id})
            }
            Answer::Limited { .. } => json!({"error": "Rate limit exceeded"}),
            Answer::CannotStore { .. } => json!({"error": "Could not store the event"}),
            Answer::Accepted { route, event, delivery_id, event_id } => json!({
                "status": "accepted", "route": route, "event": event, "delivery_id": delivery_id, "event_id": event_id
            }),
        }
    }

    /// Whether the connection ends with this answer, because its request was not read to the end or cannot be trusted to
    /// end where it says.
    fn closes(&self) -> bool {
        matches!(
            self,
            Answer::NotFound
                | Answer::MethodNotAllowed(_)
                | Answer::UnknownRoute(_)
                | Answer::Disabled(_)
                | Answer::TooLarge
                | Answer::BadRequest
                | Answer::TooSlow
        )
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        let mut response = (self.status(), [(header::CONTENT_TYPE, json)], self.body().to_string()).into_response();
        let headers = response.headers_mut();
        match &self {
            Answer::MethodNotAllowed(methods) => {
                headers.insert(header::ALLOW, HeaderValue::from_static(methods));
            }
            Answer::Limited { retry_after } | Answer::CannotStore { retry_after } => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(*retry_after));
            }
            _ => {}
        }
        if self.closes() {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
