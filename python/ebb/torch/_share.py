"""How the graphs of a step share its bytes. They run one in another, each as often as it does: what an earlier run holds between its
halves is there while later ones run, and the gradients of these while it runs back. So each graph has two limits, on its peak and on what it
holds; the second is what a loop over one graph multiplies."""

import time

from ._graphs import LEAST_SECONDS, as_it_is, quick, settle, settle_alone

HOLDS = (1, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.04, 0)  # of the largest part that each graph can hold while the others reach their least
PASSES = 2
WORTH = 0.01  # of a step's time: less than that is not worth another compile


class Graphs:
    """What the graphs of one step take together. `planned` within their plans, `in_order` in PyTorch's order, `kept` of both by the caller."""

    def __init__(self, runs, plans=None):
        found = plans or {}
        self.planned = peak_of([(found.get(g, g).planned_bytes, found.get(g, g).held_bytes, g.gradient_bytes) for g in runs])
        self.in_order = peak_of([(g.bytes_in_order, g.held_in_order, g.gradient_bytes) for g in runs])
        self.kept = min(self.in_order, sum(g.kept_bytes for g in runs))


def peak_of(graphs):
    """(peak, bytes held between the halves, gradients) of each, in the order of their forward halves."""
    gradients, held, most = sum(g[2] for g in graphs), 0, 0
    for peak, holds, made in graphs:
        gradients -= made
        most, held = max(most, held + peak + gradients), held + holds
    return most


class Shared:
    """Plans of the graphs of a step when all hold the same part; those that hold the total come first, by their time, then by their bytes."""

    def __init__(self, runs, total, part, options, patient=False, like=None):
        self.part, self.plans = part, attempt(runs, total, part, options, patient, like)
        self.planned, self.time_ns = Graphs(runs, self.plans).planned, sum(self.plans[g].time_ns for g in runs)
        self.holds = self.planned <= total
        self.rank = (0, self.time_ns) if self.holds else (1, self.planned)


def share_out(runs, total, options):
    """{GraphPlan: Settled} of the fastest plans that were found to hold `total` together, or of those that take least. One alone has all of it,
    and more time."""
    if len(runs) == 1:
        return {runs[0]: settle_alone(runs[0], total, options)}
    asked, total = total, reachable(runs, total)
    began, most, tried = time.monotonic(), largest_part(runs, total), []
    for part in HOLDS:
        tried.append(Shared(runs, total, part * most, quick(options)))
        if sum(one.holds for one in tried) > 1 and tried[-1].rank > min(one.rank for one in tried):
            break
    tried.sort(key=lambda one: one.rank)
    longer = Shared(runs, total, tried[0].part, left_of(options, time.monotonic() - began), like=tried[0])
    found = min([*tried, longer], key=lambda one: one.rank)
    if found.planned > asked:  # before it is refused, it has more time
        last = Shared(runs, asked, found.part, options, patient=True)
        within = [one for one in (*tried, last) if one.planned <= asked]
        found = min(within, key=lambda one: one.time_ns) if within else min(found, last, key=lambda one: one.planned)
    return found.plans


def reachable(runs, total):
    """The total, or what is needed by the graph whose least misses it by most though the others hold as little as they can: no part changes that,
    and the others are searched for within as much."""
    most = limits(runs, total, holding(runs, 0))
    return total + max((g.planned_bytes - most[g] for g in runs if g.least_bytes and g.planned_bytes > most[g]), default=0)


def largest_part(runs, total):
    """What all may hold of what they hold when nothing runs again, so that each has the bytes that its least is known to need."""
    nothing, all_of_it = (limits(runs, total, holding(runs, part)) for part in (0, 1))
    parts = [(nothing[g] - g.least_bytes) / (nothing[g] - all_of_it[g]) for g in runs if nothing[g] > all_of_it[g]]
    return max(0, min([1, *parts]))


def better(runs, total, options):
    """Plans of graphs that hold `total` by plans of their own, where others are faster, else None: by share_out, or, where that gives them no more
    bytes, by more time for what had a short search."""
    own_ns, time_ns = sum(op["time_ns"] for g in runs for op in g.ops), sum(g.time_ns for g in runs)
    if len(runs) < 2 or total is None:
        return None
    most = limits(runs, total, holding(runs, 0))
    cramped = [g for g in runs if not g.had_all(most[g])]
    hurried = [g for g in runs if g.had_all(most[g]) and not g.nothing_gained(most[g])]
    if sum(g.added_ns for g in cramped + hurried) < WORTH * own_ns:
        return None
    if sum(g.added_ns for g in cramped) >= WORTH * own_ns:
        plans = share_out(runs, total, options)
    else:
        longer = {g: settle(g, g.budget_bytes, g.budget_bytes, allotted(g, hurried, options)) for g in set(hurried)}
        plans = {g: longer.get(g) or as_it_is(g) for g in runs}
    faster = Graphs(runs, plans).planned <= total and sum(plans[g].time_ns for g in runs) < time_ns - WORTH * own_ns
    return plans if faster else None


def attempt(runs, total, part, options, patient, like=None):
    """A plan for each graph when all hold that part. What one that can go no lower takes is taken from the others in a second pass, or at once
    where plans that held the total, `like` these, tell."""
    holds = holding(runs, part)
    if like is not None and like.holds:
        holds = {g: max(holds[g], like.plans[g].held_bytes) for g in runs}
    for again in range(PASSES):
        plans = {g: settle(g, limit, int(holds[g]), allotted(g, runs, options), patient) for g, limit in limits(runs, total, holds).items()}
        if again or Graphs(runs, plans).planned <= total or all(plan.held_bytes <= holds[g] for g, plan in plans.items()):
            break
        holds = {g: max(holds[g], plan.held_bytes) for g, plan in plans.items()}
    return plans


def holding(runs, part):
    """Bytes that each graph holds between its halves, at that part of what it holds when nothing runs again beyond what the caller has been given."""
    return {g: g.given_bytes + part * (g.held_in_order - g.given_bytes) for g in runs}


def left_of(options, seconds):
    """The options of a search when others before it have taken so many seconds."""
    return options if "effort" in options else {**options, "time_limit": max(LEAST_SECONDS, options["time_limit"] - seconds)}


def allotted(graph, runs, options):
    """Searches of all graphs together take as long as that of one alone: each a part, by its ops."""
    if "effort" in options:
        return options
    part = len(graph.ops) / sum(len(g.ops) for g in set(runs))
    return {**options, "time_limit": max(LEAST_SECONDS, part * options["time_limit"])}


def limits(runs, total, holds):
    """The peak that each graph may have in the tightest of its runs."""
    found, gradients, held = {}, sum(g.gradient_bytes for g in runs), 0
    for g in runs:
        gradients -= g.gradient_bytes
        left = int(total - held - gradients)
        found[g] = min(found.get(g, left), left)
        held += holds[g]
    return found
