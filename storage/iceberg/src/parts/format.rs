use super::{Error, FORMAT_VERSION, PartId};

const KIND_ROOT: u8 = 1;
const KIND_LEAF: u8 = 2;
const KIND_NODE: u8 = 3;
const SEGMENT_TEXT: u8 = 0;
const SEGMENT_TREE: u8 = 1;
const ID_BYTES: usize = 32;

/// A part, read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Root(Vec<Segment<'a>>),
    Leaf(&'a [u8]),
    Node(Vec<PartId>),
}

/// A piece of the root.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    Text(&'a [u8]),
    Tree(PartId),
}

/// Ids of the parts that a part names, in the order of the document; none for a leaf.
///
/// A caller that fetches level by level starts at the root and asks for the children of everything it got.
///
/// # Errors
/// [`Error::UnknownVersion`] or [`Error::Malformed`] for bytes that are no part.
pub fn children(part: &[u8]) -> Result<Vec<PartId>, Error> {
    Ok(match Part::read(part)? {
        Part::Root(segments) => segments
            .into_iter()
            .filter_map(|segment| match segment {
                Segment::Tree(id) => Some(id),
                Segment::Text(_) => None,
            })
            .collect(),
        Part::Leaf(_) => Vec::new(),
        Part::Node(ids) => ids,
    })
}

/// Whether bytes are a part that stands for a whole document.
#[must_use]
pub fn is_root(part: &[u8]) -> bool {
    part.starts_with(&[FORMAT_VERSION, KIND_ROOT])
}

impl<'a> Part<'a> {
    pub(super) fn read(part: &'a [u8]) -> Result<Self, Error> {
        let (&version, rest) = part.split_first().ok_or(Error::Malformed("it is empty"))?;
        if version != FORMAT_VERSION {
            return Err(Error::UnknownVersion(version));
        }
        let (&kind, body) = rest.split_first().ok_or(Error::Malformed("it has no kind"))?;
        match kind {
            KIND_ROOT => segments(body).map(Self::Root),
            KIND_LEAF if body.is_empty() => Err(Error::Malformed("a leaf holds no item")),
            KIND_LEAF => Ok(Self::Leaf(body)),
            KIND_NODE => ids(body).map(Self::Node),
            _ => Err(Error::Malformed("its kind is unknown")),
        }
    }
}

fn segments(mut body: &[u8]) -> Result<Vec<Segment<'_>>, Error> {
    const SHORT: Error = Error::Malformed("a segment is cut short");
    let mut segments = Vec::new();
    while let Some((&tag, rest)) = body.split_first() {
        let (segment, rest) = match tag {
            SEGMENT_TEXT => {
                let (length, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
                let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| SHORT)?;
                let (text, rest) = rest.split_at_checked(length).ok_or(SHORT)?;
                (Segment::Text(text), rest)
            }
            SEGMENT_TREE => {
                let (id, rest) = rest.split_first_chunk::<ID_BYTES>().ok_or(SHORT)?;
                (Segment::Tree(*id), rest)
            }
            _ => return Err(Error::Malformed("a segment's tag is unknown")),
        };
        segments.push(segment);
        body = rest;
    }
    Ok(segments)
}

fn ids(body: &[u8]) -> Result<Vec<PartId>, Error> {
    let (ids, rest) = body.as_chunks::<ID_BYTES>();
    if ids.is_empty() || !rest.is_empty() {
        return Err(Error::Malformed("a node is no list of ids"));
    }
    Ok(ids.to_vec())
}

/// Builds a root.
pub(super) struct Root(Vec<u8>);

impl Root {
    pub(super) fn new() -> Self {
        Self(vec![FORMAT_VERSION, KIND_ROOT])
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), Error> {
        let length = u32::try_from(text.len()).map_err(|_| Error::TooLong)?;
        self.0.push(SEGMENT_TEXT);
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    pub(super) fn tree(&mut self, id: PartId) {
        self.0.push(SEGMENT_TREE);
        self.0.extend_from_slice(&id);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Starts a leaf; items follow, joined by commas.
pub(super) fn leaf() -> Vec<u8> {
    vec![FORMAT_VERSION, KIND_LEAF]
}

/// Builds a node.
pub(super) fn node(children: &[PartId]) -> Vec<u8> {
    let mut part = vec![FORMAT_VERSION, KIND_NODE];
    part.extend(children.iter().flatten());
    part
}
