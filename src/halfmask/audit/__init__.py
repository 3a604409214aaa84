"""Attack on claims of privacy.

audit, audit_pairs         a certified lower bound on epsilon and delta, from outputs alone
repeated                   adapts a mechanism that answers once a call
Pair, row_pairs, answer_pairs   neighbours that have broken mechanisms before
Audit                      what was found

exact                      nothing sampled: losses from mass functions and from exact integers
verify, Verification       a release, over all neighbours of small simulated tables
verify_series              all closings of a series, over histories of a growing table
exact_loss                 a mechanism, over its whole support

compare, fits, Comparison  distribution checks: two samplers, or samples and an exact law
Asking, attack             a whole ask as a mechanism, and its audit
Finding, report_page, write_report   one HTML page with the pairs and their histograms
"""

from halfmask.audit.asking import Asking, attack
from halfmask.audit.audit import audit, audit_pairs
from halfmask.audit.compare import Comparison, compare, fits
from halfmask.audit.exact import Verification, exact_loss, verify, verify_series
from halfmask.audit.neighbours import Pair, answer_pairs, row_pairs
from halfmask.audit.report import Finding, report_page, write_report
from halfmask.audit.samples import repeated
from halfmask.audit.verdict import Audit

__all__ = [
    "Asking",
    "Audit",
    "Comparison",
    "Finding",
    "Pair",
    "Verification",
    "answer_pairs",
    "attack",
    "audit",
    "audit_pairs",
    "compare",
    "exact_loss",
    "fits",
    "repeated",
    "report_page",
    "row_pairs",
    "verify",
    "verify_series",
    "write_report",
]
