//! Lenient readers shared by the request types.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// Reads null as the default value; together with `#[serde(default)]` absent and null mean the same.
pub(crate) fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a field that is there, null or not; together with `#[serde(default)]` `None` means that it is absent.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}

/// Reads a boolean, the words `true` and `false` as text, or null as false.
pub(crate) fn boolean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct Visitor;

    impl de::Visitor<'_> for Visitor {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a boolean")
        }

        fn visit_bool<E: de::Error>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }

        fn visit_unit<E: de::Error>(self) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_str<E: de::Error>(self, value: &str) -> Result<bool, E> {
            match value {
                "true" => Ok(true),
                "false" | "" => Ok(false),
                _ => Err(E::invalid_value(de::Unexpected::Str(value), &self)),
            }
        }
    }

    deserializer.deserialize_any(Visitor)
}

/// Reads text, or a number written as text would be: old clients send both for one field.
pub(crate) struct TextOrNumber(pub String);

impl<'de> Deserialize<'de> for TextOrNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = TextOrNumber;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer")
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<TextOrNumber, E> {
                Ok(TextOrNumber(value.to_owned()))
            }

            fn visit_string<E: de::Error>(self, value: String) -> Result<TextOrNumber, E> {
                Ok(TextOrNumber(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<TextOrNumber, E> {
                Ok(TextOrNumber(value.to_string()))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<TextOrNumber, E> {
                Ok(TextOrNumber(value.to_string()))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}
