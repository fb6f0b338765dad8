use super::*;

const BEARER: (&str, &str) = ("authorization", "Bearer token-not-real-0000");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const OWN_ORIGIN: (&str, &str) = ("origin", "http://127.0.0.1:8645");

/// The cookie of an answer as a browser would send it back.
fn cookie(answer: &Answer) -> String {
    answer.header(header::SET_COOKIE).split(';').next().unwrap().to_owned()
}

async fn sign_in(scene: &Scene, token: &str) -> Answer {
    scene.call("POST", "/sign-in", &[FORM, OWN_ORIGIN], format!("token={token}")).await
}

#[tokio::test]
async fn everything_but_health_needs_the_token() {
    let scene = Scene::locked().await;
    for path in ["/api/v1/status", "/api/v1/events", "/metrics", "/api/v1/nope", "/nope", "/Healthz"] {
        let answer = scene.get(path).await;
        assert_eq!(answer.problem(401), "token-needed", "{path}");
        assert_eq!(answer.header(header::WWW_AUTHENTICATE), "Bearer");
    }
    for path in ["/api/v1/routes/r/pause", "/api/v1/send", "/api/v1/reload", "/api/v1/open-code"] {
        assert_eq!(scene.post(path).await.problem(401), "token-needed", "{path}");
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(scene.get(path).await.status, StatusCode::OK, "{path}");
    }
    assert_eq!(scene.call("GET", "/api/v1/status", &[BEARER], "").await.status, StatusCode::OK);
    assert_eq!(scene.call("GET", "/metrics", &[BEARER], "").await.status, StatusCode::OK);
    let lower = ("authorization", "bearer token-not-real-0000");
    assert_eq!(scene.call("GET", "/api/v1/status", &[lower], "").await.status, StatusCode::OK);
    for wrong in ["Bearer wrong", "Bearer ", "Bearer token-not-real-000", TOKEN, "Basic token-not-real-0000"] {
        let answer = scene.call("GET", "/api/v1/status", &[("authorization", wrong)], "").await;
        assert_eq!(answer.problem(401), "token-needed", "{wrong}");
        assert!(!answer.text().contains("not-real"));
    }
}

#[tokio::test]
async fn wrong_tokens_are_limited_and_the_right_one_passes() {
    let scene = Scene::locked().await;
    let wrong = [("authorization", "Bearer wrong")];
    for _ in 0..19 {
        assert_eq!(scene.call("GET", "/api/v1/status", &wrong, "").await.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(sign_in(&scene, "wrong").await.status, StatusCode::UNAUTHORIZED, "the form counts too");
    let limited = scene.call("GET", "/api/v1/status", &wrong, "").await;
    assert_eq!(limited.problem(429), "too-many-tokens");
    assert!(limited.header(header::RETRY_AFTER).parse::<u64>().unwrap() <= 61);
    let form = sign_in(&scene, "wrong").await;
    assert_eq!(form.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!form.header(header::RETRY_AFTER).is_empty());
    assert_eq!(scene.get("/api/v1/status").await.problem(401), "token-needed", "no token is no wrong token");
    assert_eq!(scene.call("GET", "/api/v1/status", &[BEARER], "").await.status, StatusCode::OK);
    assert_eq!(sign_in(&scene, TOKEN).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn the_form_opens_a_session() {
    let scene = Scene::locked().await;
    let bad = sign_in(&scene, "wrong").await;
    assert_eq!((bad.status, bad.header(header::SET_COOKIE)), (StatusCode::UNAUTHORIZED, ""));
    assert!(bad.text().contains("That is not the token.") && bad.text().contains("<form"));
    let good = sign_in(&scene, TOKEN).await;
    assert_eq!((good.status, good.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/"));
    let words = good.header(header::SET_COOKIE);
    assert!(words.contains("; HttpOnly; SameSite=Strict") && words.contains("; Path=/; Max-Age=43200;"), "{words}");
    assert!(!words.contains("Secure") && !words.contains(TOKEN), "{words}");
    let cookie = cookie(&good);
    let session = [("cookie", cookie.as_str())];
    assert_eq!(scene.call("GET", "/api/v1/status", &session, "").await.status, StatusCode::OK);
    assert!(scene.call("GET", "/", &session, "").await.text().contains("Newest events"));
    let foreign = [("cookie", cookie.as_str()), ("origin", "https://evil.example")];
    assert_eq!(scene.call("POST", "/api/v1/routes/r/pause", &foreign, "").await.problem(403), "foreign-origin");
    let several = format!("a=b; {cookie}; doorbell_1=x");
    assert_eq!(scene.call("GET", "/api/v1/status", &[("cookie", &several)], "").await.status, StatusCode::OK);
    for wrong in ["doorbell_8645=", "doorbell_8645=wrong", "doorbell=x", "="] {
        assert_eq!(scene.call("GET", "/api/v1/status", &[("cookie", wrong)], "").await.problem(401), "token-needed");
    }
    let out = scene.call("POST", "/sign-out", &session, "").await;
    assert_eq!(out.status, StatusCode::SEE_OTHER);
    assert!(out.header(header::SET_COOKIE).contains("Max-Age=0"));
    assert_eq!(scene.call("GET", "/api/v1/status", &session, "").await.problem(401), "token-needed");
}

#[tokio::test]
async fn a_cookie_for_https_is_for_https_only() {
    let scene = Scene::new(Access::Token(TOKEN.to_owned()), "https://127.0.0.1:8645").await;
    let origin = ("origin", "https://127.0.0.1:8645");
    let good = scene.call("POST", "/sign-in", &[FORM, origin], format!("token={TOKEN}")).await;
    assert!(good.header(header::SET_COOKIE).ends_with("; Secure"), "{}", good.header(header::SET_COOKIE));
}

#[tokio::test]
async fn a_form_of_another_site_signs_nobody_in() {
    let scene = Scene::locked().await;
    for foreign in [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
        let answer = scene.call("POST", "/sign-in", &[FORM, foreign], format!("token={TOKEN}")).await;
        assert_eq!((answer.problem(403).as_str(), answer.header(header::SET_COOKIE)), ("foreign-origin", ""));
    }
    let huge = scene.call("POST", "/sign-in", &[FORM, OWN_ORIGIN], format!("token={}", "x".repeat(5000))).await;
    assert_eq!(huge.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_one_time_link_opens_once() {
    let scene = Scene::locked().await;
    let issued = scene.call("POST", "/api/v1/open-code", &[BEARER], "").await.json();
    assert_eq!(issued["expires_in_s"], serde_json::json!(60));
    let url = issued["url"].as_str().unwrap();
    let path = url.strip_prefix("http://127.0.0.1:8645").unwrap();
    assert!(path.starts_with("/open?code="), "{url}");
    let preview = scene.call("HEAD", path, &[], "").await;
    assert_eq!(preview.header(header::SET_COOKIE), "", "a preview does not use it up");
    let opened = scene.get(path).await;
    assert_eq!((opened.status, opened.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/"));
    let session = cookie(&opened);
    assert_eq!(scene.call("GET", "/api/v1/status", &[("cookie", &session)], "").await.status, StatusCode::OK);
    let again = scene.get(path).await;
    assert_eq!((again.status, again.header(header::SET_COOKIE)), (StatusCode::UNAUTHORIZED, ""));
    assert!(again.text().contains("doorbell open"));
    for wrong in ["/open", "/open?code=", "/open?code=wrong"] {
        assert_eq!(scene.get(wrong).await.status, StatusCode::UNAUTHORIZED, "{wrong}");
    }
}

#[tokio::test]
async fn an_open_address_answers_to_this_machines_names_only() {
    let scene = Scene::open().await;
    for host in ["evil.example:8645", "localhost.evil.example:8645", "", "192.0.2.1"] {
        for path in ["/api/v1/status", "/", "/metrics", "/style.css"] {
            let answer = scene.call("GET", path, &[("host", host)], "").await;
            assert_eq!(answer.problem(403), "foreign-host", "{host} {path}");
        }
    }
    for host in ["localhost:8645", "127.0.0.1", "[::1]:9", "LocalHost"] {
        let origin = format!("http://{host}");
        let headers = [("host", host), ("origin", origin.as_str())];
        assert_eq!(scene.call("GET", "/api/v1/status", &headers, "").await.status, StatusCode::OK, "{host}");
    }
    let probe = [("host", "10.0.0.7:8645")];
    assert_eq!(scene.call("GET", "/healthz", &probe, "").await.status, StatusCode::OK);
    let locked = Scene::locked().await;
    let named = [("host", "admin.example"), BEARER];
    assert_eq!(locked.call("GET", "/api/v1/status", &named, "").await.status, StatusCode::OK);
}

#[tokio::test]
async fn other_sites_are_refused_and_change_nothing() {
    for (scene, token) in [(Scene::open().await, None), (Scene::locked().await, Some(BEARER))] {
        let foreign = [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("origin", "http://127.0.0.1:8644"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ];
        for header in foreign {
            let headers: Vec<_> = [header].into_iter().chain(token).collect();
            for (method, path) in [("POST", "/api/v1/routes/r/pause"), ("GET", "/api/v1/events"), ("GET", "/metrics")] {
                let answer = scene.call(method, path, &headers, "").await;
                assert_eq!(answer.problem(403), "foreign-origin", "{header:?} {path}");
                assert_eq!(answer.header(header::ACCESS_CONTROL_ALLOW_ORIGIN), "");
            }
        }
        assert_eq!(scene.core.ledger.status().await.unwrap().paused, Vec::<String>::new());
        let own: Vec<_> = [OWN_ORIGIN, ("sec-fetch-site", "same-origin")].into_iter().chain(token).collect();
        assert_eq!(scene.call("POST", "/api/v1/routes/r/pause", &own, "").await.status, StatusCode::OK);
        let link = [("sec-fetch-site", "cross-site")];
        assert_eq!(scene.call("GET", "/", &link, "").await.status, StatusCode::OK, "others may link to the page");
    }
}
