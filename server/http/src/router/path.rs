//! A raw path cut into segments, and the places of parameters in it.

use crate::limits::SEGMENTS_MAX;

/// Place of a parameter in the raw path. The empty span stands for a parameter that the path does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The text at this place of `path`, still percent-encoded; empty when the place is not in it.
    pub fn of(self, path: &str) -> &str {
        path.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// Places of the parameters that a route found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// `{ref}`, `{branch}`, `{from}`, `{name}` of a v1 reference: Nessie reference, with raw slashes perhaps; on
    /// Iceberg the reference before `v1`.
    pub reference: Span,
    /// `{to}`: the right side of a diff.
    pub to: Span,
    /// `{type}`: `branch` or `tag` of Nessie v1.
    pub kind: Span,
    /// `{key}`, and `{name}` of a v1 namespace.
    pub key: Span,
    /// `{prefix}` of Iceberg.
    pub prefix: Span,
    /// `{namespace}` of Iceberg.
    pub namespace: Span,
    /// `{table}` or `{view}` of Iceberg, `{id}` of an import.
    pub name: Span,
}

/// The non-empty segments of a raw path: doubled slashes and one at the end leave no trace.
pub(super) struct Segments<'p> {
    path: &'p str,
    parts: [&'p str; SEGMENTS_MAX],
    count: usize,
}

impl<'p> Segments<'p> {
    /// Cuts `path`; `None` when it has more than [`SEGMENTS_MAX`] segments. Under `/api` a dot stands for the place
    /// where it is and two dots for the one above (RFC 3986, 5.2.4), encoded or not; elsewhere they are names.
    pub fn split(path: &'p str) -> Option<Self> {
        let mut parts = [""; SEGMENTS_MAX];
        let mut count = 0usize;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let has_dots = matches!(parts.first(), Some(&"api"));
            match dots(part) {
                1 if has_dots => {}
                2 if has_dots => count = count.saturating_sub(1),
                _ => {
                    *parts.get_mut(count)? = part;
                    count += 1;
                }
            }
        }
        Some(Segments { path, parts, count })
    }

    /// The segments in order.
    pub fn parts(&self) -> &[&'p str] {
        self.parts.get(..self.count).unwrap_or(&[])
    }

    /// Place of one part of this path.
    pub fn at(&self, part: &str) -> Span {
        let start = (part.as_ptr() as usize).saturating_sub(self.path.as_ptr() as usize);
        Span { start: start as u32, end: (start + part.len()) as u32 }
    }

    /// Place of neighbouring segments with the slashes between them.
    pub fn over(&self, run: &[&str]) -> Span {
        match (run.first(), run.last()) {
            (Some(first), Some(last)) => Span { start: self.at(first).start, end: self.at(last).end },
            _ => Span::default(),
        }
    }
}

/// How many dots a segment is; 0 when it holds anything else.
fn dots(part: &str) -> usize {
    let mut rest = part;
    let mut count = 0;
    while !rest.is_empty() {
        let next = rest.strip_prefix('.').or_else(|| {
            rest.split_at_checked(3)
                .filter(|(code, _)| code.eq_ignore_ascii_case("%2E"))
                .map(|(_, rest)| rest)
        });
        match next {
            Some(next) => rest = next,
            None => return 0,
        }
        count += 1;
    }
    count
}

/// Whether a raw path holds what no URI can: characters that must be encoded, or a percent sign without two digits.
pub(crate) fn is_illegal(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => true,
        b'%' => {
            !matches!(bytes.get(at + 1..at + 3), Some(digits) if digits.iter().all(u8::is_ascii_hexdigit))
        }
        _ => false,
    })
}
