"""Functions whose calls become plans."""

from .._errors import TraceError
from .config import DTRConfig, GraphOptimizationConfig, SublinearMemoryConfig
from .loaded import load
from .partial import partial_trace, xla_trace
from .trace import exclude_from_trace, trace

__all__ = [
    "DTRConfig", "GraphOptimizationConfig", "SublinearMemoryConfig", "TraceError", "exclude_from_trace",
    "load", "partial_trace", "trace", "xla_trace",
]
