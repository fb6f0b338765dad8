//! The token, and what stands in for it in a browser: sessions and one-time codes. All of it lives in memory only.

mod failures;
mod passes;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq as _;

use crate::origin::Own;
use crate::problem::{Kind, Problem};
use failures::Failures;
use passes::Passes;

/// How long a browser stays signed in: a working day.
pub(crate) const SESSION: Duration = Duration::from_hours(12);
/// Sessions at a time; the oldest goes when one more comes.
const SESSIONS: usize = 100;
/// How long a one-time code is good.
pub(crate) const CODE: Duration = Duration::from_mins(1);
/// Codes at a time.
const CODES: usize = 16;

/// Who may use the admin address.
pub enum Access {
    /// Whoever has this token.
    Token(String),
    /// Everybody who can reach it, which must be this machine only.
    Open,
}

/// Knows who may come in.
pub(crate) struct Keeper {
    access: Access,
    cookie: String,
    https: bool,
    sessions: Mutex<Passes>,
    codes: Mutex<Passes>,
    failures: Mutex<Failures>,
}

impl Keeper {
    pub(crate) fn new(access: Access, own: &Own) -> Keeper {
        Keeper {
            access,
            // Browsers keep cookies by host, not by port: two gateways of one machine must not sign each other out.
            cookie: format!("doorbell_{}", own.port),
            https: own.https,
            sessions: Mutex::new(Passes::new(SESSION, SESSIONS)),
            codes: Mutex::new(Passes::new(CODE, CODES)),
            failures: Mutex::default(),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.access, Access::Open)
    }

    /// Lets a request in by its token or its session, or says why not.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        if self.has_entered(headers) {
            return Ok(());
        }
        match bearer(headers) {
            Some(_) => {
                Err(self.failed("the token is wrong; `admin.token` in the home folder or in the configuration has it"))
            }
            None => Err(Problem::new(
                Kind::TokenNeeded,
                "send `Authorization: Bearer TOKEN`, with the token of `admin.token` in the home folder or in the configuration",
            )),
        }
    }

    /// Whether a request has the token or a session, or needs neither.
    pub(crate) fn has_entered(&self, headers: &HeaderMap) -> bool {
        self.is_open() || bearer(headers).is_some_and(|token| self.is_token(token)) || self.session(headers).is_some()
    }

    /// Begins a session for a right token and answers its cookie.
    pub(crate) fn sign_in(&self, token: &str) -> Result<String, Problem> {
        if self.is_token(token) { Ok(self.begin_session()) } else { Err(self.failed("That is not the token.")) }
    }

    /// Begins a session for a one-time code, which is used up by it.
    pub(crate) fn open(&self, code: &str) -> Result<String, Problem> {
        if lock(&self.codes).take(code, Instant::now()) {
            Ok(self.begin_session())
        } else {
            Err(self.failed("This link was used already or is older than a minute. `doorbell open` makes a new one."))
        }
    }

    /// A new one-time code.
    pub(crate) fn new_code(&self) -> String {
        lock(&self.codes).issue(Instant::now())
    }

    /// Ends the session of a request and answers the cookie that clears it.
    pub(crate) fn sign_out(&self, headers: &HeaderMap) -> String {
        if let Some(session) = self.session(headers) {
            lock(&self.sessions).take(session, Instant::now());
        }
        self.cookie_of("", Duration::ZERO)
    }

    fn is_token(&self, given: &str) -> bool {
        match &self.access {
            Access::Token(token) => token.as_bytes().ct_eq(given.as_bytes()).into(),
            Access::Open => true,
        }
    }

    fn begin_session(&self) -> String {
        let session = lock(&self.sessions).issue(Instant::now());
        self.cookie_of(&session, SESSION)
    }

    fn cookie_of(&self, value: &str, age: Duration) -> String {
        let secure = if self.https { "; Secure" } else { "" };
        format!("{}={value}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", self.cookie, age.as_secs())
    }

    /// The session of a request, when it is one of ours.
    fn session<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut ours = pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value);
        let (sessions, now) = (lock(&self.sessions), Instant::now());
        ours.find(|value| sessions.holds(value, now))
    }

    fn failed(&self, detail: &str) -> Problem {
        match lock(&self.failures).count(Instant::now()) {
            Ok(()) => {
                tracing::warn!("the admin address was tried with a wrong token or code");
                Problem::new(Kind::TokenNeeded, detail)
            }
            Err(wait) => {
                let detail = "too many wrong tokens or codes came within a minute; a right one still passes";
                Problem::new(Kind::TooManyTokens, detail).after(wait)
            }
        }
    }
}

/// The token that a request gives (RFC 6750, section 2.1).
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
