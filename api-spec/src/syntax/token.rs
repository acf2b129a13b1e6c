//! Page tokens: opaque to clients, a version byte and fields to us, written in hexadecimal digits.

/// Longest token read, in characters: a key of 500 UTF-16 units, a hash and some room.
pub const TOKEN_CHARS_MAX: usize = 8_192;

const VERSION: u8 = 1;

/// What a page resumes from. Layout: version (1 byte), kind (1 byte), then per field its length (2 bytes, big
/// endian) and its bytes. The kind keeps a token of one listing from being read by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    kind: u8,
    fields: Vec<Vec<u8>>,
}

/// Text that is no token of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// More than [`TOKEN_CHARS_MAX`] characters.
    #[error("A page token must not be longer than {TOKEN_CHARS_MAX} characters.")]
    TooLong,
    /// A character that is no hexadecimal digit.
    #[error("Illegal hex character '{0}'")]
    Digit(char),
    /// Anything else.
    #[error("Invalid token string representation")]
    Malformed,
}

impl Token {
    /// Starts a token of a listing.
    pub fn new(kind: u8) -> Self {
        Self { kind, fields: Vec::new() }
    }

    /// Appends a field; bytes beyond 65,535 are cut off, far more than a key or hash can have.
    #[must_use]
    pub fn with(mut self, field: impl Into<Vec<u8>>) -> Self {
        let mut field = field.into();
        field.truncate(usize::from(u16::MAX));
        self.fields.push(field);
        self
    }

    /// The field at a place.
    pub fn field(&self, place: usize) -> Option<&[u8]> {
        self.fields.get(place).map(Vec::as_slice)
    }

    /// The field at a place as text; [`TokenError::Malformed`] when it is absent or no UTF-8.
    pub fn text(&self, place: usize) -> Result<&str, TokenError> {
        self.field(place).and_then(|bytes| std::str::from_utf8(bytes).ok()).ok_or(TokenError::Malformed)
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// True when there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Writes the token.
    pub fn encode(&self) -> String {
        let mut bytes = vec![VERSION, self.kind];
        for field in &self.fields {
            // `with` keeps every field within 16 bits.
            let length = u16::try_from(field.len()).unwrap_or(u16::MAX);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(field);
        }
        hex::encode(bytes)
    }

    /// Reads a token of the given kind.
    pub fn decode(text: &str, kind: u8) -> Result<Self, TokenError> {
        if text.len() > TOKEN_CHARS_MAX {
            return Err(TokenError::TooLong);
        }
        if text.len() % 2 == 1 {
            return Err(TokenError::Malformed);
        }
        if let Some(bad) = text.chars().find(|c| !c.is_ascii_hexdigit()) {
            return Err(TokenError::Digit(bad));
        }
        let bytes = hex::decode(text).map_err(|_| TokenError::Malformed)?;
        let mut rest = match bytes.split_first_chunk::<2>() {
            Some((head, rest)) if *head == [VERSION, kind] => rest,
            _ => return Err(TokenError::Malformed),
        };
        let mut fields = Vec::new();
        while !rest.is_empty() {
            let (length, tail) = rest.split_first_chunk::<2>().ok_or(TokenError::Malformed)?;
            let length = usize::from(u16::from_be_bytes(*length));
            let (field, tail) = tail.split_at_checked(length).ok_or(TokenError::Malformed)?;
            fields.push(field.to_vec());
            rest = tail;
        }
        Ok(Self { kind, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_and_kind() {
        assert_eq!(Token::decode(&"0".repeat(TOKEN_CHARS_MAX + 1), b'e'), Err(TokenError::TooLong));
        let token = Token::new(b'e').with("cafebabe").with("db.t\u{1d}1").with(Vec::new());
        let text = token.encode();
        assert_eq!(Token::decode(&text, b'e').unwrap(), token);
        assert_eq!(token.text(1), Ok("db.t\u{1d}1"));
        assert_eq!(Token::decode(&text, b'd'), Err(TokenError::Malformed));
    }

    #[test]
    fn malformed_ones_are_refused() {
        assert_eq!(Token::decode("zz", 1).unwrap_err().to_string(), "Illegal hex character 'z'");
        assert_eq!(Token::decode(" ", 1).unwrap_err().to_string(), "Invalid token string representation");
        for bad in ["", "01", "0101", "010100", "01010001", "0201"] {
            let decoded = Token::decode(bad, 1);
            assert!(decoded == Err(TokenError::Malformed) || bad == "0101", "{bad}");
        }
        assert!(Token::decode("0101", 1).unwrap().is_empty());
    }
}
