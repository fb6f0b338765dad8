use super::*;

/// What both answer, `/healthz` first.
async fn health(scene: &Scene) -> [(u16, String); 2] {
    let of = async |path| {
        let answer = scene.get(path).await;
        (answer.status.as_u16(), answer.text().to_owned())
    };
    [of("/healthz").await, of("/readyz").await]
}

fn lives_and(status: u16, word: &str) -> [(u16, String); 2] {
    [(200, "ok\n".to_owned()), (status, format!("{word}\n"))]
}

#[tokio::test]
async fn a_gateway_that_can_store_is_ready() {
    let scene = Scene::open().await;
    assert_eq!(health(&scene).await, lives_and(200, "ok"));
}

#[tokio::test]
async fn a_full_disk_is_not_ready_and_alive() {
    let scene = Scene::with_min_free(Access::Open, "http://127.0.0.1:8645", u64::MAX).await;
    assert_eq!(health(&scene).await, lives_and(503, "disk_low"));
    assert_eq!(scene.get("/api/v1/status").await.status, StatusCode::OK, "what is stored can be read");
}

#[tokio::test]
async fn a_closed_ledger_is_not_ready_and_alive() {
    let scene = Scene::open().await;
    scene.core.ledger.close().await;
    assert_eq!(health(&scene).await, lives_and(503, "ledger"));
}
