//! Everything that the admin address answers when it does not do what was asked: `application/problem+json` (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rules::id;
use serde_json::{Value, json};

/// What kind of problem it is. Its slug is stable: scripts match on it, and the documentation explains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    UnknownPath,
    MethodNotAllowed,
    NotFound,
    Conflict,
    BadQuery,
    BadBody,
    TooLarge,
    TooSlow,
    TokenNeeded,
    TooManyTokens,
    ForeignHost,
    ForeignOrigin,
    NotFromRuns,
    UnreadablePayload,
    RateLimited,
    Configuration,
    LedgerBusy,
    DiskLow,
    LedgerUnavailable,
    Internal,
}

impl Kind {
    fn facts(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Kind::UnknownPath => (StatusCode::NOT_FOUND, "unknown-path", "There is nothing at this path"),
            Kind::MethodNotAllowed => {
                (StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "The path does not take this method")
            }
            Kind::NotFound => (StatusCode::NOT_FOUND, "not-found", "There is no such thing"),
            Kind::Conflict => (StatusCode::CONFLICT, "conflict", "Its state does not allow that"),
            Kind::BadQuery => (StatusCode::BAD_REQUEST, "bad-query", "The query is not understood"),
            Kind::BadBody => (StatusCode::BAD_REQUEST, "bad-body", "The request's body is not understood"),
            Kind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "payload-too-large", "The payload is too large"),
            Kind::TooSlow => (StatusCode::REQUEST_TIMEOUT, "body-too-slow", "The request's body came too slowly"),
            Kind::TokenNeeded => (StatusCode::UNAUTHORIZED, "token-needed", "The admin token is needed"),
            Kind::TooManyTokens => (StatusCode::TOO_MANY_REQUESTS, "too-many-tokens", "Too many wrong tokens"),
            Kind::ForeignHost => (StatusCode::FORBIDDEN, "foreign-host", "The Host is not this machine's"),
            Kind::ForeignOrigin => (StatusCode::FORBIDDEN, "foreign-origin", "The request comes from another site"),
            Kind::NotFromRuns => (StatusCode::FORBIDDEN, "not-from-runs", "The route takes no work from runs"),
            Kind::UnreadablePayload => {
                (StatusCode::UNPROCESSABLE_ENTITY, "unreadable-payload", "The payload cannot be read")
            }
            Kind::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "rate-limited", "The route's rate limit is reached"),
            Kind::Configuration => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "configuration",
                "The configuration has problems; the running one stays",
            ),
            Kind::LedgerBusy => (StatusCode::SERVICE_UNAVAILABLE, "ledger-busy", "The ledger is behind"),
            Kind::DiskLow => (StatusCode::SERVICE_UNAVAILABLE, "disk-low", "The disk of the ledger is nearly full"),
            Kind::LedgerUnavailable => {
                (StatusCode::SERVICE_UNAVAILABLE, "ledger-unavailable", "The ledger cannot be used")
            }
            Kind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal", "A fault of the gateway's own"),
        }
    }

    pub(crate) fn title(self) -> &'static str {
        self.facts().2
    }
}

/// A problem, for one answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub(crate) kind: Kind,
    /// What was wrong and what to do about it.
    pub(crate) detail: String,
    /// Seconds until another try makes sense.
    pub(crate) retry_after: Option<u64>,
    /// The problems of a configuration one by one, beside their lines in `detail`.
    problems: Option<Value>,
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Problem {
        Problem { kind, detail: detail.into(), retry_after: None, problems: None }
    }

    pub(crate) fn after(self, seconds: u64) -> Problem {
        Problem { retry_after: Some(seconds), ..self }
    }

    pub(crate) fn route(name: &str) -> Problem {
        Problem::new(Kind::NotFound, format!("there is no route {name}; GET /api/v1/routes lists them"))
    }

    pub(crate) fn internal() -> Problem {
        Problem::new(Kind::Internal, "the request ended in a panic; the log of the gateway says where")
    }

    pub(crate) fn configuration(problems: &config::Problems) -> Problem {
        let problem = Problem::new(Kind::Configuration, problems.to_string());
        // Problems are texts and numbers, which always have a JSON form.
        Problem { problems: serde_json::to_value(problems).ok(), ..problem }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.kind.facts().0
    }
}

impl From<ledger::Error> for Problem {
    fn from(error: ledger::Error) -> Problem {
        let detail = error.to_string();
        match error {
            ledger::Error::NotFound { kind, id } => Problem::new(Kind::NotFound, missing(&detail, kind, &id)),
            ledger::Error::Conflict(_) => Problem::new(Kind::Conflict, detail),
            ledger::Error::BadCursor => Problem::new(Kind::BadQuery, format!("cursor: {detail}")),
            ledger::Error::Busy => Problem::new(Kind::LedgerBusy, format!("{detail}; try again in a moment")).after(5),
            ledger::Error::DiskLow { .. } => Problem::new(Kind::DiskLow, detail).after(60),
            ledger::Error::Closed => Problem::new(Kind::LedgerUnavailable, "the gateway is stopping").after(5),
            ledger::Error::Unavailable(_) | ledger::Error::Away(_) | ledger::Error::Damaged(_) => {
                // Who asks is told; the log has heard of it from those who write.
                tracing::debug!(%error, "the ledger could not answer the admin address");
                Problem::new(Kind::LedgerUnavailable, detail).after(5)
            }
        }
    }
}

/// Says that something is not there, and what the id belongs to when it is that of another thing.
fn missing(detail: &str, kind: &str, id: &str) -> String {
    let wanted = match kind {
        "event" => id::Kind::Event,
        "run" => id::Kind::Run,
        "delivery" => id::Kind::Delivery,
        _ => return detail.to_owned(),
    };
    id::wrong_kind(id, wanted).map_or_else(|| detail.to_owned(), |hint| format!("{detail}: {hint}"))
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, slug, title) = self.kind.facts();
        let mut body = json!({
            "type": "about:blank", "slug": slug, "title": title, "status": status.as_u16(), "detail": self.detail,
        });
        if let Some(problems) = self.problems {
            body["problems"] = problems;
        }
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

pub(crate) async fn unknown_path(uri: Uri) -> Problem {
    Problem::new(Kind::UnknownPath, format!("{} is no path of the admin address", uri.path()))
}

pub(crate) async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    Problem::new(
        Kind::MethodNotAllowed,
        format!("{} does not take {method}; the Allow header says what it takes", uri.path()),
    )
}
