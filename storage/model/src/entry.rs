//! Entries of a key index.

use std::sync::Arc;

use crate::{
    content::{Content, ContentType},
    encoding::{DecodeError, Reader, Writer},
    id::{ContentId, ObjectId},
    kind::ObjectKind,
};

/// Values up to this many bytes stand inline in operations and index leaves; larger ones are objects of their own.
/// Part of the format: the same value must give the same bytes everywhere.
pub const INLINE_BYTES_MAX: usize = 512;

/// An encoded content, inline or by id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// The bytes themselves, at most [`INLINE_BYTES_MAX`].
    Inline(Arc<[u8]>),
    /// Id of an object of kind [`ObjectKind::Value`].
    Stored(ObjectId),
}

impl Value {
    /// The value of encoded bytes, and the object to store beside it when they are too large to stand inline.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> (Self, Option<(ObjectId, Vec<u8>)>) {
        if bytes.len() <= INLINE_BYTES_MAX {
            (Self::Inline(bytes.into()), None)
        } else {
            let id = ObjectId::of(ObjectKind::Value, &bytes);
            (Self::Stored(id), Some((id, bytes)))
        }
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        match self {
            Self::Inline(bytes) => {
                w.u8(0);
                w.bytes(bytes);
            }
            Self::Stored(id) => {
                w.u8(1);
                w.raw(id.as_bytes());
            }
        }
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match r.u8("value form")? {
            0 => {
                let bytes = r.bytes("inline value")?;
                if bytes.len() > INLINE_BYTES_MAX {
                    Err(DecodeError::Invalid("inline value"))
                } else {
                    Ok(Self::Inline(bytes.into()))
                }
            }
            1 => r.object_id("value id").map(Self::Stored),
            _ => Err(DecodeError::Invalid("value form")),
        }
    }
}

/// What a key holds: content id, type and value. Two entries are equal when the stored content is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Id of the content; [`ContentId::NONE`] in the system domain.
    pub content_id: ContentId,
    /// Type of the content.
    pub content_type: ContentType,
    /// The encoded content.
    pub value: Value,
}

impl Entry {
    /// The entry of a content, and the object to store beside it when its value is large.
    #[must_use]
    pub fn of(content_id: ContentId, content: &Content) -> (Self, Option<(ObjectId, Vec<u8>)>) {
        let (value, object) = Value::of(content.encode());
        (Self { content_id, content_type: content.content_type(), value }, object)
    }

    /// Writes the entry: content id (16), type (1), value.
    pub fn write(&self, w: &mut Writer) {
        w.raw(self.content_id.as_bytes());
        w.u8(self.content_type.byte());
        self.value.write(w);
    }

    /// Reads an entry.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let content_id = r.content_id("content id")?;
        let content_type =
            ContentType::from_byte(r.u8("content type")?).ok_or(DecodeError::Invalid("content type"))?;
        Ok(Self { content_id, content_type, value: Value::read(r)? })
    }
}
