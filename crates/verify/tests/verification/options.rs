//! The sources that a route's `options` describe.

use std::time::Duration;

use doorbell_verify::sources;
use serde_json::{Value, json};

use crate::{NOW_S, Ring, SECRET, ring};

fn hmac(options: Value, secret: &str, headers: &[(&str, &str)], body: &[u8]) -> bool {
    Ring { options, secrets: &[secret], ..ring("hmac", headers, body) }.passes()
}

/// Values from the tests of Convoy and of adnanh's webhook server.
#[test]
fn published_signatures_of_other_gateways() {
    let convoy = concat!(
        "83306382f5361d35351d6de45998f23b52f40bcf96befe4e92f137c0f1bf4a71",
        "19388b238d8f9d502ac77e6f1a8849a4778272667ed88d530cac8050bd1fee2d"
    );
    let options = json!({"header": "X-Convoy-Signature", "algorithm": "sha512"});
    assert!(hmac(options, "Convoy", &[("X-Convoy-Signature", convoy)], b"Test Payload Body"));
    for (algorithm, prefix, digest) in [
        ("sha1", "sha1=", "b17e04cbb22afa8ffbff8796fc1894ed27badd9e"),
        ("sha256", "sha256=", "f417af3a21bd70379b5796d5f013915e7029f62c580fb0f500f59a35a6f04c89"),
    ] {
        let bare = json!({"header": "x-signature", "algorithm": algorithm});
        let prefixed = json!({"header": "x-signature", "algorithm": algorithm, "prefix": prefix});
        let with_prefix = format!("{prefix}{digest}");
        for (options, value, passes) in [
            (&bare, digest, true),
            (&bare, &*with_prefix, false),
            (&prefixed, &*with_prefix, true),
            (&prefixed, digest, false),
            (&bare, &*format!("XXX{}", &digest[3..]), false),
        ] {
            let verdict = hmac(options.clone(), "secret", &[("X-Signature", value)], br#"{"a": "z"}"#);
            assert_eq!(verdict, passes, "{options} {value}");
        }
    }
}

#[test]
fn every_algorithm_in_every_encoding() {
    for (algorithm, encoding, signature) in ALL {
        let options = json!({"algorithm": algorithm, "encoding": encoding, "signed": "<{header:x-id}|{body}>"});
        let headers = [("x-webhook-signature", *signature), ("x-id", "7")];
        assert!(hmac(options.clone(), SECRET, &headers, b"{}"), "{algorithm} in {encoding}");
        assert!(!hmac(options, SECRET, &[headers[0], ("x-id", "8")], b"{}"), "{algorithm} in {encoding}");
    }
}

#[test]
fn a_timestamp_header_is_signed_and_judged_by_default() {
    // SHA-256 over `1790000000.{}`.
    let headers = [("x-sig", V2_OVER_EMPTY_OBJECT), ("x-sent", "1790000000")];
    let options = json!({"header": "X-Sig", "timestamp_header": "X-Sent"});
    for (now_s, tolerance, passes) in [
        (NOW_S, None, true),
        (NOW_S + 300, None, true),
        (NOW_S + 301, None, false),
        (NOW_S - 301, None, false),
        (NOW_S + 30, Some(10), false),
        (NOW_S + 3000, Some(3600), true),
    ] {
        let tolerance = tolerance.map(Duration::from_secs);
        let ring = Ring { now_s, tolerance, options: options.clone(), ..ring("hmac", &headers, b"{}") };
        assert_eq!(ring.passes(), passes, "{now_s} {tolerance:?}");
    }
    let unlimited = Ring { now_s: 0, tolerance: Some(Duration::MAX), options, ..ring("hmac", &headers, b"{}") };
    assert!(unlimited.passes());
}

#[test]
fn a_secret_in_base64_or_hex() {
    let headers = [("x-webhook-signature", OVER_EMPTY_OBJECT)];
    for (encoding, secret) in [
        ("raw", SECRET),
        ("base64", "dGVzdC1zZWNyZXQtbm90LXJlYWw="),
        ("hex", "746573742d7365637265742d6e6f742d7265616c"),
    ] {
        assert!(hmac(json!({"secret_encoding": encoding}), secret, &headers, b"{}"), "{encoding}");
    }
    for encoding in ["base64", "hex"] {
        let complaint = Ring { options: json!({"secret_encoding": encoding}), ..ring("hmac", &[], b"") }.complaint();
        assert!(complaint.to_string().starts_with("secret: is not "), "{complaint}");
    }
}

#[test]
fn a_token_stands_in_any_header() {
    for (options, header) in [(Value::Null, "X-Webhook-Secret"), (json!({"header": "X-My-Key"}), "X-My-Key")] {
        let check =
            |name: &str, value| Ring { options: options.clone(), ..ring("token", &[(name, value)], b"") }.passes();
        assert!(check(header, SECRET));
        assert!(!check(header, "nope"));
        assert!(!check("X-Other", SECRET));
    }
}

#[test]
fn what_cannot_work_is_named() {
    for (source, options, complaint) in [
        ("hmac", json!({"heade": "x"}), "options.heade: source `hmac` has no such option; did you mean `header`?"),
        (
            "token",
            json!({"zzz": 1}),
            "options.zzz: source `token` has no such option; it takes header, id_header, event_header",
        ),
        ("github", json!({"header": "x"}), "options.header: source `github` takes no options"),
        ("auto", json!({"header": "x"}), "options.header: `auto` has only `secret_encoding`"),
        ("hmac", json!({"header": "a b"}), "options.header: must be the name of a header"),
        ("hmac", json!({"header": ""}), "options.header: must be text that is not empty"),
        ("hmac", json!({"prefix": 5}), "options.prefix: must be text that is not empty"),
        ("hmac", json!({"algorithm": "SHA256"}), "options.algorithm: must be one of `md5`, `sha1`, `sha256`"),
        ("hmac", json!({"encoding": "utf8"}), "options.encoding: must be one of `hex`, `base64`, `base64url`"),
        ("hmac", json!({"secret_encoding": "b64"}), "options.secret_encoding: must be one of `raw`, `base64`, `hex`"),
        (
            "hmac",
            json!({"timestamp_unit": "us", "timestamp_header": "x"}),
            "options.timestamp_unit: must be one of `s`, `ms`",
        ),
        ("hmac", json!({"timestamp_unit": "ms"}), "options.timestamp_unit: says how to read `timestamp_header`"),
        (
            "hmac",
            json!({"signed": "{timestamp}.{body}"}),
            "options.signed: uses `{timestamp}`: set `timestamp_header` too",
        ),
        ("hmac", json!({"signed": "{body}", "timestamp_header": "x"}), "options.signed: leaves out `{timestamp}`"),
        ("hmac", json!({"signed": "always the same"}), "options.signed: signs nothing of the request"),
        ("hmac", json!({"signed": "{bdy}"}), "options.signed: has `{bdy}`; known are `{body}`"),
        ("hmac", json!({"signed": "{body"}), "options.signed: has a `{` without its `}`"),
    ] {
        let found = Ring { options, ..ring(source, &[], b"") }.complaint().to_string();
        assert!(found.starts_with(complaint), "{found}");
    }
}

#[test]
fn a_timestamp_may_be_signed_by_the_name_of_its_header() {
    let options = json!({"timestamp_header": "X-Sent", "signed": "{header:x-sent}.{body}"});
    let headers = [("x-webhook-signature", V2_OVER_EMPTY_OBJECT), ("x-sent", "1790000000")];
    assert!(hmac(options, SECRET, &headers, b"{}"));
}

#[test]
fn every_option_of_a_row_is_explained() {
    for source in sources() {
        for setting in source.options {
            assert!(!setting.meaning.is_empty(), "{} {}", source.name, setting.key);
        }
    }
}

const OVER_EMPTY_OBJECT: &str = "d3b1dc8e96ea6e6966a683b282956036f47aa4791297b4998bd6cc8866ff81b2";
const V2_OVER_EMPTY_OBJECT: &str = "c803880720e2d30a94fb9e64aeb3f54e21e5ba8079cf9ccc3d978ea93a90fe89";

/// Signatures over `<7|{}>`, made with Python's standard library.
const ALL: &[(&str, &str, &str)] = &[
    ("md5", "hex", "526b8e848c361dc9d6e7f6abb0a7f9b9"),
    ("md5", "base64", "UmuOhIw2HcnW5/arsKf5uQ=="),
    ("md5", "base64url", "UmuOhIw2HcnW5_arsKf5uQ"),
    ("sha1", "hex", "12794255a5ac983d68cdd1e7efd936b1e0fa0530"),
    ("sha1", "base64", "EnlCVaWsmD1ozdHn79k2seD6BTA="),
    ("sha1", "base64url", "EnlCVaWsmD1ozdHn79k2seD6BTA"),
    ("sha256", "hex", "81597cbe6788f53c8edbc8fa40055937ab99c9dbdcac1454d5d289e56888b1d7"),
    ("sha256", "base64", "gVl8vmeI9TyO28j6QAVZN6uZydvcrBRU1dKJ5WiIsdc="),
    ("sha256", "base64url", "gVl8vmeI9TyO28j6QAVZN6uZydvcrBRU1dKJ5WiIsdc"),
    (
        "sha384",
        "hex",
        "1623377cb1dbc880b70e0234f9007ce6473198a0c71f0dbb7e046dab38334af07bc5deb947309094fb5e4e9a24325560",
    ),
    ("sha384", "base64", "FiM3fLHbyIC3DgI0+QB85kcxmKDHHw27fgRtqzgzSvB7xd65RzCQlPteTpokMlVg"),
    ("sha384", "base64url", "FiM3fLHbyIC3DgI0-QB85kcxmKDHHw27fgRtqzgzSvB7xd65RzCQlPteTpokMlVg"),
    (
        "sha512",
        "hex",
        "8f909c38cd5bf72f3cc51aaaf3376caf8f2aabcdc40a40f6b7fc3c58b7a7eae3358e6436f44a98dffa764dbad812eed45e5bff98cfec37d380f62798493f74aa",
    ),
    ("sha512", "base64", "j5CcOM1b9y88xRqq8zdsr48qq83ECkD2t/w8WLen6uM1jmQ29EqY3/p2TbrYEu7UXlv/mM/sN9OA9ieYST90qg=="),
    ("sha512", "base64url", "j5CcOM1b9y88xRqq8zdsr48qq83ECkD2t_w8WLen6uM1jmQ29EqY3_p2TbrYEu7UXlv_mM_sN9OA9ieYST90qg"),
];
