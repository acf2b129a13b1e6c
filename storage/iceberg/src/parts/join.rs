use super::format::{Part, Segment};
use super::{DOCUMENT_BYTES_MAX, Error, PartId, TREE_DEPTH_MAX};

/// Joins the parts under a root to the document. `get` gives the bytes of a part; what it gives is trusted to be what
/// the id names.
///
/// # Errors
/// [`Error::Missing`] for a part that `get` does not have, the others for bytes that are no parts of one document.
pub fn join<B: AsRef<[u8]>>(
    root: PartId,
    mut get: impl FnMut(&PartId) -> Option<B>,
) -> Result<Vec<u8>, Error> {
    let bytes = get(&root).ok_or(Error::Missing(root))?;
    let Part::Root(segments) = Part::read(bytes.as_ref())? else {
        return Err(Error::Malformed("a document begins with a root"));
    };
    let mut document = Vec::new();
    for segment in segments {
        match segment {
            Segment::Text(text) => append(&mut document, text)?,
            Segment::Tree(id) => {
                let mut first = true;
                items(id, &mut get, &mut document, &mut first, TREE_DEPTH_MAX)?;
            }
        }
    }
    Ok(document)
}

fn items<B: AsRef<[u8]>>(
    id: PartId,
    get: &mut impl FnMut(&PartId) -> Option<B>,
    document: &mut Vec<u8>,
    first: &mut bool,
    levels_left: usize,
) -> Result<(), Error> {
    let bytes = get(&id).ok_or(Error::Missing(id))?;
    match Part::read(bytes.as_ref())? {
        Part::Root(_) => Err(Error::Malformed("a root stands inside a document")),
        Part::Leaf(text) => {
            if !std::mem::take(first) {
                append(document, b",")?;
            }
            append(document, text)
        }
        Part::Node(children) => {
            let below = levels_left.checked_sub(1).ok_or(Error::Malformed("a tree is too deep"))?;
            children.into_iter().try_for_each(|child| items(child, get, document, first, below))
        }
    }
}

fn append(document: &mut Vec<u8>, text: &[u8]) -> Result<(), Error> {
    if document.len() + text.len() > DOCUMENT_BYTES_MAX {
        return Err(Error::TooLong);
    }
    document.extend_from_slice(text);
    Ok(())
}
