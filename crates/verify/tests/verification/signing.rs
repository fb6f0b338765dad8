//! What we sign ourselves, and what we hide.

use doorbell_verify::{Secret, mask, sign, source};

use crate::{SECRET, headers};

#[test]
fn our_signatures_are_those_of_the_protocols() {
    let docs = Secret::new("It's a Secret to Everybody");
    let wanted = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    assert_eq!(sign::github(&docs, b"Hello, World!"), wanted);
    assert_eq!(sign::hermes(&docs, b"Hello, World!"), wanted);
    let whsec = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    assert_eq!(
        sign::standard(&whsec, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b"{\"test\": 2432232314}"),
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    );
    assert_eq!(
        sign::standard(&Secret::new("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="), "msg_1", 1_790_000_000, b"{}"),
        "v1,/VEPphTBubKiJHMiZzxqmHTno6rIBsD6XrWtfdm9vz4=",
        "a secret without `whsec_` is used as it stands"
    );
}

#[test]
fn credentials_and_secrets_are_masked_and_nothing_else() {
    let pairs = [
        ("Authorization", "Bearer other"),
        ("Proxy-Authorization", "Basic dTpw"),
        ("Cookie", "a=b"),
        ("X-Gitlab-Token", "of an older rotation"),
        ("X-Copied", SECRET),
        ("X-Copied", " test-secret-not-real "),
        ("X-Hub-Signature-256", "sha256=00"),
        ("X-Empty", ""),
    ];
    let masked = |name: &str| {
        let mut headers = headers(&pairs);
        mask(source(name).expect("a row"), &[Secret::new(SECRET), Secret::new("")], &mut headers);
        headers.into_iter().filter(|(_, value)| value == "***").map(|(name, _)| name).collect::<Vec<_>>()
    };
    let always = ["authorization", "proxy-authorization", "cookie", "x-copied", "x-copied"];
    assert_eq!(masked("github"), always);
    assert_eq!(masked("gitlab"), [&always[..3], &["x-gitlab-token"], &always[3..]].concat());
}
