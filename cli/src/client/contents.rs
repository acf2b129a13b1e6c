//! What keys hold.

use std::collections::HashMap;

use lochan_api_spec::nessie::model::{ContentKey, GetMultipleContentsRequest, GetMultipleContentsResponseV2};
use lochan_api_spec::nessie::v2::trees::GetMultipleContents;
use lochan_api_spec::syntax::RefSpec;

use super::{Client, Error};

impl Client {
    /// What keys hold in a state, in the order in which they are asked for; keys that hold nothing are left out.
    pub async fn contents(
        &self,
        at: &RefSpec,
        keys: &[ContentKey],
    ) -> Result<GetMultipleContentsResponseV2, Error> {
        let body = GetMultipleContentsRequest { requested_keys: keys.to_vec() };
        let path = GetMultipleContents::path(at);
        let mut found = self.send::<GetMultipleContents>(path, &Default::default(), &body).await?;
        let places: HashMap<&ContentKey, usize> = keys.iter().zip(0..).collect();
        found.contents.sort_by_key(|held| places.get(&held.key).copied());
        Ok(found)
    }
}
