"""A joint graph as a planning graph (ebb.graph/1), its plan, and what PyTorch's own order would hold."""

import hashlib
import json

from .. import _core
from .._errors import OverBudget
from . import _private as private

BORDER, STATE = "border", "state"
UNIT = 64  # bytes: the planner's own
PLANS = {}  # options and document -> plan, or a refusal's text


class Bytes:
    """What `values` take when `ops` run in their order in the graph. Ids of values: `given` are read between the halves, or the caller's by then;
    `stay` are gradients that stay to the end of the step."""

    def gradient_bytes(self):
        return sum(self.values[v]["bytes"] for v in self.stay)

    def kept_bytes(self):
        return sum(value["bytes"] for value in self.values if value["role"] == "output")

    def given_bytes(self):
        """What the caller has been given when the forward half has run."""
        return sum(self.values[v]["bytes"] for v in self.given)

    def passing_bytes(self):
        """What is there at the border alone, not while other graphs run: gradients that come in, and copies into buffers."""
        border = next(op for op in self.ops if op["kind"] == BORDER)
        read = {v for op in self.ops[border["id"] + 1:] for v in op["inputs"]}
        ends = [v for v in border["inputs"] if self.values[v]["role"] != "output" and v not in read]
        return sum(self.values[v]["bytes"] for v in [*border["outputs"], *ends])

    def held_in_order(self):
        """Between the halves, when nothing runs again: what the backward half reads, and what the caller has been given."""
        border = next(i for i, op in enumerate(self.ops) if op["kind"] == BORDER)
        early = {v for op in self.ops[:border] for v in op["outputs"]}
        read = {v for op in self.ops[border + 1:] for v in op["inputs"]}.union(self.given)
        return sum(self.values[v]["bytes"] for v in early & read)

    def bytes_in_order(self):
        """The peak when each op runs once, and each value dies after its last reader."""
        last = {}
        for i, op in enumerate(self.ops):
            for v in op["inputs"] + op["outputs"]:
                last[v] = i
        dying = [[] for _ in self.ops]
        for v, i in last.items():
            if self.values[v]["role"] != "output":
                dying[i].append(v)
        live = peak = 0
        for i, op in enumerate(self.ops):
            live += sum(self.values[v]["bytes"] for v in op["outputs"])
            peak = max(peak, live + (0 if op["kind"] == BORDER else op.get("scratch_bytes", 0)))
            live -= sum(self.values[v]["bytes"] for v in dying[i])
        return peak


class Document(Bytes):
    """The planning graph of a Joint. `rows` has for each op its Unit, BORDER between the halves, or STATE: what keeps a generator's state
    for the draw after it, whose other runs read it. `state_of` has that value's id for each unit that draws."""

    def __init__(self, joint, rounding):
        self.joint, self.rounding, self.leaves = joint, rounding, []
        self.values, self.ops, self.rows, self.state_of = [], [], [], {}
        self.last_draw = None  # op
        early = [unit for unit in joint.units if not unit.late]
        self.border_reads = self._roots_made(joint.forward_outputs)
        kept = self._kept()
        for unit in early:
            self._add(unit, kept, "forward")
        self._add_border(kept)
        for unit in joint.units:
            if unit.late:
                self._add(unit, kept, "backward")

    def _roots_made(self, nodes):
        joint = self.joint
        roots = [r for n in nodes if hasattr(n, "op") for r in joint.roots(n)]
        return list(dict.fromkeys(joint.made[r] for r in roots if r in joint.made))

    def _kept(self):
        """What the caller holds to the end of the step; copies into buffers die when the forward half has run."""
        joint = self.joint
        given = [n for n, d in zip(joint.forward_outputs, joint.forward_descriptors) if not isinstance(d, private.InputMutationAOTOutput)]
        return set(self._roots_made(given)) | set(self._roots_made(joint.backward_outputs))

    def _value(self, value, node, kept, gradient):
        value.id = len(self.values)
        n_bytes = self.rounded(value.bytes)
        role = "output" if value in kept else "gradient" if gradient else "activation"
        self.values.append({"id": value.id, "name": node.name, "bytes": n_bytes, "role": role, "shape": shape_text(node)})

    def _add(self, unit, kept, phase):
        for node, value in unit.outputs:
            self._value(value, node, kept, unit.backward)
        recomputable = unit.recomputable and not any(value in kept for _, value in unit.outputs)
        after, state = self._drawn_before(unit.random), 0
        if unit.random and recomputable:
            state = self._add_state(unit, phase, after)
            after = []
        op = {
            "id": len(self.ops), "name": unit.node.name, "kind": kind_text(unit), "phase": phase,
            "inputs": [value.id for value in unit.reads] + ([self.state_of[unit]] if unit in self.state_of else []),
            "outputs": [value.id for _, value in unit.outputs], "time_ns": max(1, int(unit.time_ns)),
            "scratch_bytes": self.rounded(unit.scratch_bytes + self.joint.unread_bytes(unit)) + state,
            "recomputable": recomputable, "ordered": unit.ordered, "after": after,
        }
        if unit.random:
            self.last_draw = op["id"]
        self.ops.append(op)
        self.rows.append(unit)

    def rounded(self, n_bytes):
        return rounded(n_bytes, self.rounding)

    def _add_state(self, unit, phase, after):
        """A draw's other runs start from the generator's state before its first; each run keeps another one for its time."""
        n_bytes = self.rounded(private.random_state_bytes(unit.node))
        self.state_of[unit] = len(self.values)
        self.values.append({"id": len(self.values), "name": f"{unit.node.name}_state", "bytes": n_bytes, "role": "activation", "shape": ""})
        self.ops.append({
            "id": len(self.ops), "name": f"{unit.node.name}_state", "kind": "state", "phase": phase, "time_ns": 1, "recomputable": False,
            "inputs": [], "outputs": [self.state_of[unit]], "after": after,
        })
        self.rows.append(STATE)
        return n_bytes

    def _drawn_before(self, random):
        """The last op that draws: the next one draws after it, and all of the forward half's before it ends."""
        return [self.last_draw] if random and self.last_draw is not None else []

    def _add_border(self, kept):
        made = [self.joint.made[n] for n in self.joint.tangents if n in self.joint.made]
        for value in made:
            self._value(value, value.node, kept, True)
        self.ops.append({
            "id": len(self.ops), "name": "border", "kind": "border", "phase": "forward", "time_ns": 1, "recomputable": False,
            "ordered": True, "inputs": [v.id for v in self.border_reads], "outputs": [v.id for v in made],
            "after": self._drawn_before(True),
        })
        self.rows.append(BORDER)

    def text(self, name):
        return text_of(self.values, self.ops, name=name)

    def leave_room(self, n_bytes):
        """Between the halves, for what other graphs hold then."""
        next(op for op in self.ops if op["kind"] == BORDER)["scratch_bytes"] = n_bytes

    @property
    def given(self):
        return [v.id for v in self.border_reads]

    @property
    def stay(self):
        """An input that another graph has made hands its gradient on to that one."""
        made = self.joint.backward_outputs
        known = len(self.leaves) == len(made) == len(self.joint.primals)
        return [value.id for value in self._roots_made([g for g, leaf in zip(made, self.leaves) if leaf] if known else made)]


def rounded(n_bytes, unit):
    return -(-int(n_bytes) // unit) * unit


def text_of(values, ops, room=None, name="step"):
    """ebb.graph/1, with so many bytes of room at the border if that is given."""
    if room is not None:
        ops = [{**op, "scratch_bytes": room} if op["kind"] == BORDER else op for op in ops]
    return json.dumps({"schema": "ebb.graph/1", "name": name, "fixed_bytes": 0, "values": values, "ops": ops}).encode()


def shape_text(node):
    value = node.meta.get("val")
    shape = getattr(value, "shape", None)
    return "" if shape is None else f"{str(value.dtype).removeprefix('torch.')}[{','.join(map(str, shape))}]"


def kind_text(unit):
    return getattr(unit.fused, "__name__", None) or str(getattr(unit.node.target, "__name__", unit.node.target))


def within(n_bytes):
    """Options of a plan whose values are PyTorch's: what is live at once counts, not how well one block for them could be packed."""
    return {"memory": "budget", "budget": max(1, n_bytes), "unpacked": True}


def make_plan(text, options):
    """The plan of a document, or the refusal that names its least; the same document and options are planned once. What a refusal names is there when it
    is asked for."""
    key = key_of(text, options)
    if key not in PLANS:
        try:
            PLANS[key] = read(_core.plan(text, options))
        except OverBudget as error:
            if not error.least_bytes:  # the clock struck before anything was found
                raise
            PLANS[key] = str(error)
            if error.smallest:
                PLANS.setdefault(key_of(text, {**options, "budget": error.least_bytes}), read(error.smallest))
    if isinstance(PLANS[key], str):
        raise OverBudget(PLANS[key])
    return PLANS[key]


def key_of(text, options):
    return hashlib.sha256(text + repr(sorted(options.items())).encode()).hexdigest()


def read(text):
    plan = json.loads(text)
    plan.pop("graph")
    return plan
