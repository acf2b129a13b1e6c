//! `content list`

use lochan_api_spec::nessie::model::{ContentKey, ContentType, EntriesResponseV2};
use lochan_api_spec::nessie::v2::trees::get_entries;
use serde_json::Value;

use crate::args::key;
use crate::commands::{Done, Session, cel};
use crate::error::Error;
use crate::output::page::{Page, pad, style, widest};
use crate::output::{Report, detail, kind_word};

/// List keys.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A branch, a tag or a commit (without it: the default branch)
    #[arg(short = 'r', long = "ref", value_name = "POINT")]
    pub at: Option<String>,
    /// Only contents of this type: table, view, delta, namespace, function, or a word such as ICEBERG_TABLE; may be
    /// repeated
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = parse_type)]
    pub types: Vec<ContentType>,
    /// Only this key and keys below it
    #[arg(long, value_name = "KEY", value_parser = key::parse)]
    pub prefix: Option<ContentKey>,
    /// Only keys that a CEL expression is true of, such as "entry.name == 'orders'"
    #[arg(long, value_name = "CEL")]
    pub filter: Option<String>,
    /// Also show what the keys hold
    #[arg(short = 'x', long, alias = "content")]
    pub extended: bool,
}

/// Types of contents as people type them.
pub const TYPES: [&str; 5] = ["table", "view", "delta", "namespace", "function"];

/// Reads one of [`TYPES`], or the API's word for it, in any case.
pub fn parse_type(text: &str) -> Result<ContentType, String> {
    match text.to_ascii_lowercase().replace('-', "_").as_str() {
        "table" | "iceberg_table" => Ok(ContentType::IcebergTable),
        "view" | "iceberg_view" => Ok(ContentType::IcebergView),
        "delta" | "delta_table" | "delta_lake_table" => Ok(ContentType::DeltaLakeTable),
        "namespace" => Ok(ContentType::Namespace),
        "function" | "udf" => Ok(ContentType::Udf),
        _ => Err("a type is table, view, delta, namespace or function".to_owned()),
    }
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let at = session.client.complete(&session.point(args.at.as_deref())?).await?;
    let types: Vec<String> = args.types.iter().map(|kind| cel::text(kind.as_str())).collect();
    let query = get_entries::Query {
        prefix_key: args.prefix.as_ref().map(ContentKey::to_escaped),
        content: args.extended,
        filter: cel::all_of([
            (!types.is_empty()).then(|| format!("entry.contentType in [{}]", types.join(", "))),
            args.filter.as_ref().map(|filter| format!("({filter})")),
        ]),
        ..Default::default()
    };
    Ok(Keys(session.client.entries(&at, query).await?).into())
}

struct Keys(EntriesResponseV2);

impl Report for Keys {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.0)
    }

    fn human(&self, page: &mut Page) {
        if self.0.entries.is_empty() {
            let state = page.state(&self.0.effective_reference);
            return page.line(&format!("No keys on {state}"));
        }
        let types = widest(self.0.entries.iter().map(|entry| kind_word(entry.kind)));
        for entry in &self.0.entries {
            let kind = page.paint(style::FAINT, &pad(kind_word(entry.kind), types));
            page.line(&format!("{kind}  {}", page.key(&entry.name)));
            if let Some(detail) = entry.content.as_ref().map(detail).filter(|detail| !detail.is_empty()) {
                let detail = page.paint(style::FAINT, &detail);
                page.line(&format!("{}  {detail}", pad("", types)));
            }
        }
    }

    fn long(&self) -> bool {
        true
    }
}
