//! The part of a path that names something.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::problem::{Kind, Problem};

/// An id, or a route's name, as it stands in the path.
pub(super) struct Id(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Id, Problem> {
        let Path(id) = Path::from_request_parts(parts, state).await.map_err(|_| {
            Problem::new(Kind::NotFound, "the path is not UTF-8 when it is decoded; no id and no name is like that")
        })?;
        Ok(Id(id))
    }
}
