//! Pages of listings (Iceberg REST contract, 1.7): paging begins with an empty token; without one everything is answered.

use lochan_api_spec::iceberg::paging::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, Page};
use lochan_api_spec::syntax::token::Token;
use lochan_server_catalog::iceberg::{Listed, PageRequest};
use lochan_storage_model::{CommitId, ObjectId};

use super::convert::bad;
use crate::failure::Failure;

/// What is listed; a token of one listing is none of another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Listing {
    Namespaces,
    Tables,
    Views,
}

impl Listing {
    const fn kind(self) -> u8 {
        match self {
            Listing::Namespaces => b'N',
            Listing::Tables => b'T',
            Listing::Views => b'V',
        }
    }
}

/// The page asked for.
pub(super) fn read(page: &Page, listing: Listing) -> Result<PageRequest, Failure> {
    let size = match page.size {
        None => PAGE_SIZE_DEFAULT,
        Some(size) if size > 0 => size.min(PAGE_SIZE_MAX),
        Some(size) => return Err(bad(format!("pageSize must be positive, not {size}"))),
    };
    let size = usize::try_from(size).unwrap_or(1);
    match page.token.as_deref() {
        None => Ok(PageRequest::All),
        Some("") => Ok(PageRequest::First(size)),
        Some(text) => {
            let token =
                Token::decode(text, listing.kind()).map_err(|error| bad(format!("pageToken: {error}")))?;
            let commit = token.field(0).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
            let (Some(commit), Some(key)) = (commit, token.field(1)) else {
                return Err(bad("pageToken: Invalid token string representation"));
            };
            let commit = CommitId::new(ObjectId::from_bytes(commit));
            Ok(PageRequest::After { commit, key: key.to_vec(), size })
        }
    }
}

/// The token of the page after this one.
pub(super) fn next(listed: &Listed, listing: Listing) -> Option<String> {
    let (commit, key) = listed.next.as_ref()?;
    Some(Token::new(listing.kind()).with(commit.as_bytes().to_vec()).with(key.clone()).encode())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(token: Option<&str>, size: Option<i32>, expected: Option<PageRequest>) {
        let page = Page { token: token.map(str::to_owned), size };
        assert_eq!(read(&page, Listing::Tables).ok(), expected, "{page:?}");
    }

    #[test]
    fn pages() {
        check(None, Some(3), Some(PageRequest::All));
        check(Some(""), None, Some(PageRequest::First(200)));
        check(Some(""), Some(9_999), Some(PageRequest::First(500)));
        check(Some(""), Some(0), None);
        check(None, Some(-1), None);
        check(Some("garbage"), None, None);
        let commit = CommitId::NO_ANCESTOR;
        let listed = Listed { keys: Vec::new(), next: Some((commit, vec![1, 2])) };
        let token = next(&listed, Listing::Tables).unwrap();
        check(Some(&token), Some(7), Some(PageRequest::After { commit, key: vec![1, 2], size: 7 }));
        let other = next(&listed, Listing::Views).unwrap();
        check(Some(&other), None, None);
    }
}
