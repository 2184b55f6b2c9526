from __future__ import annotations

from typing import Any, Dict, List, Optional


class SluiceError(Exception):
    """An answer that is no success, or none at all: then `status` is 0."""

    def __init__(self, status: int, body: Dict[str, Any]) -> None:
        super().__init__(body.get("message", ""))
        self.status = status
        self.body = body
        self.code: str = body.get("error", "")
        self.reason: Optional[str] = body.get("reason")
        self.details: List[Dict[str, str]] = body.get("details", [])
        self.more: int = body.get("more", 0)
        self.retry_after: Optional[int] = body.get("retry_after")
        self.request_id: Optional[str] = body.get("request_id")


class QuestionRefused(SluiceError):
    """A question that no deployed query answers as it was asked."""

    def __init__(self, status: int, body: Dict[str, Any]) -> None:
        super().__init__(status, body)
        self.candidates: List[Dict[str, Any]] = body.get("candidates", [])
        self.query_used: Optional[str] = body.get("query_used")
        self.parameters: Dict[str, Any] = body.get("parameters", {})
        self.missing: Optional[Dict[str, Any]] = body.get("schema")
        self.unexpressed: List[Dict[str, Any]] = body.get("unexpressed", [])


_refusals = {"no_match", "ambiguous", "missing_slots", "unexpressed", "period_end", "unsure"}


def error_of(status: int, body: Dict[str, Any]) -> SluiceError:
    is_refusal = status == 422 or (status == 0 and body.get("reason") in _refusals)
    return QuestionRefused(status, body) if is_refusal else SluiceError(status, body)
