"""The clients of the demo, each pointed at one reference of the catalog: PyIceberg to write, DuckDB to read."""

import glob
import sysconfig

import duckdb
from pyiceberg.catalog import load_catalog


class Lake:
    """Where the catalog and its object store are; `s3` has the keys of the server's ready file."""

    def __init__(self, iceberg, warehouse, s3):
        self.iceberg = iceberg.rstrip("/")
        self.warehouse = warehouse
        self.s3 = s3

    def catalog(self, reference):
        """A PyIceberg catalog: the reference is the last part of its address."""
        settings = {
            "type": "rest",
            "uri": f"{self.iceberg}/{reference}",
            "s3.endpoint": self.s3["endpoint"],
            "s3.access-key-id": self.s3["access_key"],
            "s3.secret-access-key": self.s3["secret_key"],
            "s3.region": self.s3["region"],
        }
        if self.warehouse:
            settings["warehouse"] = self.warehouse
        return load_catalog(reference, **settings)

    def reader(self, *references):
        """A fresh DuckDB session with each reference attached; `Reader.path` names the tables."""
        session = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
        site = sysconfig.get_paths()["purelib"]
        for name in ("avro", "httpfs", "iceberg"):
            (path,) = glob.glob(f"{site}/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")
            session.execute(f"LOAD '{path}'")
        session.execute(
            f"""CREATE SECRET (TYPE s3, KEY_ID '{self.s3["access_key"]}', SECRET '{self.s3["secret_key"]}',
                ENDPOINT '{self.s3["endpoint"].removeprefix("http://")}', REGION '{self.s3["region"]}',
                URL_STYLE 'path', USE_SSL false)"""
        )
        for reference in references:
            # DuckDB takes its own secret only when it is told not to ask the catalog for keys.
            session.execute(
                f"""ATTACH '{self.warehouse}' AS "{database(reference)}" (TYPE iceberg, ENDPOINT '{self.iceberg}/{reference}',
                    AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none')"""
            )
        return Reader(session)


def database(reference):
    """DuckDB keeps `main` for itself, so every reference gets a prefix."""
    return f"lake {reference}"


class Reader:
    """SQL over the attached references."""

    def __init__(self, session):
        self.session = session

    def value(self, sql):
        return self.session.execute(sql).fetchone()[0]

    @staticmethod
    def path(reference, namespace, table):
        return f'"{database(reference)}"."{namespace}"."{table}"'

    def tables(self, reference, namespace):
        rows = self.session.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND schema_name = ? ORDER BY 1",
            [database(reference), namespace],
        ).fetchall()
        return [name for (name,) in rows]

    def columns(self, table):
        return [row[0] for row in self.session.execute(f"DESCRIBE {table}").fetchall()]

    def rows(self, table, where="true"):
        return self.value(f"SELECT count(*) FROM {table} WHERE {where}")

    def only_in(self, left, right, columns="*", where="true"):
        """Rows of `left` that `right` does not have, counting repeated rows."""
        return self.value(
            f"SELECT count(*) FROM (SELECT {columns} FROM {left} WHERE {where} EXCEPT ALL SELECT {columns} FROM {right})"
        )
