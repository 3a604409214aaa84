"""Privacy: who is protected, what a promise costs, and the ledger that is charged first.

Whom           `Relation`, `PrivacyUnit`
Prices         `Pure`, `Approximate`, `ZCDP`, `GDP` (all a `Cost` in a `Measure`), `exact`
Conversions    `pure_rho`, `pure_mu`, `bounded_range_rho`,
               `zcdp_delta`, `zcdp_epsilon`, `zcdp_rho`, `gdp_delta`, `gdp_epsilon`, `gdp_mu`,
               `gdp_after_zcdp`
Meaning        `Meaning`: what an attacker can do at most with the answers of a price
Ledger         `Ledger`, its `Receipt` and `Entry`; `Purse`, a part of it for one procedure,
               and `EndingPurse`, for one that ends with Gaussian noise
               `zcdp_delta`, `zcdp_epsilon`, `zcdp_rho`, `gdp_delta`, `gdp_epsilon`, `gdp_mu`
Ledger         `Ledger`, its `Receipt` and `Entry`; `Purse`, a part of it for one procedure;
               `ExportedLedger`, the JSON that MATLAB and Octave keep;
               `is_stored`, `shown_place` of where one is
"""

from halfmask.privacy.chain import Entry
from halfmask.privacy.conversions import (
    bounded_range_rho,
    gdp_delta,
    gdp_epsilon,
    gdp_mu,
    gdp_pure,
    pure_mu,
    pure_rho,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_pure,
    zcdp_rho,
)
from halfmask.privacy.cost import Cost, Measure
from halfmask.privacy.currencies import GDP, ZCDP, Approximate, Pure
from halfmask.privacy.ending import EndingPurse, gdp_after_zcdp
from halfmask.privacy.exact import Number, at_most, exact, plain
from halfmask.privacy.exported import ExportedLedger
from halfmask.privacy.ledger import Ledger
from halfmask.privacy.meaning import Meaning
from halfmask.privacy.purse import Purse
from halfmask.privacy.receipt import Receipt
from halfmask.privacy.report import Report
from halfmask.privacy.store import is_stored, shown_place
from halfmask.privacy.unit import PrivacyUnit, Relation

__all__ = [
    "GDP",
    "ZCDP",
    "Approximate",
    "Cost",
    "EndingPurse",
    "Entry",
    "ExportedLedger",
    "Ledger",
    "Meaning",
    "Measure",
    "Number",
    "PrivacyUnit",
    "Pure",
    "Purse",
    "Receipt",
    "Relation",
    "Report",
    "at_most",
    "bounded_range_rho",
    "exact",
    "gdp_after_zcdp",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu",
    "gdp_pure",
    "is_stored",
    "plain",
    "pure_mu",
    "pure_rho",
    "shown_place",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_pure",
    "zcdp_rho",
]
