//! What a listing is asked for. Nothing is guessed: an unknown key would silently show everything.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::http::Uri;
use ledger::Millis;
use ledger::api::views::LARGEST_PAGE;
use rules::states::UnknownState;
use span::Span;

use crate::problem::{Kind, Problem};

/// Rows of a page when no `limit` is given.
const LIMIT: u32 = 50;

/// The keys of a query and their values.
#[derive(Debug)]
pub(super) struct Query(BTreeMap<String, String>);

fn bad(detail: impl Into<String>) -> Problem {
    Problem::new(Kind::BadQuery, detail)
}

impl Query {
    /// Reads the query of a request that may have the `known` keys beside `limit` and `cursor`.
    pub(super) fn read(uri: &Uri, known: &[&str]) -> Result<Query, Problem> {
        let mut values = BTreeMap::new();
        for (key, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            if !known.contains(&&*key) && key != "limit" && key != "cursor" {
                return Err(bad(format!("unknown key `{key}`; the keys are: {}, limit, cursor", known.join(", "))));
            }
            if value.is_empty() {
                return Err(bad(format!("{key} is empty; leave it out to ask for all")));
            }
            if values.insert(key.to_string(), value.into_owned()).is_some() {
                return Err(bad(format!("{key} is given twice")));
            }
        }
        Ok(Query(values))
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }

    pub(super) fn state<S: FromStr<Err = UnknownState>>(&self) -> Result<Option<S>, Problem> {
        let state = self.0.get("state").map(|word| word.parse());
        state.transpose().map_err(|error: UnknownState| bad(format!("state: {error}")))
    }

    pub(super) fn limit(&self) -> Result<u32, Problem> {
        let Some(text) = self.0.get("limit") else { return Ok(LIMIT) };
        let limit = text.parse().ok().filter(|limit| (1..=LARGEST_PAGE).contains(limit));
        limit.ok_or_else(|| bad(format!("limit: a whole number from 1 to {LARGEST_PAGE} is needed")))
    }

    pub(super) fn cursor(&self) -> Option<String> {
        self.text("cursor")
    }

    /// A time, or a span back from now.
    pub(super) fn since(&self, now: Millis) -> Result<Option<Millis>, Problem> {
        let Some(text) = self.0.get("since") else { return Ok(None) };
        if let Ok(time) = text.parse::<jiff::Timestamp>() {
            return Ok(Some(time.as_millisecond()));
        }
        let span: Result<Span, _> = text.parse();
        let span = span.map_err(|_| {
            bad(format!(
                "since: `{text}` is neither a time such as 2026-01-31T12:00:00Z (write a + of an offset as %2B) nor a \
                 length of time such as 2h or 7d"
            ))
        })?;
        Ok(Some(now.saturating_sub(i64::try_from(span.0.as_millis()).unwrap_or(i64::MAX))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Query, Problem> {
        Query::read(&format!("/x?{query}").parse().unwrap(), &["route", "state", "since"])
    }

    #[test]
    fn since_is_a_time_or_a_span() {
        let since = |text: &str| read(&format!("since={text}")).unwrap().since(10_000_000_000);
        assert_eq!(since("1970-01-01T00:00:01Z").unwrap(), Some(1000));
        assert_eq!(since("1970-01-01T01:00:01%2B01:00").unwrap(), Some(1000));
        assert_eq!(since("2h").unwrap(), Some(10_000_000_000 - 7_200_000));
        assert_eq!(since("1d").unwrap(), Some(10_000_000_000 - 86_400_000));
        for wrong in ["yesterday-ish", "2026-01-31", "1970-01-01T01:00:01+01:00", "-1h"] {
            assert_eq!(since(wrong).unwrap_err().kind, Kind::BadQuery, "{wrong}");
        }
    }

    #[test]
    fn limits_are_one_to_a_thousand() {
        let limit = |text: &str| read(&format!("limit={text}")).unwrap().limit();
        assert_eq!((limit("1").unwrap(), limit("1000").unwrap()), (1, 1000));
        assert_eq!(read("").unwrap().limit().unwrap(), 50);
        for wrong in ["0", "1001", "-1", "abc", "1.5", "99999999999"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn nothing_is_guessed() {
        assert!(
            read("rout=r").unwrap_err().detail.contains("`rout`; the keys are: route, state, since, limit, cursor")
        );
        assert!(read("route=a&route=b").unwrap_err().detail.contains("twice"));
        assert!(read("route=").unwrap_err().detail.contains("empty"));
        let state: Result<Option<rules::states::EventState>, _> = read("state=nonsense").unwrap().state();
        assert!(state.unwrap_err().detail.contains("queued"));
        assert_eq!(read("route=%3Cb%3E+%C3%A9").unwrap().text("route").as_deref(), Some("<b> é"));
    }
}
