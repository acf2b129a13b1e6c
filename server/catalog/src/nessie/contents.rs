//! Reading contents by key.

use lochan_storage_model::{Content, ContentId, ContentKey};

use super::Point;
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
    point::Effective,
};

/// A content under its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The key.
    pub key: ContentKey,
    /// Its id.
    pub id: ContentId,
    /// The content.
    pub content: Content,
}

impl Catalog {
    /// One content; its absence is an error.
    pub async fn get_content(
        &self,
        who: &Principal,
        point: &Point,
        key: ContentKey,
    ) -> Result<(Effective, Found), Error> {
        let name = point.ref_name();
        let check = Check::on(Access::ViewReference, name.as_ref());
        self.authorize(who, &check.and_key(Access::ReadContent, name.as_ref(), &key, None)).await?;
        let (effective, state) = self.open(point, "Expected hash").await?;
        match state.content(&key).await? {
            Some((entry, content)) => Ok((effective, Found { key, id: entry.content_id, content })),
            None => {
                let reference = effective.name().map_or_else(|| "DETACHED".to_owned(), ToString::to_string);
                Err(Error::ContentNotFound { key, reference })
            }
        }
    }

    /// Several contents, in the order of their keys as asked for; absent ones are left out.
    pub async fn get_contents(
        &self,
        who: &Principal,
        point: &Point,
        keys: Vec<ContentKey>,
    ) -> Result<(Effective, Vec<Found>), Error> {
        let name = point.ref_name();
        let check = Check::on(Access::ViewReference, name.as_ref());
        let check = keys
            .iter()
            .fold(check, |check, key| check.and_key(Access::ReadContent, name.as_ref(), key, None));
        self.authorize(who, &check).await?;
        let (effective, state) = self.open(point, "Expected hash").await?;
        let mut found: Vec<Found> = Vec::with_capacity(keys.len());
        let mut seen = std::collections::HashSet::new();
        for key in keys {
            if let Some((entry, content)) = state.content(&key).await?
                && seen.insert(key.clone())
            {
                found.push(Found { key, id: entry.content_id, content });
            }
        }
        Ok((effective, found))
    }
}
