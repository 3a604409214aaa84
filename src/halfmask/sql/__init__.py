"""What a user types as SQL, mapped onto the public queries: text in, inert questions out.

sqlglot parses the text, and does nothing else: no SQL that an engine runs comes from here. Nothing
here sees a row, a budget or a curator; `Curator.sql` asks what comes out.

- `statement`: a SELECT becomes a `Statement`: query, by, where
- `filters`: WHERE becomes a `Predicate`, with SQL's own rules for NULL
- `functions`: COUNT, SUM, AVG, ... become queries, with public bounds; `cases`: those of some rows
- `groups`: GROUP BY becomes keys or filters; `calendar`: the periods of DATE_TRUNC
- `arranged`: HAVING, ORDER BY and LIMIT, done to what is released; `holding`: a rule of numbers
- `names`: which column, or table, a name means
- `nodes`: the one call of the parser, and how a piece of a text is refused
"""

from halfmask.sql.arranged import Arrangement
from halfmask.sql.statement import Statement, names_in, read_sql

__all__ = ["Arrangement", "Statement", "names_in", "read_sql"]
