"""Written by `npm run generate -- python-contract` from docs/openapi.json. Do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

ErrorCode = Literal[
    "invalid_request",
    "invalid_query",
    "authentication_failed",
    "permission_denied",
    "query_not_found",
    "not_found",
    "method_not_allowed",
    "conflict",
    "payload_too_large",
    "result_too_large",
    "unsupported_media_type",
    "rate_limit_exceeded",
    "headers_too_large",
    "cancelled",
    "internal_error",
    "upstream_error",
    "overloaded",
    "upstream_timeout",
    "query_timeout",
]


class RoutingCandidates(TypedDict):
    """A part of Routing."""

    name: str
    description: str
    score: float
    confidence: Optional[float]
    example: str


class RoutingSources(TypedDict):
    """A part of Routing."""

    start: int
    end: int
    text: str


class RoutingPeriod(TypedDict):
    """A part of Routing."""

    first: Optional[str]
    last: Optional[str]
    text: str


class RoutingUnused(TypedDict):
    """A part of Routing."""

    start: int
    end: int
    text: str


class RoutingUnexpressed(TypedDict):
    """A part of Routing."""

    start: int
    end: int
    text: str
    kind: Literal["condition", "measure", "grain", "order", "entity", "negation", "second_question", "command"]


class Routing(TypedDict):
    """Why a question went to its query."""

    candidates: List[RoutingCandidates]
    matched_example: Optional[str]
    read_as: Optional[str]
    parameters: Dict[str, Any]
    sources: Dict[str, RoutingSources]
    period: Optional[RoutingPeriod]
    unused: List[RoutingUnused]
    unexpressed: List[RoutingUnexpressed]
    confidence: Optional[float]
    threshold: float
    margin: Optional[float]
    least_margin: float
    encoder: Literal["neural", "lexical"]
    decided_by: Literal["router", "model", "caller"]
    verdict: Optional[Literal["own_wording", "little_in_common", "opposed", "tied", "period_end", "missing_value", "doubted_value", "nearest_opposed", "far", "left_out", "tied_when_read", "unsure", "may_leave_out", "whole"]]
    routing_time_ms: float


class AnswerFieldsMetaTables(TypedDict):
    """A part of AnswerFieldsMeta."""

    name: str
    as_of: Optional[str]
    truncated: bool


class AnswerFieldsMeta(TypedDict):
    """A part of AnswerFields."""

    truncated_source: bool
    tables: List[AnswerFieldsMetaTables]


class AnswerFieldsColumns(TypedDict):
    """A part of AnswerFields."""

    name: str
    type: str


class AnswerFieldsWarnings(TypedDict):
    """A part of AnswerFields."""

    code: str
    slot: str
    value: str
    nearest: List[str]


class _AnswerFields(TypedDict):
    data: List[Dict[str, Any]]
    execution_time_ms: int
    row_count: int
    truncated: bool
    version: int
    as_of: Optional[str]


class AnswerFields(_AnswerFields, total=False):
    """The answer of a call, as it travels."""

    meta: AnswerFieldsMeta
    columns: List[AnswerFieldsColumns]
    warnings: List[AnswerFieldsWarnings]
    more_warnings: int


class QuestionAnswerFieldsMetaTables(TypedDict):
    """A part of QuestionAnswerFieldsMeta."""

    name: str
    as_of: Optional[str]
    truncated: bool


class QuestionAnswerFieldsMeta(TypedDict):
    """A part of QuestionAnswerFields."""

    truncated_source: bool
    tables: List[QuestionAnswerFieldsMetaTables]


class QuestionAnswerFieldsColumns(TypedDict):
    """A part of QuestionAnswerFields."""

    name: str
    type: str


class QuestionAnswerFieldsWarnings(TypedDict):
    """A part of QuestionAnswerFields."""

    code: str
    slot: str
    value: str
    nearest: List[str]


class QuestionAnswerFieldsUnexpressed(TypedDict):
    """A part of QuestionAnswerFields."""

    start: int
    end: int
    text: str
    kind: Literal["condition", "measure", "grain", "order", "entity", "negation", "second_question", "command"]


class QuestionAnswerFieldsFollows(TypedDict):
    """A part of QuestionAnswerFields."""

    request_id: str
    changed: Optional[List[str]]


class _QuestionAnswerFields(TypedDict):
    data: List[Dict[str, Any]]
    query_used: str
    parameters: Dict[str, Any]
    execution_time_ms: int
    row_count: int
    truncated: bool
    version: int
    as_of: Optional[str]
    confidence: Optional[float]


class QuestionAnswerFields(_QuestionAnswerFields, total=False):
    """The answer to a question, as it travels."""

    chart: Chart
    meta: QuestionAnswerFieldsMeta
    columns: List[QuestionAnswerFieldsColumns]
    warnings: List[QuestionAnswerFieldsWarnings]
    more_warnings: int
    unused: List[str]
    unexpressed: List[QuestionAnswerFieldsUnexpressed]
    follows: QuestionAnswerFieldsFollows
    routing: Routing


class ErrorFieldsDetails(TypedDict):
    """A part of ErrorFields."""

    field: str
    message: str


class _ErrorFields(TypedDict):
    error: str
    message: str
    request_id: str


class ErrorFields(_ErrorFields, total=False):
    """What every refusal says."""

    reason: str
    details: List[ErrorFieldsDetails]
    more: int
    retry_after: int


class AskOptions(TypedDict, total=False):
    """What may be said beside a question."""

    explain: bool
    parameters: Dict[str, Any]
    query_name: str
    time_zone: str
    strict: bool
    partial: bool
    follows: str
