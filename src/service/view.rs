//! Typed views of answers.
//!
//! Callers get the JSON of the service as it came. Logic reads a view of it, in which every field has a default: a
//! field that is missing, or whose value has an unexpected type, becomes its default, and a list or map keeps the
//! entries that can be read. So no surprise of the service fails a call.

use std::{collections::BTreeMap, fmt::Formatter};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
    forward_to_deserialize_any,
};
use serde_json::{Map, Number, Value};

/// A type that is read from any JSON value.
///
/// The fields of a struct are read by `lenient`:
///
/// ```ignore
/// #[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
/// #[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
/// struct Player { name: String, steps: Vec<Step> }
///
/// objects!(Player);
/// ```
pub trait View: DeserializeOwned + Default {
    /// Reads the value. Returns `None` if it has an unexpected type.
    fn read<'de, D: Deserializer<'de>>(value: D) -> Option<Self> {
        Self::deserialize(value).ok()
    }
}

/// Reads a struct with lenient fields. Returns `None` if the value is not an object.
pub(crate) fn read_object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(value: D) -> Option<T> {
    T::deserialize(Object(value)).ok()
}

/// A deserializer, or the visitor that it gets, of a struct that is an object in JSON. Derived structs read lists too.
struct Object<T>(T);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Object<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Object(visitor))
    }

    // A flattened struct takes its fields from those of the object around it.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Object(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Object<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(fields)
    }
}

/// Returns the view `T` of a value that is in memory: its default if the value has an unexpected type.
pub fn view<'de, T: View>(value: impl Deserializer<'de>) -> T {
    T::read(value).unwrap_or_default()
}

/// Reads a field of a view. Only for values that are in memory: after an error, a parser would continue in the middle
/// of the value.
#[expect(clippy::unnecessary_wraps, reason = "the signature that serde expects")]
pub(crate) fn lenient<'de, T: View, D: Deserializer<'de>>(value: D) -> Result<T, D::Error> {
    Ok(T::read(value).unwrap_or_default())
}

/// Declares structs with lenient fields as views.
macro_rules! objects {
    ($($object:ty),+ $(,)?) => {
        $(impl $crate::service::view::View for $object {
            fn read<'de, D: serde::Deserializer<'de>>(value: D) -> Option<Self> {
                $crate::service::view::read_object(value)
            }
        })+
    };
}
pub(crate) use objects;

impl View for bool {}
impl View for String {}
impl View for Value {}
impl View for Map<String, Value> {}

/// An entry that may have an unexpected type.
struct Entry<T>(Option<T>);

impl<'de, T: View> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        Ok(Self(T::read(value)))
    }
}

impl<T: View> View for Option<T> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Option<Self> {
        let value = Option::<Entry<T>>::deserialize(value).ok()?;
        Some(value.and_then(|value| value.0))
    }
}

impl<T: View> View for Box<T> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Option<Self> {
        T::read(value).map(Self::new)
    }
}

impl<T: View> View for Vec<T> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Option<Self> {
        let entries = Vec::<Entry<T>>::deserialize(value).ok()?;
        Some(entries.into_iter().filter_map(|entry| entry.0).collect())
    }
}

impl<T: View> View for BTreeMap<String, T> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Option<Self> {
        let entries = BTreeMap::<String, Entry<T>>::deserialize(value).ok()?;
        Some(entries.into_iter().filter_map(|(name, entry)| Some((name, entry.0?))).collect())
    }
}

/// Reads a number, also from its text.
fn number<'de, D: Deserializer<'de>>(value: D) -> Option<Number> {
    match Value::deserialize(value).ok()? {
        Value::Number(number) => Some(number),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

impl View for f64 {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Option<Self> {
        number(value)?.as_f64()
    }
}

macro_rules! integers {
    ($($integer:ty),+) => {
        $(impl View for $integer {
            fn read<'de, D: Deserializer<'de>>(value: D) -> Option<Self> {
                let number = number(value)?;
                // Some services write integers as `3.0`.
                let whole = || number.as_f64().filter(|float| float.fract() == 0.0);
                let integer = number.as_i128().or_else(|| format!("{:.0}", whole()?).parse().ok())?;
                integer.try_into().ok()
            }
        })+
    };
}
integers!(u8, u16, u32, u64, usize, i64);
