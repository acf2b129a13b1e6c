//! From what people write (`main`, `main~2`, twelve digits) to a commit's full hash.

use lochan_api_spec::nessie::model::{ReferenceKind, ReferenceV2};
use lochan_api_spec::nessie::v2::trees::{
    GetReferenceByName, get_all_references, get_commit_log, get_reference_by_name,
};
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::{DEFAULT_BRANCH_ALIAS, NO_ANCESTOR_HASH};

use super::Client;
use crate::args::point;
use crate::error::Error;
use crate::output::page::HASH_DIGITS_SHORT;

/// How many references are searched for a commit by its first digits.
const REFERENCES_SEARCHED_MAX: usize = 64;

/// Digits of a full hash.
pub const HASH_DIGITS: usize = 64;

/// A commit, and the reference it was reached through.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The reference's real name; none for a bare hash.
    pub name: Option<String>,
    /// Its kind, when the reference itself was read.
    pub kind: Option<ReferenceKind>,
    /// 64 digits.
    pub hash: String,
}

impl Resolved {
    /// The commit as requests name it: beside its reference, whose readers may see it.
    pub fn state(&self) -> RefSpec {
        RefSpec { name: self.name.clone(), ..RefSpec::detached(self.hash.clone()) }
    }

    /// The name to send beside the hash.
    pub fn wire_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| "DETACHED".to_owned())
    }
}

impl Client {
    /// Reads a branch or tag; `-` is the default branch.
    pub async fn reference(
        &self,
        name: &str,
        query: &get_reference_by_name::Query,
    ) -> Result<ReferenceV2, super::Error> {
        let path = GetReferenceByName::path(&RefSpec::named(name));
        Ok(self.ask::<GetReferenceByName>(path, query).await?.reference)
    }

    /// Finds the commit that a point names. The commit of a bare full hash is not looked up. Steps must lead to a commit: the
    /// state before the first one is nobody's aim.
    pub async fn resolve(&self, point: &RefSpec) -> Result<Resolved, Error> {
        let point = self.lengthen(point).await?;
        if !point.has_hash() {
            let name = point.name.as_deref().unwrap_or(DEFAULT_BRANCH_ALIAS);
            let found = self.reference(name, &Default::default()).await?;
            // A reference without a hash stands at the beginning.
            let hash = found.hash.unwrap_or_else(|| NO_ANCESTOR_HASH.to_owned());
            return Ok(Resolved { name: found.name, kind: Some(found.kind), hash });
        }
        let name = match point.name.as_deref() {
            Some(DEFAULT_BRANCH_ALIAS) => {
                self.reference(DEFAULT_BRANCH_ALIAS, &Default::default()).await?.name
            }
            _ => point.name.clone(),
        };
        if let (Some(hash), true) = (&point.hash, point.parts.is_empty()) {
            return Ok(Resolved { name, kind: None, hash: hash.clone() });
        }
        let log = self.log(&point, get_commit_log::Query::default(), 1).await?;
        let newest = log.log_entries.into_iter().next().and_then(|entry| entry.commit_meta.hash);
        let hash = newest.ok_or_else(|| Error::NothingThere(point::show(&point, HASH_DIGITS_SHORT)))?;
        Ok(Resolved { name, kind: None, hash })
    }

    /// What a point says of which state to read: abbreviated hashes in full, and the commit that steps lead to.
    pub async fn complete(&self, point: &RefSpec) -> Result<RefSpec, Error> {
        let point = self.lengthen(point).await?;
        if point.parts.is_empty() {
            return Ok(point);
        }
        let Resolved { name, hash, .. } = self.resolve(&point).await?;
        Ok(RefSpec { name, hash: Some(hash), parts: Vec::new() })
    }

    /// Completes a hash that was abbreviated, as human output abbreviates it. The wire knows no abbreviations.
    async fn lengthen(&self, point: &RefSpec) -> Result<RefSpec, Error> {
        let Some(digits) = point.hash.as_deref().filter(|hash| hash.len() < HASH_DIGITS) else {
            return Ok(point.clone());
        };
        let hash = self.find_commit(digits, point.name.as_deref()).await?;
        Ok(RefSpec { hash: Some(hash), ..point.clone() })
    }

    async fn find_commit(&self, digits: &str, name: Option<&str>) -> Result<String, Error> {
        if NO_ANCESTOR_HASH.starts_with(digits) {
            return Ok(NO_ANCESTOR_HASH.to_owned());
        }
        if let Some(name) = name {
            return self.find_in_log(digits, name).await?.ok_or_else(|| Error::NoCommit(digits.to_owned()));
        }
        let references = self.references(get_all_references::Query::default()).await?.references;
        let head = references.iter().filter_map(|r| r.hash.as_deref()).find(|hash| hash.starts_with(digits));
        if let Some(head) = head {
            return Ok(head.to_owned());
        }
        let names = references.iter().filter_map(|reference| reference.name.as_deref());
        // Most commits are on the default branch.
        for name in std::iter::once(DEFAULT_BRANCH_ALIAS).chain(names).take(REFERENCES_SEARCHED_MAX) {
            if let Some(hash) = self.find_in_log(digits, name).await? {
                return Ok(hash);
            }
        }
        Err(Error::NoCommit(digits.to_owned()))
    }

    async fn find_in_log(&self, digits: &str, name: &str) -> Result<Option<String>, Error> {
        let query = get_commit_log::Query {
            filter: Some(format!("commit.hash.startsWith('{digits}')")),
            ..Default::default()
        };
        let found = self.log(&RefSpec::named(name), query, 2).await?;
        let mut hashes = found.log_entries.into_iter().filter_map(|entry| entry.commit_meta.hash);
        match (hashes.next(), hashes.next()) {
            (Some(_), Some(_)) => Err(Error::AmbiguousCommit(digits.to_owned())),
            (hash, _) => Ok(hash),
        }
    }
}
