//! Types of expressions, known before anything is evaluated, and which functions take which.
//!
//! As in the reference server: equality takes any two types, everything else only what a signature says. Nothing turns one
//! number into another by itself.

use super::schema::Field;

/// Type of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// Not known before evaluation; fits everywhere.
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    /// A moment.
    Time,
    /// A duration.
    Span,
    /// A type, as a value.
    Kind,
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    /// An object with exactly these fields.
    Object(&'static [Field]),
}

impl Type {
    pub(super) fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Box::new(key), Box::new(value))
    }

    /// Whether a value of the type `other` can stand where this one is wanted, or may turn out to.
    pub(super) fn takes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Time | Self::Span | Self::Object(_), Self::Null) => true,
            (Self::List(wanted), Self::List(found)) => wanted.takes(found),
            (Self::Map(key, value), Self::Map(found_key, found)) => {
                key.takes(found_key) && value.takes(found)
            }
            (wanted, found) => wanted == found,
        }
    }

    /// The type of either of two values, the one that says more; none where they do not agree.
    pub(super) fn either(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Any, known) | (known, Self::Any) => Some(known),
            (Self::List(one), Self::List(other)) => one.either(*other).map(Self::list),
            (Self::Map(key, value), Self::Map(other_key, other)) => {
                Some(Self::map(key.either(*other_key)?, value.either(*other)?))
            }
            (one, other) if one.takes(&other) => Some(one),
            (one, other) if other.takes(&one) => Some(other),
            _ => None,
        }
    }

    /// The common type of the elements of a literal.
    pub(super) fn common(elements: impl IntoIterator<Item = Self>) -> Self {
        let mut elements = elements.into_iter();
        let Some(first) = elements.next() else { return Self::Any };
        if elements.all(|other| other == first) { first } else { Self::Any }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("dyn"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Uint => f.write_str("uint"),
            Self::Double => f.write_str("double"),
            Self::Text => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Time => f.write_str("timestamp"),
            Self::Span => f.write_str("duration"),
            Self::Kind => f.write_str("type"),
            Self::List(of) => write!(f, "list({of})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Object(_) => f.write_str("object"),
        }
    }
}

/// Signatures of functions: a letter for each argument, and one for the result. Where a list, a map or any value stands,
/// its parts do not matter; functions for which they do are in [`generic`].
const SIGNATURES: &[(&str, &[&str])] = &[
    ("_+_", &["iii", "uuu", "ddd", "sss", "yyy", "tpt", "ptt", "ppp"]),
    ("_-_", &["iii", "uuu", "ddd", "ttp", "tpt", "ppp"]),
    ("_*_", &["iii", "uuu", "ddd"]),
    ("_/_", &["iii", "uuu", "ddd"]),
    ("_%_", &["iii", "uuu"]),
    ("-_", &["ii", "dd"]),
    ("!_", &["bb"]),
    ("_&&_", &["bbb"]),
    ("_||_", &["bbb"]),
    ("@not_strictly_false", &["bb"]),
    ("_==_", &["**b"]),
    ("_!=_", &["**b"]),
    ("_<_", COMPARED),
    ("_<=_", COMPARED),
    ("_>_", COMPARED),
    ("_>=_", COMPARED),
    ("size", SIZED),
    ("dyn", &["**"]),
    ("type", &["*k"]),
    ("bool", &["bb", "sb"]),
    ("bytes", &["yy", "sy"]),
    ("double", &["dd", "id", "ud", "sd"]),
    ("duration", &["sp", "pp"]),
    ("int", &["ii", "ui", "di", "si", "ti", "pi"]),
    ("string", &["ss", "bs", "is", "us", "ds", "ys", "ts", "ps", "ns"]),
    ("timestamp", &["st", "it", "tt"]),
    ("uint", &["uu", "iu", "du", "su"]),
    // The parser makes it of the method `matches`.
    ("@matches", &["ssb"]),
];

/// Signatures of methods, the receiver first.
const METHODS: &[(&str, &[&str])] = &[
    ("contains", &["ssb"]),
    ("endsWith", &["ssb"]),
    ("startsWith", &["ssb"]),
    ("size", SIZED),
    ("getDate", OF_TIME),
    ("getDayOfMonth", OF_TIME),
    ("getDayOfWeek", OF_TIME),
    ("getDayOfYear", OF_TIME),
    ("getFullYear", OF_TIME),
    ("getMonth", OF_TIME),
    ("getHours", OF_BOTH),
    ("getMilliseconds", OF_BOTH),
    ("getMinutes", OF_BOTH),
    ("getSeconds", OF_BOTH),
];

const COMPARED: &[&str] = &["bbb", "iib", "uub", "ddb", "ssb", "yyb", "ttb", "ppb"];
const SIZED: &[&str] = &["si", "yi", "li", "mi"];
const OF_TIME: &[&str] = &["ti", "tsi"];
const OF_BOTH: &[&str] = &["ti", "tsi", "pi"];

fn of_letter(letter: char) -> Type {
    match letter {
        'n' => Type::Null,
        'b' => Type::Bool,
        'i' => Type::Int,
        'u' => Type::Uint,
        'd' => Type::Double,
        's' => Type::Text,
        'y' => Type::Bytes,
        't' => Type::Time,
        'p' => Type::Span,
        'k' => Type::Kind,
        'l' => Type::list(Type::Any),
        'm' => Type::map(Type::Any, Type::Any),
        _ => Type::Any,
    }
}

/// The type of a call; the receiver of a method is the first argument. The error is the words of the problem.
pub(super) fn of_call(name: &str, is_method: bool, arguments: &[Type]) -> Result<Type, String> {
    if let Some(result) = generic(name, arguments) {
        return result.ok_or_else(|| no_match(name, arguments));
    }
    let table = if is_method { METHODS } else { SIGNATURES };
    let Some((_, signatures)) = table.iter().find(|(known, _)| *known == name) else {
        let known = METHODS.iter().chain(SIGNATURES).any(|(known, _)| *known == name);
        let is_known = known || name == "matches";
        return Err(if is_known { no_match(name, arguments) } else { undeclared(name) });
    };
    let mut results = signatures.iter().filter_map(|signature| {
        let mut letters = signature.chars();
        let result = of_letter(letters.next_back()?);
        let fits = arguments.iter().all(|found| letters.next().is_some_and(|of| of_letter(of).takes(found)));
        (fits && letters.next().is_none()).then_some(result)
    });
    let first = results.next().ok_or_else(|| no_match(name, arguments))?;
    Ok(if results.all(|other| other == first) { first } else { Type::Any })
}

/// Functions whose result depends on the parts of their arguments: the outer option is whether it is one.
fn generic(name: &str, arguments: &[Type]) -> Option<Option<Type>> {
    Some(match (name, arguments) {
        ("_+_", [one @ Type::List(_), other @ Type::List(_)]) => one.clone().either(other.clone()),
        ("_?_:_", [Type::Bool | Type::Any, one, other]) => one.clone().either(other.clone()),
        ("_?_:_", _) => None,
        ("_[_]", [Type::List(element), Type::Int | Type::Any]) => Some((**element).clone()),
        ("_[_]", [Type::Map(key, value), index]) if key.takes(index) => Some((**value).clone()),
        ("_[_]", [Type::Any, _]) => Some(Type::Any),
        ("_[_]", _) => None,
        ("@in", [one, Type::List(of)]) if of.takes(one) => Some(Type::Bool),
        ("@in", [one, Type::Map(of, _)]) if of.takes(one) => Some(Type::Bool),
        ("@in", [_, Type::Any]) => Some(Type::Bool),
        ("@in", _) => None,
        _ => return None,
    })
}

fn no_match(name: &str, arguments: &[Type]) -> String {
    let found: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    format!(
        "found no matching overload for '{}' applied to '({})'",
        name.trim_start_matches('@'),
        found.join(", ")
    )
}

/// What is said of a name that nothing has.
pub(super) fn undeclared(name: &str) -> String {
    format!("undeclared reference to '{name}'")
}
