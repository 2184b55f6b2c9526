from __future__ import annotations

import re
from datetime import date, datetime, timezone
from decimal import Decimal, InvalidOperation
from typing import Any, Callable, Dict, List, Optional

Convert = Callable[[Any], Any]


def converters(columns: List[Dict[str, str]]) -> Dict[str, Convert]:
    """What makes of a value of JSON the value that its column has, by the names of the columns."""
    found = {column["name"]: _converter(column["type"]) for column in columns}
    return {name: convert for name, convert in found.items() if convert is not None}


def typed(rows: List[Dict[str, Any]], by_name: Dict[str, Convert]) -> List[Dict[str, Any]]:
    """Rows in place. A value that Python has no type for stays the text that it is."""
    for row in rows:
        for name, convert in by_name.items():
            value = row.get(name)
            if value is None:
                continue
            try:
                row[name] = convert(value)
            except (ValueError, InvalidOperation, OverflowError):
                pass
    return rows


def _converter(type_name: str) -> Optional[Convert]:
    name = type_name.upper()
    if name.startswith("DECIMAL") and not name.endswith("]"):
        return _decimal
    if name in _WHOLE:
        return int
    return _BY_NAME.get(name, _floats)


class Number(float):
    """A number of JSON with its digits, of which a decimal is made without going through a float."""

    digits: str

    def __new__(cls, digits: str) -> "Number":
        number = super().__new__(cls, digits)
        number.digits = digits
        return number


def _decimal(value: Any) -> Decimal:
    return Decimal(value.digits if isinstance(value, Number) else value)


def _floats(value: Any) -> Any:
    """Numbers as plain floats, also inside lists and objects."""
    if isinstance(value, Number):
        return float(value)
    if isinstance(value, list):
        return [_floats(item) for item in value]
    if isinstance(value, dict):
        return {name: _floats(item) for name, item in value.items()}
    return value


def _datetime(value: str) -> datetime:
    """Python before 3.11 reads neither the Z nor a fraction of other than three or six digits."""
    found = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z?$", value)
    if found is None:
        raise ValueError(value)
    micros = int((found.group(2) or "0").ljust(6, "0")[:6])
    return datetime.fromisoformat(found.group(1)).replace(microsecond=micros, tzinfo=timezone.utc)


_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_WHOLE |= {"UHUGEINT", "BIGNUM"}
_BY_NAME: Dict[str, Convert] = {
    "DATE": date.fromisoformat,
    "TIMESTAMP": _datetime,
    "TIMESTAMP_S": _datetime,
    "TIMESTAMP_MS": _datetime,
    "TIMESTAMP_NS": _datetime,
    "TIMESTAMPTZ": _datetime,
    "TIMESTAMP WITH TIME ZONE": _datetime,
}
