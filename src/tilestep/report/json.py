"""JSON for programs: one document on standard output, nothing else."""

from __future__ import annotations

import json
from typing import Any


def dumps(document: Any) -> str:
    """The document as text. Raises ValueError for NaN, which JSON does not have."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
