"""The plan file: TOML text becomes frozen objects, and what is wrong is told by line and key.

- `read_plan`: a `Document` becomes a `Plan`: its `Table`, its `Budget`, its `Ask`s and `Recurring`s
- `Document`: the text and its places
- `QUERIES`: the queries that a plan can name, built from the public query classes
- `secretive`: the address of a database, without a password
- `PLACEHOLDER`: what is still to be filled in by a person
"""

from halfmask.cli.planfile.document import Document
from halfmask.cli.planfile.kinds import QUERIES
from halfmask.cli.planfile.plan import Ask, Budget, Plan, Wanted, read_plan
from halfmask.cli.planfile.recurring import Recurring
from halfmask.cli.planfile.section import PLACEHOLDER
from halfmask.cli.planfile.table import Table, secretive

__all__ = [
    "PLACEHOLDER",
    "QUERIES",
    "Ask",
    "Budget",
    "Document",
    "Plan",
    "Recurring",
    "Table",
    "Wanted",
    "read_plan",
    "secretive",
]
