//! Contents as people read them.

use lochan_api_spec::nessie::model::{Content, ContentType};

/// The kind of a content in one word.
pub fn kind_word(kind: ContentType) -> &'static str {
    match kind {
        ContentType::IcebergTable => "table",
        ContentType::IcebergView => "view",
        ContentType::DeltaLakeTable => "delta table",
        ContentType::Namespace => "namespace",
        ContentType::Udf => "function",
        ContentType::Unknown => "unknown",
    }
}

/// What a content says, as names and values; the id is left out.
pub fn fields(content: &Content) -> Vec<(&'static str, String)> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut fields = match content {
        Content::IcebergTable(table) => vec![
            (
                "snapshot",
                if table.snapshot_id < 0 { "none".to_owned() } else { table.snapshot_id.to_string() },
            ),
            ("schema", table.schema_id.to_string()),
            ("spec", table.spec_id.to_string()),
            ("sort order", table.sort_order_id.to_string()),
            ("metadata", table.metadata_location.clone()),
        ],
        Content::IcebergView(view) => vec![
            ("version", view.version_id.to_string()),
            ("schema", view.schema_id.to_string()),
            ("dialect", text(&view.dialect)),
            ("sql", text(&view.sql_text)),
            ("metadata", view.metadata_location.clone()),
        ],
        Content::DeltaLakeTable(table) => vec![
            ("checkpoint", text(&table.last_checkpoint)),
            ("logs", table.metadata_location_history.len().to_string()),
            ("last log", table.metadata_location_history.first().cloned().unwrap_or_default()),
        ],
        Content::Namespace(namespace) => {
            let properties = namespace.properties.iter().map(|(name, value)| format!("{name}={value}"));
            vec![("properties", properties.collect::<Vec<_>>().join(", "))]
        }
        Content::Udf(function) => vec![
            ("version", text(&function.version_id)),
            ("signature", text(&function.signature_id)),
            ("dialect", text(&function.dialect)),
            ("sql", text(&function.sql_text)),
            ("metadata", text(&function.metadata_location)),
        ],
    };
    // Iceberg fills the deprecated fields of a view with a dash.
    fields.retain(|(_, value)| !value.is_empty() && value != "-");
    fields
}

/// A content in one line: `table, snapshot 7001, metadata 00003-….metadata.json`.
pub fn summary(content: &Content) -> String {
    let mut out = kind_word(content.kind()).to_owned();
    let detail = detail(content);
    if !detail.is_empty() {
        out.push_str(", ");
        out.push_str(&detail);
    }
    out
}

/// What tells a content from others of its kind; empty when nothing does.
pub fn detail(content: &Content) -> String {
    let first = match content {
        Content::IcebergTable(table) if table.snapshot_id < 0 => Some("no snapshot".to_owned()),
        Content::IcebergTable(table) => Some(format!("snapshot {}", table.snapshot_id)),
        Content::IcebergView(view) => Some(format!("version {}", view.version_id)),
        Content::Udf(function) => function.version_id.as_ref().map(|version| format!("version {version}")),
        Content::DeltaLakeTable(_) | Content::Namespace(_) => None,
    };
    let rest = fields(content).into_iter().filter_map(place);
    first.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
}

fn place((name, value): (&'static str, String)) -> Option<String> {
    match name {
        "metadata" | "last log" => Some(format!("metadata {}", file_name(&value))),
        "properties" => Some(value),
        _ => None,
    }
}

/// The end of a location: the rest is the same for both sides of most comparisons, and long.
fn file_name(location: &str) -> &str {
    location.rsplit('/').next().unwrap_or(location)
}

/// The fields that differ: name, before, after; empty where one side has none.
pub fn changes(from: &Content, to: &Content) -> Vec<(&'static str, String, String)> {
    let mut out = Vec::new();
    if from.kind() != to.kind() {
        out.push(("type", kind_word(from.kind()).to_owned(), kind_word(to.kind()).to_owned()));
    }
    let (before, mut after) = (fields(from), fields(to));
    for (name, old) in before {
        let new = match after.iter().position(|(other, _)| *other == name) {
            Some(place) => after.remove(place).1,
            None => String::new(),
        };
        if old != new {
            out.push((name, old, new));
        }
    }
    out.extend(after.into_iter().map(|(name, new)| (name, String::new(), new)));
    if from.id() != to.id() {
        // Another id under one key: the content was dropped and made again.
        let text = |content: &Content| content.id().unwrap_or_default().to_owned();
        out.push(("content id", text(from), text(to)));
    }
    out
}
