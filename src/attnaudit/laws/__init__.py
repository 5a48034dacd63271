"""The laws a model must keep for its audits to mean anything, and the checks of a model or record.

A law that compares comes with a control: a difference that must be there for the law to be able to
fail.
"""

from attnaudit.laws.checks import check_model
from attnaudit.laws.report import Law, LawReport
from attnaudit.laws.validate_record import check_record

__all__ = ["Law", "LawReport", "check_model", "check_record"]
