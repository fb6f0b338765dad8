//! The rule of schemas: numbered steps, forward only. A step that earlier versions can live with leaves `min_reader` where it
//! was, so that nodes of two versions can share a ledger while they are replaced one by one.

use crate::Error;

/// Whether a version that knows the first `known` steps may use a ledger of schema `have`. `min_reader` is the least that
/// whoever wrote it says one must know; without a word of that, all of it.
pub(crate) fn may_use(have: i64, min_reader: Option<i64>, known: usize) -> Result<(), Error> {
    let least = min_reader.unwrap_or(have).min(have);
    if usize::try_from(least).is_ok_and(|least| least <= known) {
        return Ok(());
    }
    Err(Error::Unavailable(format!(
        "the ledger has schema {have}, this doorbell knows {known}; run the newer doorbell that wrote it"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_schema_is_used_where_it_says_that_it_can_be() {
        for (have, min_reader) in [(0, None), (2, None), (2, Some(2)), (3, Some(2)), (9, Some(1))] {
            assert_eq!(may_use(have, min_reader, 2), Ok(()), "{have} {min_reader:?}");
        }
        for (have, min_reader) in [(3, None), (3, Some(3)), (9, Some(4)), (-1, None)] {
            let refusal = may_use(have, min_reader, 2).unwrap_err().to_string();
            assert!(refusal.contains(&format!("schema {have}")) && refusal.contains("newer doorbell"), "{refusal}");
        }
    }
}
