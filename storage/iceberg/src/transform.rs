//! Partition and sort transforms. Unknown names are kept and never refused: a newer writer may use them.

use crate::schema::Primitive;

/// A transform by meaning; the text stays in the field that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// The value itself.
    Identity,
    /// Hash modulo N.
    Bucket(u32),
    /// Value cut to a width.
    Truncate(u32),
    /// Years from 1970.
    Year,
    /// Months from 1970.
    Month,
    /// Days from 1970.
    Day,
    /// Hours from 1970.
    Hour,
    /// Always null: a dropped field.
    Void,
    /// A name this crate does not know.
    Unknown,
}

impl Transform {
    /// Reads a transform, ignoring case.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.to_ascii_lowercase();
        let width = |name: &str| {
            let inner = text.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
            inner.parse::<u32>().ok().filter(|n| *n > 0)
        };
        match text.as_str() {
            "identity" => Self::Identity,
            "year" => Self::Year,
            "month" => Self::Month,
            "day" => Self::Day,
            "hour" => Self::Hour,
            "void" => Self::Void,
            _ => match (width("bucket"), width("truncate")) {
                (Some(n), _) => Self::Bucket(n),
                (_, Some(w)) => Self::Truncate(w),
                _ => Self::Unknown,
            },
        }
    }

    /// Whether values of a primitive type can be transformed. Unknown transforms take anything.
    #[must_use]
    pub fn takes(self, source: Primitive) -> bool {
        use Primitive as P;
        let timestamp = matches!(source, P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs);
        match self {
            Self::Void | Self::Unknown => true,
            Self::Identity => !matches!(source, P::Variant | P::Geometry | P::Geography),
            Self::Bucket(_) => {
                timestamp
                    || matches!(
                        source,
                        P::Int
                            | P::Long
                            | P::Decimal { .. }
                            | P::Date
                            | P::Time
                            | P::String
                            | P::Uuid
                            | P::Fixed(_)
                            | P::Binary
                            | P::Unknown
                    )
            }
            Self::Truncate(_) => {
                matches!(source, P::Int | P::Long | P::Decimal { .. } | P::String | P::Binary | P::Unknown)
            }
            Self::Year | Self::Month | Self::Day => timestamp || matches!(source, P::Date | P::Unknown),
            Self::Hour => timestamp || source == P::Unknown,
        }
    }
}
