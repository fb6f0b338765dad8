//! The engine on schemes that no row uses yet: a provider is data, whatever its header looks like.

use serde_json::Map;

use super::Gate;
use crate::scheme::{Encoding, Hmac, KeyForm, Parse, Timestamp, TimestampPlace, hmac};
use crate::{Refused, Request, Secret, Settings, Source};

fn judge(scheme: Hmac, secret: &str, headers: &[(&str, &str)], body: &[u8], now_s: i64) -> Result<(), Refused> {
    let settings =
        Settings { secrets: vec![Secret::new(secret)], options: Map::new(), ..Settings::of("a provider of tomorrow") };
    let gate = Gate::locked(Source::new("tomorrow", "Tomorrow", scheme), &settings).expect("a sound scheme");
    let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    gate.check(&Request { headers: &headers, body }, now_s * 1000)
}

fn sign(secret: &str, signed: &[u8], encoding: Encoding) -> String {
    encoding.encode(&crate::scheme::Algorithm::Sha256.hmac(secret.as_bytes(), &[signed]))
}

fn stripe() -> Hmac {
    hmac("stripe-signature")
        .parse(Parse::KeyValue { separator: ",".into(), equals: "=".into(), signature: "v1".into() })
        .signed("{timestamp}.{body}")
        .timestamp(Timestamp::seconds([TimestampPlace::Field("t".into())]))
}

/// Stripe: inputs of the tests of its Go and Python libraries.
#[test]
fn stripe_shaped_timestamp_and_signatures_in_one_header() {
    let secret = "whsec_test_secret";
    let body = concat!(
        "{\n  \"id\": \"evt_test_webhook\",\n  \"object\": \"event\",\n  ",
        "\"data\": { \"object\": { \"id\": \"rdr_123\", \"object\": \"terminal.reader\" } }\n}"
    );
    let good = "07b1ede164afb7b5de91267ffa656f568c65d6e0783ce0ac55ee094643578eda";
    let other = "59e6e8306462e09454903d9b6c4cb12d95aecf6fe4deba61995a4447f6361a45";
    let check = |header: &str, body: &str, now| {
        judge(stripe(), secret, &[("stripe-signature", header)], body.as_bytes(), now).is_ok()
    };
    for header in [
        format!("t=12345,v1={good}"),
        format!("t=12345,v1={other},v1={good}"),
        format!("t=12345,v1={good},v1=bad_signature"),
        format!("t=12345, v1={good}, v0=zz"),
    ] {
        assert!(check(&header, body, 12345), "{header}");
    }
    assert!(check(&format!("t=12345,v1={good}"), body, 12645));
    assert!(!check(&format!("t=12345,v1={good}"), body, 12646));
    assert!(!check(&format!("t=12345,v1={good}"), &format!("{body}["), 12345));
    for header in [
        format!("t=12345,v0={good}"),
        format!("t=12346,v1={good}"),
        format!("v1={good}"),
        format!("t=12345,t=12345,v1={good}"),
        "t=12345,v1=6465616462656566".to_owned(),
        "t=12345,v1=".to_owned(),
    ] {
        assert!(!check(&header, body, 12345), "{header}");
    }
}

/// Slack: the published example of its Python library.
#[test]
fn slack_shaped_prefix_and_timestamp_in_its_own_header() {
    let slack = || {
        hmac("x-slack-signature")
            .prefix("v0=")
            .signed("v0:{timestamp}:{body}")
            .timestamp(Timestamp::seconds([TimestampPlace::Header("x-slack-request-timestamp".into())]))
    };
    let body = concat!(
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V",
        "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=",
        "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN",
        "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    );
    let signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
    let headers = [("x-slack-request-timestamp", "1531420618"), ("x-slack-signature", signature)];
    let check = |headers: &[_], body: &str, now| {
        judge(slack(), "8f742231b10e8888abcd99yyyzzz85a5", headers, body.as_bytes(), now)
    };
    assert_eq!(check(&headers, body, 1_531_420_618), Ok(()));
    assert!(check(&headers, &format!("{body}------"), 1_531_420_618).is_err());
    let late = check(&headers, body, 1_531_420_919).expect_err("301 s");
    assert!(late.reason.contains("header x-slack-request-timestamp is 301 s old"), "{late}");
    let untimed = check(&headers[1..], body, 1_531_420_618).expect_err("no timestamp");
    assert_eq!(untimed.reason, "there is no timestamp in header x-slack-request-timestamp");
}

#[test]
fn headers_with_a_fixed_value_must_be_there() {
    let versioned = || Hmac { require: vec![("x-version".into(), "1".into())], ..hmac("x-sig") };
    let signature = sign("secret", b"{}", Encoding::Hex);
    let check = |headers: &[(&str, &str)]| judge(versioned(), "secret", headers, b"{}", 0).is_ok();
    assert!(check(&[("x-sig", &signature), ("x-version", "1")]));
    for version in [&[][..], &[("x-version", "2")], &[("x-version", "1"), ("x-version", "1")]] {
        assert!(!check(&[&[("x-sig", signature.as_str())], version].concat()), "{version:?}");
    }
}

#[test]
fn a_list_or_an_optional_prefix_before_base64() {
    let good = sign("secret", b"{}", Encoding::Base64);
    let check = |parse: Parse, value: &str| {
        judge(hmac("x-sig").base64().parse(parse), "secret", &[("x-sig", value)], b"{}", 0).is_ok()
    };
    let list = || Parse::List { separator: ",".into(), prefix: "v1=".into() };
    assert!(check(list(), &format!("v1=AAAA, v1={good}")));
    assert!(!check(list(), &format!("v2={good}")));
    let optional = || Parse::OptionalPrefix("sha256=".into());
    assert!(check(optional(), &good) && check(optional(), &format!("sha256={good}")));
    assert!(!check(optional(), &format!("sha1={good}")));
}

#[test]
fn base64_must_be_canonical() {
    let scheme = || hmac("x-sig").base64();
    let good = sign("secret", b"{}", Encoding::Base64);
    let check = |value: &str| judge(scheme(), "secret", &[("x-sig", value)], b"{}", 0).is_ok();
    assert!(check(&good));
    // The last letter before the padding holds two bits that stand for nothing; only zero is canonical.
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let last = letters.find(&good[42..43]).expect("a letter of base64");
    for spare in 1..4 {
        let twin = format!("{}{}=", &good[..42], &letters[last + spare..=last + spare]);
        assert!(!check(&twin), "{twin}");
    }
    assert!(!check(good.trim_end_matches('=')));
}

#[test]
fn a_timestamp_in_a_nested_field_of_the_body() {
    let scheme = || hmac("x-sig").timestamp(Timestamp::millis([TimestampPlace::Body("meta.sent".into())]));
    let check = |body: &[u8]| {
        let signature = sign("secret", body, Encoding::Hex);
        judge(scheme(), "secret", &[("x-sig", &signature)], body, 1_790_000_000).map_err(|refused| refused.reason)
    };
    assert_eq!(check(br#"{"meta":{"sent":1790000000000}}"#), Ok(()));
    assert_eq!(check(br#"{"meta":{"sent":"1790000000000"}}"#), Ok(()));
    for body in [r#"{"meta":{"sent":null}}"#, "{}", "[1]", "no JSON", ""] {
        assert_eq!(check(body.as_bytes()), Err("there is no timestamp in body field meta.sent".to_owned()), "{body}");
    }
    for sent in ["1790000000000.0", "1.79e12", "-1", "true", "[1790000000000]", "\" 1790000000000\"", "\"\""] {
        let body = format!(r#"{{"meta":{{"sent":{sent}}}}}"#);
        assert!(check(body.as_bytes()).is_err_and(|why| why.contains("whole number of digits")), "{sent}");
    }
}

#[test]
fn a_key_in_base64_or_hex() {
    let signature = sign("key", b"{}", Encoding::Hex);
    for (form, secret) in [(KeyForm::Hex, "6b6579"), (KeyForm::Base64("".into()), "a2V5"), (KeyForm::Raw, "key")] {
        assert_eq!(judge(hmac("x-sig").key(form), secret, &[("x-sig", &signature)], b"{}", 0), Ok(()), "{secret}");
    }
}
