"""ebb.torch.report: a plan as a page that says of each value which line of Python asked for it."""

import json
import pathlib
import tempfile

from .. import _core
from ._compile import Compiled


def report(compiled, path=None, graph=0):
    """Writes the report of one graph of a compiled model: .html, .md, .json or .txt, by the path's suffix."""
    if not isinstance(compiled, Compiled):
        raise TypeError(f"ebb.torch.report: {type(compiled).__name__}: give what ebb.torch.compile returned")
    if path is None:
        raise TypeError("ebb.torch.report: give a path: report.html, .md, .json or .txt")
    if not compiled.plans:
        raise ValueError("ebb.torch: there is no plan yet: run a step with gradients first")
    if not 0 <= graph < len(compiled.plans):
        raise ValueError(f"ebb.torch: graph {graph}: the model has {len(compiled.plans)}, from 0 on")
    facts = compiled.plans[graph]
    values = [{**value, "name": name} for value, name in zip(facts.values, names(facts))]
    document = {"schema": "ebb.graph/1", "name": "step", "fixed_bytes": 0, "values": values, "ops": facts.ops}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "plan.json"
        file.write_text(json.dumps({**facts.plan, "graph": document}), encoding="utf-8")
        _core.report(str(file), str(path), pathlib.Path(path).suffix.removeprefix("."))


def names(facts):
    """Of the values: the op's, and its place in the program."""
    made = {}
    for op, place in zip(facts.ops, facts.places):
        made.update((v, place) for v in op["outputs"])
    return [value["name"] + (f" ({made[i]})" if made.get(i) else "") for i, value in enumerate(facts.values)]
