"""What became of one graph: its plan, and what that takes while it runs and between its halves."""

import hashlib
import time

from .._errors import OverBudget
from . import _plan
from ._places import place_of
from ._plan import BORDER, STATE, UNIT

LEAST_TRIES, LOOSER = 3, 1.02  # a search cut off by the clock may miss what the one before it has found: it gets a few more bytes
LEAST_SECONDS, RUNS = 0.1, 1000  # a graph's own search takes no longer than so many of its runs: what it gains is a part of these
QUICK = 10  # of a search, what finds which part is best: short searches rank parts as long ones do
CUT_SHORT, PATIENCE = "cut the search short", 4  # before such a refusal is believed, the search has more time, once


class Taken:
    """What a plan takes: `planned_bytes` in any step, `held_bytes` between the halves, without the room that its document leaves at the border."""

    def __init__(self, plan, values, ops):
        border = next(i for i, step in enumerate(plan["steps"]) if ops[step["op"]]["kind"] == BORDER)
        change = [0] * (len(plan["steps"]) + 1)
        self.held_bytes = 0
        for buffer in plan["buffers"]:
            n_bytes = values[buffer["value"]]["bytes"]
            change[buffer["lower"]] += n_bytes
            change[buffer["upper"]] -= n_bytes
            self.held_bytes += n_bytes if buffer["lower"] < border < buffer["upper"] - 1 else 0
        live = self.planned_bytes = 0
        for i, step in enumerate(plan["steps"]):
            live += change[i]
            self.planned_bytes = max(self.planned_bytes, live + (0 if i == border else ops[step["op"]].get("scratch_bytes", 0)))


class Searched:
    """What searches for the graphs of a step ask of one: `free` says that its own search had no limit on what it holds, `short` that it had little
    time."""

    def nothing_gained(self, limit):
        """Whether its plan is one that a search within this limit was for, and had the time for."""
        return self.had_all(limit) and not (self.short and self.added_ns)

    def had_all(self, limit):
        """Whether its own search had as many bytes."""
        return self.free and not self.starved and (self.budget_bytes is None or limit <= LOOSER * self.budget_bytes)

    @property
    def least_bytes(self):
        """What its own search named as its least, where that is known: with room left at the border it needs no less."""
        return self.found_within if self.starved and self.free else 0

    @property
    def added_ns(self):
        return self.time_ns - sum(op["time_ns"] for op in self.ops)


class GraphPlan(Searched):
    """What became of one graph: `planned_bytes` are the most that its activations and gradients take in a step, in PyTorch's
    order `bytes_in_order`; `held_bytes` of them stay between its halves; `planning_seconds` are of processor time, for all searches; `document` and `plan`
    are ebb.graph/1 and ebb.plan/1."""

    def __init__(self, document, plan, budget_bytes, seconds, starved=False, free=True, found_within=0, short=False):
        self.budget_bytes, self.planning_seconds, self.starved, self.free, self.short = budget_bytes, seconds, starved, free, short
        self.found_within = found_within  # bytes; 0: the plan is in PyTorch's order
        self.plan, self.ops, self.values, self.key = plan, document.ops, document.values, key_of(document)
        self.places = ["" if unit in (BORDER, STATE) else place_of(unit.node) for unit in document.rows]
        taken = Taken(plan, self.values, self.ops)
        self.planned_bytes, self.held_bytes, self.arena_bytes = taken.planned_bytes, taken.held_bytes, plan["arena_bytes"]
        self.bytes_in_order = document.bytes_in_order()
        self.n_recomputed = sum(step["recompute"] for step in plan["steps"])
        self.time_ns, own = plan["time_ns"], sum(op["time_ns"] for op in document.ops)
        self.predicted_added = plan["time_ns"] / own - 1
        self.gradient_bytes, self.held_in_order, self.given_bytes = document.gradient_bytes(), document.held_in_order(), document.given_bytes()
        self.kept_bytes, self.passing_bytes = document.kept_bytes(), document.passing_bytes()


class Settled:
    """A graph's plan among those of a step: of a document that leaves `room` at the border for what the others hold then. `facts` are what it was
    searched from."""

    def __init__(self, facts, plan, room, limit, starved, taken):
        self.facts, self.plan, self.room, self.limit, self.starved = facts, plan, room, limit, starved
        self.planned_bytes, self.held_bytes, self.time_ns = taken.planned_bytes, taken.held_bytes, plan["time_ns"]


def as_it_is(facts):
    """Its own plan, whatever the others'."""
    return Settled(facts, facts.plan, 0, facts.budget_bytes, facts.starved, facts)


def key_of(document):
    """The same for the same graph, whatever room it leaves."""
    return hashlib.sha256(_plan.text_of(document.values, document.ops, 0)).hexdigest()


def settle(facts, limit, held, options, patient=False):
    """A plan of the graph within these bytes, of which it holds so many between its halves; or its least. The one it has is not searched for again
    where no more bytes are left than it was found within, and else taken where a search, which may be a short one, finds none as good."""
    own = Settled(facts, facts.plan, 0, limit, False, facts)
    fits = own.planned_bytes <= limit and own.held_bytes <= held
    if fits and facts.nothing_gained(limit):
        return own
    began, room = time.process_time(), max(0, limit - max(0, held) - facts.passing_bytes) // UNIT * UNIT
    least = 0 if patient else facts.least_bytes
    plan, starved, _ = planned(_plan.text_of(facts.values, facts.ops, room), {**options, **_plan.within(limit)}, patient, least)
    facts.planning_seconds += time.process_time() - began
    found = Settled(facts, plan, room, limit, starved, Taken(plan, facts.values, facts.ops))
    worse = found.planned_bytes > limit or found.held_bytes > held or found.time_ns > own.time_ns
    return own if fits and worse else found


class Unmet:
    """What a graph that cannot go as low would take, by a search of its own; nothing is planned for it."""

    def __init__(self, least_bytes):
        self.planned_bytes, self.held_bytes = least_bytes, 0


def settle_alone(facts, limit, options):
    """The plan of a step's only graph, which has been searched for once already, with more time; or what it needs."""
    began, text = time.process_time(), _plan.text_of(facts.values, facts.ops, 0)
    longer = {**options, **_plan.within(limit), "time_limit": PATIENCE * options["time_limit"]}
    try:
        plan = _plan.make_plan(text, longer)
    except OverBudget as error:
        if not error.least_bytes:
            return settle(facts, limit, limit, options, patient=True)
        return Unmet(min(error.least_bytes, facts.planned_bytes) if facts.starved else error.least_bytes)
    facts.planning_seconds += time.process_time() - began
    return Settled(facts, plan, 0, limit, False, Taken(plan, facts.values, facts.ops))


def planned(text, options, patient, least=0):
    """(plan, starved, found_within). Starved: no plan within the budget was found; then it is the smallest that was, or, where no search ended with a plan,
    that in PyTorch's order, which takes no search and has been found within 0 bytes. Below `least` there is none: that is not searched for again."""
    starved, once, tries, needs = False, True, 0, 0
    if options.get("budget", least) < least:
        starved, options = True, {**options, "budget": least}
    while True:
        try:
            return _plan.make_plan(text, options), starved, options.get("budget", 0)
        except OverBudget as error:
            empty = not error.least_bytes  # the limit struck before any plan was found
            if empty and once or patient and CUT_SHORT in str(error):
                patient, once, options = False, False, {**options, "time_limit": PATIENCE * options["time_limit"]}
                continue
            tries, needs = tries + 1, error.least_bytes or int(LOOSER * needs)
            if not needs or tries > LEAST_TRIES + 1:
                in_order = {name: value for name, value in options.items() if name not in _plan.within(0)}
                return _plan.make_plan(text, {**in_order, "memory": "in_place"}), True, 0
            starved, options = True, {**options, "budget": needs}


def quick(options):
    """A part of a search; of one that a clock ends, not less than finds anything."""
    if "effort" in options:
        return {**options, "effort": max(1, options["effort"] // QUICK)}
    return {**options, "time_limit": min(options["time_limit"], max(LEAST_SECONDS, options["time_limit"] / QUICK))}


def in_proportion(document, options):
    """A whole search for a short graph takes longer than it can save. With `effort` no clock ends it early: such plans are repeatable."""
    if "effort" in options:
        return options
    own = sum(op["time_ns"] for op in document.ops) / 1e9
    return {**options, "time_limit": min(options["time_limit"], max(LEAST_SECONDS, RUNS * own))}


def plan_document(document, budget, held, options, settled, shares, alone=True):
    """The graph's plan: the one that is settled for it, or one within what is left of the budget. With `shares`, a graph that can not go as low
    gets its least, soon: others may go lower for it. Then one that is not `alone` has a quick search: how they share comes first."""
    began = time.process_time()
    ready = settled.get(key_of(document)) if settled else None
    if ready is not None:
        document.leave_room(ready.room)
        spent = ready.facts.planning_seconds + time.process_time() - began
        return GraphPlan(document, ready.plan, ready.limit, spent, ready.starved, free=False)
    in_order, kept = document.bytes_in_order(), document.kept_bytes()
    limit = budget.of(document, in_order, held)
    short = shares and not alone and "effort" not in options
    options = {**(in_proportion(document, quick(options) if short else options) if shares else options), "memory": "in_place"}
    if limit is not None and limit < in_order:
        options.update(_plan.within(limit))
    plan, starved, found = planned(document.text("step"), options, not shares)
    facts = GraphPlan(document, plan, limit, time.process_time() - began, starved, found_within=found, short=short)
    if facts.starved and not shares:
        raise budget.refuse(facts.planned_bytes + held, in_order + held, kept + held)
    return facts
