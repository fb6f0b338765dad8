//! A node as a source of serde's data model.

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::Number;

use super::error::ReadError;
use crate::path::Step;
use crate::tree::{Entry, Item, Node, Value};

/// A node to read from.
pub(crate) struct Source<'n>(pub(crate) &'n Node);

type Read<T> = Result<T, ReadError>;

impl<'n> Source<'n> {
    /// The text of a scalar that was written as one, or that a variable was put into.
    fn text(&self) -> Option<&'n str> {
        match (&self.0.put_in, &self.0.value) {
            (Some(text), _) | (None, Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Into a type that says what it wants.
    fn visit_value<'de, V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        match &self.0.value {
            Value::Number(number) => visit_number(number, visitor),
            _ => self.deserialize_any(visitor),
        }
    }
}

macro_rules! numbers {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
            self.visit_value(visitor)
        })*
    };
}

/// Into a type that says which kind of number it wants.
fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Read<V::Value> {
    if let Some(n) = number.as_u64() {
        visitor.visit_u64(n)
    } else if let Some(n) = number.as_i64() {
        visitor.visit_i64(n)
    } else {
        visitor.visit_f64(number.as_f64().unwrap_or(f64::INFINITY))
    }
}

/// Into a type that takes anything: with every digit, so that what looks like a number and is a name stays that name.
fn visit_digits<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Read<V::Value> {
    number.deserialize_any(visitor).map_err(serde::de::Error::custom)
}

impl<'de> Deserializer<'de> for Source<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Truth(truth) => visitor.visit_bool(*truth),
            Value::Number(number) => visit_digits(number, visitor),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Members(items.iter())),
            Value::Map(entries) => visitor.visit_map(Entries { rest: entries.iter(), value: None }),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_f32 deserialize_f64 deserialize_bool
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        match self.text() {
            Some(text) => visitor.visit_str(text),
            None => self.visit_value(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        match self.0.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    /// `routes:` with nothing under it is an empty map: everything below may be commented out.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        match &self.0.value {
            Value::Null => visitor.visit_map(Entries { rest: [].iter(), value: None }),
            // A derived type would take the members of a list for its fields, one by one.
            Value::List(_) => Err(serde::de::Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.visit_value(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        match (&self.0.value, self.text()) {
            (_, Some(text)) => visitor.visit_enum(text.into_deserializer()),
            (Value::Map(entries), None) => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries { rest: entries.iter(), value: None }))
            }
            _ => self.visit_value(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Read<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        self.visit_value(visitor)
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier
    }
}

struct Members<'n>(std::slice::Iter<'n, Item>);

impl<'de> SeqAccess<'de> for Members<'_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Read<Option<T::Value>> {
        let Some(Item { index, node }) = self.0.next() else { return Ok(None) };
        let value = seed.deserialize(Source(node));
        value.map(Some).map_err(|error| error.inside(Step::Index(*index), node.at))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'n> {
    rest: std::slice::Iter<'n, Entry>,
    value: Option<&'n Entry>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    /// A key that the type does not know is at fault itself: the error points at the key and names it.
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Read<Option<K::Value>> {
        let Some(entry) = self.rest.next() else { return Ok(None) };
        self.value = Some(entry);
        let key = seed.deserialize(entry.key.as_str().into_deserializer());
        key.map(Some).map_err(|error: ReadError| error.inside(Step::Key(entry.key.clone()), entry.key_at))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Read<V::Value> {
        let entry = self.value.take().ok_or_else(|| serde::de::Error::custom("a value without its key"))?;
        let at = match entry.node.value {
            Value::Null | Value::List(_) | Value::Map(_) => entry.key_at,
            _ => entry.node.at,
        };
        seed.deserialize(Source(&entry.node)).map_err(|error| error.inside(Step::Key(entry.key.clone()), at))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}
