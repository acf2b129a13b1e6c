/// A primitive type by meaning. Parsing ignores case and spaces, as other implementations do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the type names of the table spec")]
pub enum Primitive {
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Decimal { precision: u32, scale: u32 },
    Date,
    Time,
    Timestamp,
    Timestamptz,
    TimestampNs,
    TimestamptzNs,
    String,
    Uuid,
    Fixed(u32),
    Binary,
    Unknown,
    Variant,
    Geometry,
    Geography,
}

impl Primitive {
    /// Reads a type name; `None` for a name that no format version up to 3 defines.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let name: String = name.chars().filter(|c| *c != ' ').collect::<String>().to_ascii_lowercase();
        Some(match name.as_str() {
            "boolean" => Self::Boolean,
            "int" => Self::Int,
            "long" => Self::Long,
            "float" => Self::Float,
            "double" => Self::Double,
            "date" => Self::Date,
            "time" => Self::Time,
            "timestamp" => Self::Timestamp,
            "timestamptz" => Self::Timestamptz,
            "timestamp_ns" => Self::TimestampNs,
            "timestamptz_ns" => Self::TimestamptzNs,
            "string" => Self::String,
            "uuid" => Self::Uuid,
            "binary" => Self::Binary,
            "unknown" => Self::Unknown,
            "variant" => Self::Variant,
            other => return Self::parameterised(other),
        })
    }

    fn parameterised(name: &str) -> Option<Self> {
        if name == "geometry" || (name.starts_with("geometry(") && name.ends_with(')')) {
            return Some(Self::Geometry);
        }
        if name == "geography" || (name.starts_with("geography(") && name.ends_with(')')) {
            return Some(Self::Geography);
        }
        if let Some(length) = name.strip_prefix("fixed[").and_then(|rest| rest.strip_suffix(']')) {
            return length.parse().ok().map(Self::Fixed);
        }
        let (precision, scale) = name.strip_prefix("decimal(")?.strip_suffix(')')?.split_once(',')?;
        let (precision, scale) = (precision.parse().ok()?, scale.parse().ok()?);
        (precision <= 38).then_some(Self::Decimal { precision, scale })
    }

    /// Lowest format version that has the type.
    #[must_use]
    pub fn format_version_min(self) -> u8 {
        match self {
            Self::Unknown
            | Self::TimestampNs
            | Self::TimestamptzNs
            | Self::Variant
            | Self::Geometry
            | Self::Geography => 3,
            _ => 1,
        }
    }
}
