"""The `halfmask` command, one face of the public door.

app                the command and its parts; how it fails
init_command       init: writes a first plan (`template`)
plan_commands      check, cost, run
verify_command     verify: attacks a plan on simulated tables
ledger_commands    ledger show, ledger verify
planfile           a plan's text becomes frozen objects
session            a plan meets its table: checked, and paid for on paper first
publish            answers on the screen, as JSON, as CSV (`figures`, `show`)
"""

from halfmask.cli.app import app, main
from halfmask.cli.planfile import Plan, read_plan

__all__ = ["Plan", "app", "main", "read_plan"]
