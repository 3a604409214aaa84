"""Attack on claims of privacy.

audit, audit_pairs         a certified lower bound on epsilon and delta, from outputs alone
repeated                   adapts a mechanism that answers once a call
Pair, row_pairs, answer_pairs   neighbours that have broken mechanisms before
Audit                      what was found

exact                      nothing sampled: losses from mass functions and from exact integers
verify, Verification       a release, over all neighbours of small simulated tables
exact_loss                 a mechanism, over its whole support

compare, fits, Comparison  distribution checks: two samplers, or samples and an exact law
"""

from halfmask.audit.audit import audit, audit_pairs
from halfmask.audit.compare import Comparison, compare, fits
from halfmask.audit.exact import Verification, exact_loss, verify
from halfmask.audit.neighbours import Pair, answer_pairs, row_pairs
from halfmask.audit.samples import repeated
from halfmask.audit.verdict import Audit

__all__ = [
    "Audit",
    "Comparison",
    "Pair",
    "Verification",
    "answer_pairs",
    "audit",
    "audit_pairs",
    "compare",
    "exact_loss",
    "fits",
    "repeated",
    "row_pairs",
    "verify",
]
