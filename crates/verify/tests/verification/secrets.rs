//! Secrets: rotation, forms, and those that cannot work.

use doorbell_verify::{Secret, Settings, SettingsError, Verifier, sign};
use serde_json::json;

use crate::{NOW_S, Ring, SECRET, ring};

#[test]
fn any_secret_of_a_rotation_passes_and_no_other() {
    let secrets = &["new-secret-123456", "old-secret-123456"];
    for (signer, passes) in [("new-secret-123456", true), ("old-secret-123456", true), (SECRET, false)] {
        let signature = sign::github(&Secret::new(signer), b"{}");
        let headers = [("X-Hub-Signature-256", &*signature), ("Authorization", &*format!("Bearer {signer}"))];
        for source in ["github", "bearer", "auto"] {
            assert_eq!(Ring { secrets, ..ring(source, &headers, b"{}") }.passes(), passes, "{source} {signer}");
        }
    }
}

#[test]
fn an_empty_secret_never_becomes_a_key() {
    for source in ["auto", "github", "gitlab", "bearer", "hmac", "svix"] {
        for secrets in [&[][..], &[""], &["  \n"], &["good", ""]] {
            assert_eq!(Ring { secrets, ..ring(source, &[], b"") }.complaint(), SettingsError::EmptySecret, "{source}");
        }
    }
}

#[test]
fn no_auth_stands_alone() {
    let open = Ring { secrets: &["INSECURE_NO_AUTH"], ..ring("auto", &[], b"") }.verifier().expect("open");
    assert!(open.is_open() && !open.needs_secret());
    let beside = Ring { secrets: &["INSECURE_NO_AUTH", "x"], ..ring("auto", &[], b"") }.complaint();
    assert!(matches!(beside, SettingsError::BadSecret { .. }), "{beside}");
    let none = Verifier::new(&Settings::of("none")).expect("no secret needed");
    assert!(none.is_open());
}

#[test]
fn an_open_route_keeps_the_names_of_its_provider() {
    let open = |source| Ring { secrets: &["INSECURE_NO_AUTH"], ..ring(source, &[], b"") }.verdict();
    assert_eq!(open("github"), Ok("github".to_owned()));
    assert_eq!(open("auto"), Ok("none".to_owned()));
}

#[test]
fn a_secret_pasted_with_its_version_is_named() {
    let secrets = &["v1,whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="];
    for source in ["standard-webhooks", "svix", "auto"] {
        let complaint = Ring { secrets, ..ring(source, &[], b"") }.complaint();
        assert!(complaint.to_string().contains("leave out `v1,`"), "{source}: {complaint}");
        assert!(!complaint.to_string().contains("MDEy"), "{complaint}");
    }
    assert!(Ring { secrets, ..ring("github", &[], b"") }.verifier().is_ok(), "elsewhere it is text like any other");
}

#[test]
fn a_whsec_secret_that_is_not_base64_is_refused_where_it_would_be_decoded() {
    for secret in ["whsec_not base64!", "whsec_MDEyMw", "whsec_"] {
        let secrets = &[secret];
        for source in ["standard-webhooks", "svix"] {
            let complaint = Ring { secrets, ..ring(source, &[], b"") }.complaint();
            assert!(complaint.to_string().contains("secret_encoding: raw"), "{source}: {complaint}");
        }
        let signature = sign::github(&Secret::new(secret), b"{}");
        assert!(Ring { secrets, ..ring("auto", &[("X-Hub-Signature-256", &signature)], b"{}") }.passes());
        let standard = sign::standard(&Secret::new(secret), "m", NOW_S, b"{}");
        let headers = [("webhook-id", "m"), ("webhook-timestamp", "1790000000"), ("webhook-signature", &*standard)];
        let reason = Ring { secrets, ..ring("auto", &headers, b"{}") }.reason();
        assert!(reason.contains("rest is not base64"), "{reason}");
    }
}

#[test]
fn secret_encoding_says_how_a_secret_is_written() {
    let base64 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let [prefixed, versioned] = ["whsec_", "v1,whsec_"].map(|prefix| format!("{prefix}{base64}"));
    let of_the_bytes = "v1,g8of5pIYERcA4Cala2tR0KU3/XBp6gQjhF0NlahpsME=";
    for (secret, encoding, signature) in [
        (base64, "base64", of_the_bytes),
        (&prefixed, "base64", of_the_bytes),
        (base64, "raw", "v1,/VEPphTBubKiJHMiZzxqmHTno6rIBsD6XrWtfdm9vz4="),
        (&prefixed, "raw", "v1,YkxI2n4I8rvq84waWgT9lojsRsRJuR8f0vVdV44tVhw="),
        (&versioned, "raw", "v1,lwuBPYqVI39P2q/NC6A+v2WHutIzMkl+O6cncawt4No="),
    ] {
        for source in ["standard-webhooks", "auto"] {
            let headers =
                [("webhook-id", "msg_1"), ("webhook-timestamp", "1790000000"), ("webhook-signature", signature)];
            let options = json!({ "secret_encoding": encoding });
            let verdict = Ring { secrets: &[secret], options, ..ring(source, &headers, b"{}") }.verdict();
            assert_eq!(verdict, Ok("standard-webhooks".to_owned()), "{secret} as {encoding}");
        }
    }
    let wrong = Ring { options: json!({"secret_encoding": "base64"}), ..ring("svix", &[], b"") }.complaint();
    assert_eq!(wrong.to_string(), "secret: is not base64, as `secret_encoding` says");
}

#[test]
fn basic_needs_a_user_and_a_password() {
    let complaint = ring("basic", &[], b"").complaint();
    assert_eq!(complaint.to_string(), "secret: must be `user:password` for Basic authentication");
}

#[test]
fn an_unknown_source_is_named_with_its_neighbour() {
    let complaint = ring("githib", &[], b"").complaint();
    assert_eq!(complaint, SettingsError::UnknownSource { name: "githib".to_owned(), nearest: Some("github") });
    assert_eq!(complaint.to_string(), "unknown source `githib`; did you mean `github`?");
    assert_eq!(ring("", &[], b"").complaint().to_string(), "unknown source ``; `doorbell sources` lists them all");
}

#[test]
fn a_verifier_prints_no_secret() {
    let verifier = ring("github", &[], b"").verifier().expect("github");
    assert_eq!(format!("{verifier:?}"), "Verifier { source: \"github\", .. }");
    let settings = Settings { secrets: vec![Secret::new(SECRET)], ..Settings::of("github") };
    assert!(!format!("{settings:?}").contains(SECRET));
}
