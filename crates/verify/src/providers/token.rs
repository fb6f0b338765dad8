//! Providers that send the secret itself along. It proves who speaks; a changed body goes unnoticed.

use crate::scheme::{TokenForm, token};
use crate::source::{Source, body, header};

pub(super) fn rows() -> Vec<Source> {
    vec![
        // docs.gitlab.com, "Webhooks": the secret token of a hook.
        Source {
            event: vec![header("x-gitlab-event"), body("object_kind")],
            delivery: vec![header("x-gitlab-event-uuid")],
            ..Source::new("gitlab", "GitLab", token("x-gitlab-token", TokenForm::Plain))
        },
        Source::new("bearer", "Bearer token", token("authorization", TokenForm::Bearer)),
    ]
}
