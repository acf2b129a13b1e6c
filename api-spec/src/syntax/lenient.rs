//! Lenient readers shared by the request types.

use std::fmt;
use std::marker::PhantomData;

use serde::de::IntoDeserializer;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};

/// A value read from an object and from nothing else: derived readers would take a list of the fields too.
pub(crate) struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(Visitor(PhantomData))
    }
}

/// Whether something that nobody looks at is an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IsObject(pub bool);

impl<'de> Deserialize<'de> for IsObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = IsObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<IsObject, A::Error> {
                de::IgnoredAny.visit_map(map).map(|_| IsObject(true))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<IsObject, A::Error> {
                de::IgnoredAny.visit_seq(seq).map(|_| IsObject(false))
            }

            fn visit_bool<E>(self, _: bool) -> Result<IsObject, E> {
                Ok(IsObject(false))
            }

            fn visit_i64<E>(self, _: i64) -> Result<IsObject, E> {
                Ok(IsObject(false))
            }

            fn visit_u64<E>(self, _: u64) -> Result<IsObject, E> {
                Ok(IsObject(false))
            }

            fn visit_f64<E>(self, _: f64) -> Result<IsObject, E> {
                Ok(IsObject(false))
            }

            fn visit_str<E>(self, _: &str) -> Result<IsObject, E> {
                Ok(IsObject(false))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// Reads an object; see [`Object`].
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// Reads an object or null.
pub(crate) fn object_or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::<Object<T>>::deserialize(deserializer).map(|read| read.map(|Object(value)| value))
}

/// Reads a list of objects; null is an empty one.
pub(crate) fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let read = Option::<Vec<Object<T>>>::deserialize(deserializer)?;
    Ok(read.unwrap_or_default().into_iter().map(|Object(value)| value).collect())
}

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

/// Options that are read under two spellings: as the contract has them, and without the prefix.
const SPELLINGS: [(&str, &str); 3] = [
    ("isDryRun", "dryRun"),
    ("isFetchAdditionalInfo", "fetchAdditionalInfo"),
    ("isReturnConflictAsResult", "returnConflictAsResult"),
];

/// A request with options of two spellings. Both may stand in it when they agree: clients that know of servers with either
/// send both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EitherSpelling<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for EitherSpelling<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
            type Value = EitherSpelling<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<EitherSpelling<T>, A::Error> {
                let spelled = Spelled { map, seen: [None; SPELLINGS.len()], value: None };
                T::deserialize(MapAccessDeserializer::new(spelled)).map(EitherSpelling)
            }
        }

        deserializer.deserialize_map(Visitor(PhantomData))
    }
}

/// An object whose options have one spelling, and of which those that are said again under the other one are left out.
struct Spelled<A> {
    map: A,
    /// The options said so far: whether without the prefix, and what.
    seen: [Option<(bool, bool)>; SPELLINGS.len()],
    /// The option whose turn it is.
    value: Option<bool>,
}

impl<'de, A: de::MapAccess<'de>> de::MapAccess<'de> for Spelled<A> {
    type Error = A::Error;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(name) = self.map.next_key::<String>()? {
            let of = |((full, bare), _): &(&(&str, &str), _)| name == *full || name == *bare;
            let Some(((full, bare), seen)) = SPELLINGS.iter().zip(&mut self.seen).find(of) else {
                return seed.deserialize(name.into_deserializer()).map(Some);
            };
            let Boolean(value) = self.map.next_value()?;
            match seen.replace((name == *bare, value)) {
                Some((is_bare, before)) if is_bare != (name == *bare) => {
                    if before != value {
                        let told =
                            format!("'{full}' and '{bare}' are two spellings of one option, and contradict");
                        return Err(de::Error::custom(told));
                    }
                }
                _ => {
                    self.value = Some(value);
                    return seed.deserialize(full.into_deserializer()).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value.into_deserializer()),
            None => self.map.next_value_seed(seed),
        }
    }
}

/// A boolean read with [`boolean`].
struct Boolean(bool);

impl<'de> Deserialize<'de> for Boolean {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        boolean(deserializer).map(Self)
    }
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
