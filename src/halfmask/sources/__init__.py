"""Sources: tables that answer tallies with exact integers, and nothing else.

- `open_source`: a file, frame, array, dict or relation becomes a `Source`
- `is_address`: whether a source is the address of a database
- `Join`, `JoinedTable`: two tables joined by one column
- `Growing`: a folder of Parquet files, of which some may be read alone
- `Source`: its public `schema` and `name`, `tally`, `close`
"""

from halfmask.sources.growing import Growing
from halfmask.sources.join import Join, JoinedTable
from halfmask.sources.opening import open_source
from halfmask.sources.postgres import is_address
from halfmask.sources.table import Source

__all__ = ["Growing", "Join", "JoinedTable", "Source", "is_address", "open_source"]
