from __future__ import annotations

import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any, Dict, Generic, Iterator, List, Optional, TypeVar, cast

from .contract import AskOptions
from .errors import SluiceError, error_of
from .values import Convert, Number, converters, typed

if TYPE_CHECKING:
    import pandas
    import pyarrow

Row = TypeVar("Row")

_ARROW = "application/vnd.apache.arrow.stream"
_FIRST_PAUSE_SECONDS = 0.25


class Answer(Generic[Row]):
    """Rows, and what is to be known of them."""

    def __init__(self, fields: Dict[str, Any]) -> None:
        self.fields = fields
        self.data: List[Row] = cast("List[Row]", typed(fields["data"], converters(fields.get("columns", []))))
        self.row_count: int = fields["row_count"]
        self.truncated: bool = fields["truncated"]
        self.version: int = fields["version"]
        self.as_of: Optional[str] = fields["as_of"]
        self.execution_time_ms: int = fields["execution_time_ms"]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def to_pandas(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.data)


class QuestionAnswer(Answer[Row]):
    """An answer to a question, with the query that gave it."""

    def __init__(self, fields: Dict[str, Any]) -> None:
        super().__init__(fields)
        self.query_used: str = fields["query_used"]
        self.parameters: Dict[str, Any] = fields["parameters"]
        self.confidence: Optional[float] = fields["confidence"]
        self.unused: List[str] = fields.get("unused", [])
        self.unexpressed: List[Dict[str, Any]] = fields.get("unexpressed", [])


class Client:
    """Calls with an API key. `project` is needed for questions, and where a key reaches several projects."""

    def __init__(
        self,
        url: str,
        *,
        key: str,
        project: Optional[str] = None,
        environment: Optional[str] = None,
        retries: int = 3,
        timeout: float = 60.0,
        max_pause: float = 30.0,
    ) -> None:
        if not re.match(r"slc_(live|test)_", key):
            raise ValueError("Calls need an API key: slc_live_… or slc_test_…")
        self._base = url.rstrip("/")
        self._key = key
        self._project = project
        self._environment = environment
        self._retries = retries
        self._timeout = timeout
        self._max_pause = max_pause

    def call(self, name: str, parameters: Optional[Dict[str, Any]] = None) -> Answer[Any]:
        """Calls a deployed query."""
        with self._send(_path(name), parameters or {}) as answer:
            return Answer(json.load(answer, parse_float=Number))

    def rows(self, name: str, parameters: Optional[Dict[str, Any]] = None) -> Iterator[Dict[str, Any]]:
        """Streams the rows of a query, however many there are."""
        return self._stream(_path(name), parameters or {})

    def arrow(self, name: str, parameters: Optional[Dict[str, Any]] = None) -> "pyarrow.Table":
        """The rows of a query with their types."""
        import pyarrow.ipc

        with self._send(_path(name), parameters or {}, accept=_ARROW) as answer:
            return pyarrow.ipc.open_stream(answer.read()).read_all()

    def pandas(self, name: str, parameters: Optional[Dict[str, Any]] = None) -> "pandas.DataFrame":
        """The rows of a query as a data frame."""
        return self.arrow(name, parameters).to_pandas()

    def ask(self, question: str, options: Optional[AskOptions] = None) -> QuestionAnswer[Any]:
        """Asks a question; raises `QuestionRefused` where no query answers it as it was asked."""
        with self._send("/v1/query", self._question(question, options)) as answer:
            return QuestionAnswer(json.load(answer, parse_float=Number))

    def ask_rows(self, question: str, options: Optional[AskOptions] = None) -> Iterator[Dict[str, Any]]:
        return self._stream("/v1/query", {**self._question(question, options), "stream": True})

    def _question(self, question: str, options: Optional[AskOptions]) -> Dict[str, Any]:
        if self._project is None:
            raise ValueError("A question needs the project: Client(url, key=…, project=…)")
        return {"query": question, "project_id": self._project, **cast("Dict[str, Any]", options or {})}

    def _stream(self, path: str, body: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
        with self._send(path, body, accept="text/event-stream") as answer:
            by_name: Dict[str, Convert] = {}
            for event, data in _events(answer):
                if event == "meta":
                    by_name = converters(data["columns"])
                elif event == "rows":
                    yield from typed(data["rows"], by_name)
                elif event == "error":
                    raise error_of(0, data)
                elif event == "done":
                    return
        # A part of the rows is never taken for all of them.
        raise SluiceError(0, {"error": "broken_answer", "message": "The stream ended before its last row."})

    def _send(self, path: str, body: Dict[str, Any], accept: str = "application/json") -> Any:
        headers = {"authorization": f"Bearer {self._key}", "content-type": "application/json", "accept": accept}
        # Types of the columns: dates, times and decimals are made of what JSON has as text.
        headers["prefer"] = "columns"
        if self._project is not None:
            headers["x-sluice-project"] = self._project
        if self._environment is not None:
            headers["x-sluice-environment"] = self._environment
        data = json.dumps(body).encode()
        for attempt in range(self._retries + 1):
            request = urllib.request.Request(self._base + path, data=data, headers=headers, method="POST")
            try:
                return _opener.open(request, timeout=self._timeout)
            except urllib.error.HTTPError as refused:
                with refused:
                    error = error_of(refused.code, _envelope(refused))
                cause: Exception = refused
            except OSError as broken:
                message = f"{self._base} cannot be reached: {broken}"
                error = SluiceError(0, {"error": "unreachable", "message": message})
                cause = broken
            pause = _pause_before(error, attempt)
            if pause is None or pause > self._max_pause or attempt == self._retries:
                raise error from cause
            time.sleep(pause)
        raise AssertionError("unreachable")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another place."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _path(name: str) -> str:
    return f"/v1/queries/{urllib.parse.quote(name, safe='')}"


def _pause_before(error: SluiceError, attempt: int) -> Optional[float]:
    """Seconds before the next try; None: there is to be none. A call changes nothing, so it may be repeated."""
    is_refused = error.code in ("rate_limit_exceeded", "overloaded")
    if is_refused and error.retry_after is not None:
        return float(error.retry_after)
    is_passing = error.code == "unreachable" or error.status in (502, 503, 504)
    if is_refused or (is_passing and error.code != "query_timeout"):
        return float(_FIRST_PAUSE_SECONDS * 2**attempt * (1 + random.random()))
    return None


def _envelope(answer: Any) -> Dict[str, Any]:
    try:
        body = json.load(answer)
        if isinstance(body, dict) and "error" in body and "message" in body:
            return body
    except (ValueError, OSError):
        pass
    return {"error": "broken_answer", "message": f"Answered with {answer.code} and something that is not of Sluice."}


def _events(answer: Any) -> Iterator[Any]:
    event, data = "message", []
    for raw in answer:
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if data:
                yield event, json.loads("\n".join(data), parse_float=Number)
            event, data = "message", []
        elif line.startswith("event:"):
            event = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].lstrip(" "))
