//! Settings of clients, ready to paste.

use crate::ready_file::S3;

/// What clients of one server are told.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Base URL of the Iceberg catalog.
    pub iceberg: &'a str,
    /// Base URL of the Nessie API, ending in `/api/`.
    pub nessie: &'a str,
    /// Name of the default warehouse.
    pub warehouse: &'a str,
    /// The S3 endpoint.
    pub s3: &'a S3,
}

/// One block of text per client.
pub fn print(target: Target<'_>) -> String {
    let blocks = [pyiceberg(target), spark(target), trino(target), flink(target), duckdb(target)];
    blocks.join("\n")
}

/// PyIceberg: `~/.pyiceberg.yaml`.
fn pyiceberg(target: Target<'_>) -> String {
    let Target { iceberg, s3, .. } = target;
    format!(
        "# PyIceberg: ~/.pyiceberg.yaml, then load_catalog(\"lochan\"); a branch is /iceberg/BRANCH
catalog:
  lochan:
    type: rest
    uri: {iceberg}
    s3.endpoint: {}
    s3.access-key-id: {}
    s3.secret-access-key: {}
    s3.region: {}
",
        s3.endpoint, s3.access_key, s3.secret_key, s3.region
    )
}

/// Spark: properties of `spark-sql`, with Nessie's SQL extensions for branches.
fn spark(target: Target<'_>) -> String {
    let Target { iceberg, nessie, s3, .. } = target;
    format!(
        "# Spark: spark-defaults.conf; packages iceberg-spark-runtime, iceberg-aws-bundle, nessie-spark-extensions
spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,\
org.projectnessie.spark.extensions.NessieSparkSessionExtensions
spark.sql.catalog.lochan=org.apache.iceberg.spark.SparkCatalog
spark.sql.catalog.lochan.type=rest
spark.sql.catalog.lochan.uri={iceberg}
spark.sql.catalog.lochan.io-impl=org.apache.iceberg.aws.s3.S3FileIO
spark.sql.catalog.lochan.s3.endpoint={}
spark.sql.catalog.lochan.s3.path-style-access=true
spark.sql.catalog.lochan.s3.access-key-id={}
spark.sql.catalog.lochan.s3.secret-access-key={}
spark.sql.catalog.lochan.client.region={}
# Or Nessie's own catalog: catalog-impl=org.apache.iceberg.nessie.NessieCatalog, uri={nessie}v2, ref=main,
# warehouse=s3://{}/{}
",
        s3.endpoint, s3.access_key, s3.secret_key, s3.region, s3.bucket, target.warehouse
    )
}

/// Trino: a catalog file.
fn trino(target: Target<'_>) -> String {
    let Target { iceberg, s3, .. } = target;
    format!(
        "# Trino: etc/catalog/lochan.properties
connector.name=iceberg
iceberg.catalog.type=rest
iceberg.rest-catalog.uri={iceberg}
iceberg.rest-catalog.nested-namespace-enabled=true
fs.native-s3.enabled=true
s3.endpoint={}
s3.path-style-access=true
s3.aws-access-key={}
s3.aws-secret-key={}
s3.region={}
",
        s3.endpoint, s3.access_key, s3.secret_key, s3.region
    )
}

/// Flink: a statement for its SQL client.
fn flink(target: Target<'_>) -> String {
    let Target { iceberg, s3, .. } = target;
    format!(
        "-- Flink SQL; with iceberg-flink-runtime and iceberg-aws-bundle
CREATE CATALOG lochan WITH (
  'type' = 'iceberg',
  'catalog-type' = 'rest',
  'uri' = '{iceberg}',
  'io-impl' = 'org.apache.iceberg.aws.s3.S3FileIO',
  's3.endpoint' = '{}',
  's3.path-style-access' = 'true',
  's3.access-key-id' = '{}',
  's3.secret-access-key' = '{}',
  'client.region' = '{}'
);
",
        s3.endpoint, s3.access_key, s3.secret_key, s3.region
    )
}

/// DuckDB: statements. Its endpoint setting has no scheme.
fn duckdb(target: Target<'_>) -> String {
    let Target { iceberg, s3, warehouse, .. } = target;
    let is_tls = s3.endpoint.starts_with("https:");
    let bare = s3.endpoint.split_once("://").map_or(s3.endpoint.as_str(), |(_, host)| host);
    format!(
        "-- DuckDB
INSTALL iceberg; LOAD iceberg; INSTALL httpfs; LOAD httpfs;
CREATE SECRET (TYPE s3, ENDPOINT '{bare}', URL_STYLE 'path', USE_SSL {is_tls}, KEY_ID '{}', SECRET '{}', REGION '{}');
ATTACH '{warehouse}' AS lochan (TYPE iceberg, ENDPOINT '{iceberg}', AUTHORIZATION_TYPE 'none',
  ACCESS_DELEGATION_MODE 'none');
",
        s3.access_key, s3.secret_key, s3.region
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_told_everything_it_needs() {
        let s3 = S3 {
            endpoint: "http://127.0.0.1:9".into(),
            access_key: "the-key".into(),
            secret_key: "the-secret".into(),
            region: "the-region".into(),
            bucket: "the-bucket".into(),
        };
        let target = Target {
            iceberg: "http://127.0.0.1:1/iceberg",
            nessie: "http://127.0.0.1:1/api/",
            warehouse: "the-warehouse",
            s3: &s3,
        };
        for block in [pyiceberg, spark, trino, flink, duckdb] {
            let text = block(target);
            for fact in ["http://127.0.0.1:1/iceberg", "127.0.0.1:9", "the-key", "the-secret", "the-region"] {
                assert!(text.contains(fact), "{fact} is missing in:\n{text}");
            }
        }
        assert!(print(target).contains("ENDPOINT '127.0.0.1:9'"));
        assert!(print(target).contains("http://127.0.0.1:1/api/v2"));
    }
}
