"""Where a ledger on PostgreSQL is: `postgresql://user@host:port/database#name`.

All up to the `#` is libpq's; the name after it is the schema that holds the ledger's tables. An
address may hold a password, and a mistyped one may hold it in any place, so no message shows what
was given, and what libpq makes of it is looked at before it is used.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from halfmask.errors import InvalidQuery, LedgerError

__all__ = ["Address"]

_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_DEFAULT = "halfmask"
_SECRETS = (
    "password",
    "sslpassword",
    "passfile",
    "sslkey",
    "oauth_client_secret",
    "scram_client_key",
    "scram_server_key",
)
_NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Address:
    """A database, what to say to it, and the schema in it.

    options: libpq's, by name; with the password.
    """

    options: Mapping[str, Any] = field(repr=False)
    schema: str = _DEFAULT

    @staticmethod
    def is_one(place: object) -> bool:
        """Whether this is an address, and no path of a file; `of` refuses what is mistyped."""
        return isinstance(place, str) and _ADDRESS.match(place) is not None

    @classmethod
    def of(cls, text: str) -> "Address":
        """Read an address; InvalidQuery, which shows nothing of it, if it cannot be one."""
        base, mark, name = text.rpartition("#")
        if not mark:
            base, name = text, _DEFAULT
        if not _NAME.fullmatch(name):
            raise InvalidQuery(
                "ledger: the name after # must be of up to 63 lower-case letters, digits and _, "
                "such as postgresql://host/database#payroll; in a password write # as %23"
            )
        options = _parsed(base)
        places = [str(options.get(key, "")) for key in ("host", "hostaddr", "dbname", "user")]
        ports = str(options.get("port", ""))
        if any("@" in place for place in places) or not re.fullmatch("[0-9,]*", ports):
            raise InvalidQuery(
                "ledger: the address cannot be told apart; in a user's name or a password write "
                "@ as %40, / as %2F, : as %3A, # as %23 and % as %25"
            )
        return cls(options, name)

    @property
    def shown(self) -> str:
        """The address without user, password and options."""
        host, port = (str(self.options.get(key, "")) for key in ("host", "port"))
        host = host or str(self.options.get("hostaddr", ""))
        host = "" if host.startswith(("/", "@")) else host  # a socket's folder
        where = f"{host}:{port}" if host and port else host
        return f"postgresql://{where}/{self.options.get('dbname', '')}#{self.schema}"

    @property
    def without_secrets(self) -> str:
        """An address of the same ledger that holds no password."""
        kept = {key: value for key, value in self.options.items() if key not in _SECRETS}
        database = quote(str(kept.pop("dbname", "")), safe="")
        rest = "&".join(f"{key}={quote(str(value), safe='')}" for key, value in kept.items())
        return f"postgresql:///{database}{'?' if rest else ''}{rest}#{self.schema}"

    def cleaned(self, message: str) -> str:
        """The first line of what libpq says, without any secret."""
        line = message.strip().partition("\n")[0]
        for key in _SECRETS:
            secret = str(self.options.get(key, ""))
            if secret and secret in line:
                return "the reason is not shown, since it tells a secret"
        return line


def _parsed(base: str) -> dict[str, Any]:
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise LedgerError(
            "ledger: psycopg is needed for a ledger on PostgreSQL; "
            "run pip install 'halfmask[postgres]'"
        ) from None
    try:
        return dict(conninfo_to_dict(base))
    except (ProgrammingError, ValueError):
        raise InvalidQuery(
            "ledger: the address cannot be read; write postgresql://user@host:5432/database, and "
            "in a password @ as %40, / as %2F, # as %23 and % as %25"
        ) from None
