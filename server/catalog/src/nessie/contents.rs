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
        let rights = self.rights_on(point, None).await?;
        let opened = self.open(point, "Expected hash").await;
        let found = match &opened {
            Ok((_, state)) => state.content(&key).await?,
            Err(_) => None,
        };
        let content_type = found.as_ref().map(|(entry, _)| entry.content_type);
        let check = Check::on(Access::ViewReference, rights.as_ref());
        self.authorize(who, &check.and_key(Access::ReadContent, rights.as_ref(), &key, content_type)).await?;
        let (effective, _) = opened?;
        match found {
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
        let rights = self.rights_on(point, None).await?;
        let opened = self.open(point, "Expected hash").await;
        let mut check = Check::on(Access::ViewReference, rights.as_ref());
        let mut found: Vec<Found> = Vec::with_capacity(keys.len());
        let mut seen = std::collections::HashSet::new();
        for key in keys {
            let held = match &opened {
                Ok((_, state)) => state.content(&key).await?,
                Err(_) => None,
            };
            let content_type = held.as_ref().map(|(entry, _)| entry.content_type);
            check = check.and_key(Access::ReadContent, rights.as_ref(), &key, content_type);
            if let Some((entry, content)) = held
                && seen.insert(key.clone())
            {
                found.push(Found { key, id: entry.content_id, content });
            }
        }
        self.authorize(who, &check).await?;
        let (effective, _) = opened?;
        Ok((effective, found))
    }
}
