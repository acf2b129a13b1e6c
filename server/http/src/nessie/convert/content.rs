//! Contents, both ways.

use lochan_api_spec::nessie::model::{
    Content as Wire, ContentType as WireType, DeltaLakeTable, IcebergTable, IcebergView, Namespace, Udf,
};
use lochan_server_catalog::nessie::commits::GivenId;
use lochan_storage_model::{Content, ContentId, ContentType};

/// A content for the wire.
pub fn out(id: Option<ContentId>, content: Content) -> Wire {
    let id = id.map(|id| id.to_string());
    match content {
        Content::IcebergTable { metadata_location, snapshot_id, schema_id, spec_id, sort_order_id } => {
            Wire::IcebergTable(IcebergTable {
                id,
                metadata_location,
                snapshot_id,
                schema_id,
                spec_id,
                sort_order_id,
            })
        }
        Content::IcebergView { metadata_location, version_id, schema_id, sql_text, dialect } => {
            Wire::IcebergView(IcebergView { id, metadata_location, version_id, schema_id, sql_text, dialect })
        }
        Content::Namespace { elements, properties } => {
            Wire::Namespace(Namespace { id, elements, properties })
        }
        Content::DeltaLakeTable {
            metadata_location_history,
            checkpoint_location_history,
            last_checkpoint,
        } => Wire::DeltaLakeTable(DeltaLakeTable {
            id,
            metadata_location_history,
            checkpoint_location_history,
            last_checkpoint,
        }),
        Content::Udf { metadata_location, version_id, signature_id, sql_text, dialect } => {
            Wire::Udf(Udf { id, metadata_location, version_id, signature_id, sql_text, dialect })
        }
        // The system map has no content keys, so none of its values is ever read as a content.
        Content::System(_) => Wire::Udf(Udf {
            id,
            metadata_location: None,
            version_id: None,
            signature_id: None,
            sql_text: None,
            dialect: None,
        }),
    }
}

/// A content from the wire, with its id as given.
pub fn given(content: Wire) -> (GivenId, Content) {
    match content {
        Wire::IcebergTable(IcebergTable {
            id,
            metadata_location,
            snapshot_id,
            schema_id,
            spec_id,
            sort_order_id,
        }) => (
            given_id(id),
            Content::IcebergTable { metadata_location, snapshot_id, schema_id, spec_id, sort_order_id },
        ),
        Wire::IcebergView(IcebergView {
            id,
            metadata_location,
            version_id,
            schema_id,
            sql_text,
            dialect,
        }) => (
            given_id(id),
            Content::IcebergView { metadata_location, version_id, schema_id, sql_text, dialect },
        ),
        Wire::DeltaLakeTable(DeltaLakeTable {
            id,
            metadata_location_history,
            checkpoint_location_history,
            last_checkpoint,
        }) => (
            given_id(id),
            Content::DeltaLakeTable {
                metadata_location_history,
                checkpoint_location_history,
                last_checkpoint,
            },
        ),
        Wire::Namespace(Namespace { id, elements, properties }) => {
            (given_id(id), Content::Namespace { elements, properties })
        }
        Wire::Udf(Udf { id, metadata_location, version_id, signature_id, sql_text, dialect }) => {
            (given_id(id), Content::Udf { metadata_location, version_id, signature_id, sql_text, dialect })
        }
    }
}

/// A content id counts only in the form in which it is handed out.
pub fn given_id(id: Option<String>) -> GivenId {
    match id {
        None => GivenId::New,
        Some(text) => match text.parse::<ContentId>() {
            Ok(id) if id.to_string() == text => GivenId::Id(id),
            _ => GivenId::Text(text),
        },
    }
}

/// The type of a content for the wire.
pub fn type_out(content_type: ContentType) -> WireType {
    match content_type {
        ContentType::IcebergTable => WireType::IcebergTable,
        ContentType::IcebergView => WireType::IcebergView,
        ContentType::Namespace => WireType::Namespace,
        ContentType::DeltaLakeTable => WireType::DeltaLakeTable,
        ContentType::Udf => WireType::Udf,
        ContentType::System => WireType::Unknown,
    }
}
