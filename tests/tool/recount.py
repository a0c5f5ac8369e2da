"""Bytes of each step by category, counted again from a plan file by docs/report.md, step by step and without sharing
code with what is tested."""

CATEGORIES = ["fixed", "params", "state", "io", "recomputed", "gradients", "kept", "transient", "scratch", "padding"]


def way(op, alternative):
    chosen = op.get("alternatives", [])[alternative] if alternative is not None else {}
    return {key: chosen[key] if chosen.get(key) is not None else op.get(key, default)
            for key, default in (("time_ns", 0), ("in_place", []), ("inputs", []))}


def meets(a, b):
    return a["region"] == b["region"] and a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]


def joins(plan):
    """Per buffer (what it shares with, how), or None."""
    graph, buffers, out = plan["graph"], plan["buffers"], {}
    for step in plan["steps"]:
        op = graph["ops"][step["op"]]
        for j, b in enumerate(step["writes"]):
            views = [i for o, i, _ in op.get("views", []) if o == j]
            updates = [i for o, i in op.get("update", []) if o == j]
            over = [i for o, i in way(op, step["alternative"])["in_place"]
                    if o == j and buffers[b]["bytes"] and buffers[step["reads"][i]]["bytes"]
                    and meets(buffers[b], buffers[step["reads"][i]])]
            for kind, found in (("view", views), ("update", updates), ("in place", over)):
                if found and b not in out:
                    out[b] = (step["reads"][found[0]], kind)
    return out


class Recount:
    def __init__(self, plan):
        self.plan, self.graph, self.buffers = plan, plan["graph"], plan["buffers"]
        self.steps = plan["steps"]
        self.joined = joins(plan)
        self.writer = {b: s for s, step in enumerate(self.steps) for b in step["writes"]}
        self.n = max(1, len(self.steps))
        phases = [self.graph["ops"][step["op"]].get("phase", "forward") for step in self.steps]
        self.backward = next((s for s, phase in enumerate(phases) if phase != "forward"), None)
        self.members = {}
        for b, buffer in enumerate(self.buffers):
            if buffer["bytes"]:
                self.members.setdefault(self.first(b), []).append(b)

    def first(self, b):
        while b in self.joined:
            b = self.joined[b][0]
        return b

    def up(self, n):
        return -(-n // self.plan["alignment"]) * self.plan["alignment"]

    def storage_bytes(self, first):
        start = self.buffers[first]["offset"]
        return max(self.buffers[b]["offset"] + self.buffers[b]["bytes"] for b in self.members[first]) - start

    def owner_at(self, first, s):
        """The last member written at or before step s that is no view; None when the storage does not live in s."""
        members = self.members[first]
        upper = max(max(self.buffers[b]["upper"] for b in members), self.buffers[first]["lower"] + 1)
        if not self.buffers[first]["lower"] <= s < upper:
            return None
        written = [(self.writer.get(b, -1), b) for b in members if self.joined.get(b, (0, ""))[1] != "view"]
        return max((w, b) for w, b in written if w <= s)[1]

    def spans(self):
        """first member -> owner -> steps in which it owns."""
        out = {}
        for first in self.members:
            if self.buffers[first]["region"] != "transient":
                continue
            for s in range(self.n):
                owner = self.owner_at(first, s)
                if owner is not None:
                    out.setdefault(first, {}).setdefault(owner, []).append(s)
        return out

    def category(self, b, steps):
        value = self.graph["values"][self.buffers[b]["value"]]
        step = self.steps[self.writer[b]] if b in self.writer else None
        if value["role"] in ("param", "constant"):
            return "params"
        if value["role"] == "state":
            return "state"
        if value["role"] in ("input", "output"):
            return "io"
        if step["recompute"]:
            return "recomputed"
        if value["role"] == "gradient" or self.graph["ops"][step["op"]].get("phase", "forward") != "forward":
            return "gradients"
        held = self.backward is not None and steps[0] < self.backward <= steps[-1]
        return "kept" if held else "transient"

    def table(self):
        rows = [dict.fromkeys(CATEGORIES, 0) for _ in range(self.n)]
        persistent = 0
        for row in rows:
            row["fixed"] = self.graph.get("fixed_bytes", 0)
        for first in self.members:
            if self.buffers[first]["region"] == "persistent":
                persistent += self.buffers[first]["bytes"]
                for row in rows:
                    row[self.category(first, [])] += self.buffers[first]["bytes"]
        for first, owners in self.spans().items():
            for owner, steps in owners.items():
                for s in steps:
                    own = self.buffers[owner]["bytes"]
                    rows[s][self.category(owner, steps)] += own
                    rows[s]["padding"] += self.up(self.storage_bytes(first)) - own
        for s, row in enumerate(rows):
            scratch = self.steps[s]["scratch_bytes"] if self.steps else 0
            row["scratch"] += scratch
            row["padding"] += self.up(scratch) - scratch + self.plan["persistent_bytes"] - persistent
        return rows
