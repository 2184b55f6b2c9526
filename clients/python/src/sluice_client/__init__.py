"""Calls and asks the queries that are deployed in Sluice."""

from .client import Answer, Client, QuestionAnswer
from .contract import AskOptions, ErrorCode
from .errors import QuestionRefused, SluiceError

__all__ = ["Answer", "AskOptions", "Client", "ErrorCode", "QuestionAnswer", "QuestionRefused", "SluiceError"]
__version__ = "0.2.0"
