//! A browser's way in: the form for the token, one-time links, and out again.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use crate::body;
use crate::desk::Desk;
use crate::page;
use crate::problem::Problem;

/// A token and the name of its field.
const LARGEST_FORM: usize = 4 << 10;

pub(crate) fn router() -> Router<Arc<Desk>> {
    Router::new()
        .route("/sign-in", post(sign_in).get(back))
        .route("/sign-out", post(sign_out))
        // A HEAD, such as a chat program sends for a preview, must not use the code up.
        .route("/open", get(open).head(async || StatusCode::NO_CONTENT))
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn<'a> {
    message: Option<&'a str>,
}

/// The page with the form.
pub(crate) fn form(status: StatusCode, message: Option<&str>) -> Response {
    page::html(status, &SignIn { message })
}

/// The form again, with what was wrong.
fn refused(problem: Problem) -> Response {
    let mut response = form(problem.status(), Some(&problem.detail));
    let wanted = problem.into_response();
    for name in [header::WWW_AUTHENTICATE, header::RETRY_AFTER] {
        if let Some(value) = wanted.headers().get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

async fn sign_in(State(desk): State<Arc<Desk>>, body: Body) -> Response {
    let deadline = desk.core.config().server.body_timeout;
    let form = match body::read(body, LARGEST_FORM, deadline).await {
        Ok(form) => form,
        Err(problem) => return refused(problem),
    };
    let token =
        form_urlencoded::parse(&form).find(|(name, _)| name == "token").map(|(_, token)| token.trim().to_owned());
    entered(desk.keeper.sign_in(&token.unwrap_or_default()))
}

async fn open(State(desk): State<Arc<Desk>>, uri: Uri) -> Response {
    let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let code = query.into_iter().find(|(name, _)| name == "code").map(|(_, code)| code.into_owned());
    entered(desk.keeper.open(&code.unwrap_or_default()))
}

async fn sign_out(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Response {
    with_cookie(&desk.keeper.sign_out(&headers))
}

/// Somebody reloads the page that said "wrong token".
async fn back() -> Redirect {
    Redirect::to("/")
}

fn entered(cookie: Result<String, Problem>) -> Response {
    match cookie {
        Ok(cookie) => with_cookie(&cookie),
        Err(problem) => refused(problem),
    }
}

fn with_cookie(cookie: &str) -> Response {
    let mut response = Redirect::to("/").into_response();
    let cookie = HeaderValue::from_str(cookie).expect("a cookie of ours is made of letters, digits and signs");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}
