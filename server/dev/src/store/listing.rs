//! Pages of a sorted map of keys, with prefix and delimiter, as S3 lists them. Pure.

use std::collections::BTreeMap;
use std::ops::Bound;

/// What a listing tells about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) size_bytes: u64,
    pub(crate) etag: String,
    pub(crate) modified_us: u64,
}

/// Which part of the keys is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    pub(crate) prefix: String,
    /// Keys that share what comes before it, after the prefix, are told as one. Empty means none.
    pub(crate) delimiter: String,
    /// Only what sorts after this; if it is a group, only what comes after the whole group.
    pub(crate) after: Option<String>,
    /// Most keys and groups together.
    pub(crate) items_max: usize,
}

/// One page, keys and groups each in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) keys: Vec<(String, Listed)>,
    pub(crate) groups: Vec<String>,
    /// The last item told, if there is more after it.
    pub(crate) next: Option<String>,
}

impl Query {
    /// The group a key is told as, if any.
    fn group<'k>(&self, key: &'k str) -> Option<&'k str> {
        if self.delimiter.is_empty() {
            return None;
        }
        let rest = key.strip_prefix(self.prefix.as_str())?;
        let length = rest.find(&self.delimiter)? + self.delimiter.len();
        key.get(..self.prefix.len() + length)
    }

    pub(crate) fn page(&self, all: &BTreeMap<String, Listed>) -> Page {
        let mut page = Page::default();
        if self.items_max == 0 {
            return page;
        }
        let mut last: Option<String> = None;
        let mut from = match &self.after {
            Some(after) if *after >= self.prefix => {
                if self.group(after) == Some(after) {
                    last = Some(after.clone());
                    beyond_group(after)
                } else {
                    Bound::Excluded(after.clone())
                }
            }
            _ => Bound::Included(self.prefix.clone()),
        };
        loop {
            let next = all.range::<String, _>((from.as_ref(), Bound::Unbounded)).next();
            let Some((key, listed)) = next.filter(|(key, _)| key.starts_with(&self.prefix)) else {
                return page;
            };
            let group = self.group(key);
            if group.is_some() && group == last.as_deref() {
                // A key of a group told already that sorts beyond our guess of its end.
                from = Bound::Excluded(key.clone());
                continue;
            }
            if page.keys.len() + page.groups.len() == self.items_max {
                page.next = last;
                return page;
            }
            match group {
                Some(group) => {
                    from = beyond_group(group);
                    page.groups.push(group.to_owned());
                    last = Some(group.to_owned());
                }
                None => {
                    from = Bound::Excluded(key.clone());
                    page.keys.push((key.clone(), listed.clone()));
                    last = Some(key.clone());
                }
            }
        }
    }
}

/// A place after practically every key of a group, so that a large group is stepped over at once.
fn beyond_group(group: &str) -> Bound<String> {
    Bound::Excluded(format!("{group}{}", char::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(keys: &[&str]) -> BTreeMap<String, Listed> {
        let listed = Listed { size_bytes: 0, etag: String::new(), modified_us: 0 };
        keys.iter().map(|key| ((*key).to_owned(), listed.clone())).collect()
    }

    /// All pages of `items_max`, as `key` and `group*`.
    fn pages(keys: &[&str], prefix: &str, delimiter: &str, after: &str, items_max: usize) -> Vec<String> {
        let all = map(keys);
        let mut query = Query {
            prefix: prefix.into(),
            delimiter: delimiter.into(),
            after: (!after.is_empty()).then(|| after.to_owned()),
            items_max,
        };
        let mut seen = Vec::new();
        loop {
            let page = query.page(&all);
            let mut items: Vec<String> = page.keys.into_iter().map(|(key, _)| key).collect();
            items.extend(page.groups.into_iter().map(|group| format!("{group}*")));
            assert!(items.len() <= items_max);
            items.sort();
            seen.extend(items);
            match page.next {
                Some(next) => query.after = Some(next),
                None => return seen,
            }
        }
    }

    const KEYS: &[&str] =
        &["a", "a/", "a/1", "a/2/x", "a/2/y", "a/\u{10FFFF}z", "a0", "b/1", "b/2", "c", "ü/1"];

    #[test]
    fn pages_of_any_size_tell_the_same() {
        for size in [1, 2, 3, 100] {
            assert_eq!(pages(KEYS, "", "", "", size), KEYS);
            assert_eq!(pages(KEYS, "", "/", "", size), ["a", "a/*", "a0", "b/*", "c", "ü/*"], "{size}");
            assert_eq!(pages(KEYS, "a/", "/", "", size), ["a/", "a/1", "a/2/*", "a/\u{10FFFF}z"], "{size}");
            assert_eq!(pages(KEYS, "a/2", "/", "", size), ["a/2/*"]);
            assert_eq!(pages(KEYS, "a/2/", "", "a/2/x", size), ["a/2/y"]);
            assert_eq!(pages(KEYS, "b", "", "a", size), ["b/1", "b/2"]);
            assert_eq!(pages(KEYS, "", "/", "a/", size), ["a0", "b/*", "c", "ü/*"]);
            assert_eq!(pages(KEYS, "", "/", "a/1", size), ["a/*", "a0", "b/*", "c", "ü/*"]);
            assert_eq!(pages(KEYS, "", "/", "zz", size), ["ü/*"]);
            assert!(pages(KEYS, "d", "/", "", size).is_empty());
        }
        assert_eq!(Query::default().page(&map(KEYS)), Page::default());
    }
}
