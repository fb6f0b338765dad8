//! Published examples and the inputs of providers' own libraries.

use crate::{Ring, ring};

/// GitHub's documentation, Convoy's and go-scm's tests.
#[test]
fn github() {
    let docs = "It's a Secret to Everybody";
    let over_hello = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    for (secret, signature, body, valid) in [
        (docs, &*format!("sha256={over_hello}"), "Hello, World!", true),
        (
            "Convoy",
            "sha256=d7a154547e7c35e31c4c820e20237650939c3d34dae136e30a7757ca61abb4cf",
            "Test Payload Body",
            true,
        ),
        (docs, &*format!("sha256={over_hello}"), "Hello, World?", false),
        (docs, over_hello, "Hello, World!", false),
        ("topsecret", "sha256=8ca57e2afbad9fea8860404575c2d61827995c62aacd4c514eae4c404896390b", "hello world", false),
    ] {
        let headers = [("X-Hub-Signature-256", signature)];
        let verdict = Ring { secrets: &[secret], ..ring("github", &headers, body.as_bytes()) }.passes();
        assert_eq!(verdict, valid, "{signature} over {body}");
    }
}

/// Standard Webhooks' C# and Svix' JavaScript tests.
#[test]
fn standard_webhooks() {
    let good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    let check = |headers: &[(&str, &str)], now_s| {
        let secrets = &["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
        Ring { secrets, now_s, ..ring("standard-webhooks", headers, b"{\"test\": 2432232314}") }.passes()
    };
    let id = ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek");
    let timestamp = ("webhook-timestamp", "1614265330");
    let signature = ("webhook-signature", good);
    assert!(check(&[id, timestamp, signature], 1_614_265_330));
    assert!(check(&[id, timestamp, signature], 1_614_265_630));
    assert!(!check(&[id, timestamp, signature], 1_614_265_631));
    assert!(!check(&[id, timestamp], 1_614_265_330));
    assert!(!check(&[id, signature], 1_614_265_330));
    assert!(!check(&[timestamp, signature], 1_614_265_330));
    assert!(!check(&[("webhook-id", ""), timestamp, signature], 1_614_265_330));
    assert!(!check(&[id, ("webhook-timestamp", "hello"), signature], 1_614_265_330));
    for other in ["v1,", "v1", "", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", &good[3..]] {
        assert!(!check(&[id, timestamp, ("webhook-signature", other)], 1_614_265_330), "{other}");
    }
}

/// Fixtures that were made with Svix' own signer.
#[test]
fn svix() {
    let body = br#"{"type":"user.created","object":"event","data":{"id":"user_1"}}"#;
    let check = |source: &str, prefix: &str, signature: &str| {
        let [id, timestamp, sig] = ["id", "timestamp", "signature"].map(|name| format!("{prefix}-{name}"));
        let headers = [(&*id, "msg_2abcDEF345ghiJKL678mnoPQR"), (&*timestamp, "1792411200"), (&*sig, signature)];
        let secrets = &["whsec_ZWZmZWN0ZWQtc3ZpeC10ZXN0LWtleS0wMTIzNDU2Nzg5"];
        Ring { secrets, now_s: 1_792_411_200, ..ring(source, &headers, body) }.passes()
    };
    let good = "v1,Tz/poI407oaz/Q8PArkY0fi+Tafe4SBLzm9ytroNr9U=";
    let rotated = format!("v1,Qoa9C5KBJvo4MLUm+L2yYKWE1BhnFjqQoIT//FSN2qg= v1a,abcd {good}");
    for signature in [good, &rotated] {
        assert!(check("svix", "svix", signature));
        assert!(check("standard-webhooks", "webhook", signature));
        assert!(!check("svix", "webhook", signature), "a named source reads its own headers only");
    }
    assert!(!check("svix", "svix", &good.replace("v1,", "v1a,")));
}

/// Scheme and secret of Linear's SDK tests.
#[test]
fn linear() {
    let body = concat!(
        r#"{"action":"create","data":{"id":"2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9"},"#,
        r#""type":"Comment","webhookTimestamp":1700000000000}"#
    );
    let signature = ("Linear-Signature", "00561a79305128a0c05f1c935beb81876ffcabbcf227818e1b53d293c2bd2f97");
    let check = |secret, headers: &[_]| {
        Ring { secrets: &[secret], now_s: 1_700_000_000, ..ring("linear", headers, body.as_bytes()) }.passes()
    };
    assert!(check("SECRET", &[signature]));
    assert!(!check("SECRETx", &[signature]));
    assert!(!check("SECRET", &[]));
}
