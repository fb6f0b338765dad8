use super::*;

#[tokio::test]
async fn without_a_session_there_is_the_form_and_nothing_else() {
    let scene = Scene::locked().await;
    scene.put("ev_1", "r", b"{}").await;
    let page = scene.get("/").await;
    assert_eq!((page.status, page.header(header::CONTENT_TYPE)), (StatusCode::OK, "text/html; charset=utf-8"));
    assert!(page.text().contains("type=\"password\"") && page.text().contains("action=\"/sign-in\""));
    assert!(!page.text().contains("ev_1") && !page.text().contains("Newest"));
    let back = scene.get("/sign-in").await;
    assert_eq!((back.status, back.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/"));
}

#[tokio::test]
async fn the_overview_tells_how_it_stands() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    scene.begin("r", "run_1").await;
    scene.end("run_1", EventState::Succeeded).await;
    scene.put("ev_2", "r", b"{}").await;
    scene.post("/api/v1/routes/r/pause").await;
    let page = scene.get("/").await;
    let text = page.text();
    for part in [
        "<dt>succeeded</dt><dd class=\"succeeded\">1</dd>",
        "<dt>failed</dt><dd>0</dd>",
        "<dt>held</dt><dd class=\"held\">1</dd>",
        "<strong>r</strong>",
        "<span class=\"paused\">paused</span>",
        "<span class=\"disabled\">disabled</span>",
        "<code>ev_2</code>",
        "<span class=\"held\">held</span><br><span class=\"quiet\">paused</span>",
        "title=\"2026-09-21T14:11:50.000Z\">1 min ago</time>",
        "<code>dlv_run_1</code>",
        "no &#60;room&#62; left",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("Sign out"), "nobody signed in");
}

#[tokio::test]
async fn hostile_text_stays_text() {
    let scene = Scene::open().await;
    let hostile = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>";
    scene.put(&format!("ev_{hostile}"), "r", b"{}").await;
    scene.put("ev_2", hostile, b"{}").await;
    let page = scene.get("/").await;
    let text = page.text();
    assert!(text.contains("ev_&#34;&#62;&#60;script&#62;"), "{text}");
    for markup in ["<script", "<img", "onerror='"] {
        assert!(!text.contains(markup), "{markup} in\n{text}");
    }
}

#[tokio::test]
async fn every_answer_keeps_browsers_in_check() {
    let scene = Scene::locked().await;
    for path in ["/", "/style.css", "/healthz", "/api/v1/status", "/open?code=x", "/nope"] {
        let answer = scene.get(path).await;
        let policy = answer.header(header::CONTENT_SECURITY_POLICY);
        for part in [
            "default-src 'none'",
            "style-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
        assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{path}");
        assert_eq!(answer.header(header::REFERRER_POLICY), "same-origin", "{path}");
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store", "{path}");
    }
    let style = scene.get("/style.css").await;
    assert_eq!(style.header(header::CONTENT_TYPE), "text/css; charset=utf-8");
    assert!(style.text().contains("prefers-color-scheme: dark"));
}
