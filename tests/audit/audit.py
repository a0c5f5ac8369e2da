#!/usr/bin/env python3
"""Audit of plan files (ebb.plan/1), written from the format's text alone.

usage: audit.py PLAN...

Plays a plan's steps over two address maps that remember whose bytes lie where. Shares no code with the planner.
Prints `ok FILE (...)`, or a line a fault (the first 20 of a file); exits 1 when any file has a fault.
"""
import bisect
import json
import sys

from plan_form import GIVEN, KEPT, Plan

MOST_FAULTS = 20


def meet(a, b):
    """Whether two spans (region, begin, end) share a byte."""
    return a[0] == b[0] and max(a[1], b[1]) < min(a[2], b[2])


class Addresses:
    """Who owns each byte of a region: sorted cuts, and the owner of all from one cut to the next."""

    def __init__(self):
        self.cuts, self.owners = [0], [None]

    def take(self, begin, end, owner):
        if begin < end:
            first, last = bisect.bisect_left(self.cuts, begin), bisect.bisect_right(self.cuts, end)
            self.cuts[first:last], self.owners[first:last] = [begin, end], [owner, self.owners[last - 1]]

    def strangers(self, begin, end, owner):
        first, last = bisect.bisect_right(self.cuts, begin) - 1, bisect.bisect_left(self.cuts, end)
        return [o for o in self.owners[first:last] if o != owner] if begin < end else []


class Audit(Plan):
    def __init__(self, plan):
        super().__init__(plan)
        self.faults = []

    def expect(self, holds, fault):
        if not holds:
            self.faults.append(fault)

    def run(self):
        self.check_graph()
        self.check_order()
        self.check_buffers()
        self.play()
        self.check_sums()
        return self.faults

    def check_graph(self):
        made, last_read = set(), {v: op['id'] for op in self.ops for v in op['inputs']}
        self.persistent = [v['role'] in KEPT for v in self.values]
        for op in self.ops:
            where, held = f'op {op["id"]}', {o: i for o, i, *_ in op['views'] + op['update']}
            for v in op['inputs']:
                self.expect(v in made or self.values[v]['role'] in GIVEN, f'{where} reads value {v} before it is made')
            for o, v in enumerate(op['outputs']):
                self.expect(v not in made, f'value {v} has two producers')
                self.expect(o in held or self.values[v]['role'] not in GIVEN, f'{where} makes the given value {v}')
                made.add(v)
                if o in held:
                    self.persistent[v] = self.persistent[op['inputs'][held[o]]]
            for o, i, offset in op['views']:
                inner, outer = (self.values[v] for v in (op['outputs'][o], op['inputs'][i]))
                self.expect(offset + inner['bytes'] <= outer['bytes'], f'{where}: its view leaves value {outer["id"]}')
            for o, i in op['update']:
                new, old = (self.values[v] for v in (op['outputs'][o], op['inputs'][i]))
                self.expect(old['role'] in ('param', 'state'), f'{where} updates the {old["role"]} {old["id"]}')
                self.same(f'{where}: the bytes of its update', new['bytes'], old['bytes'])
                self.expect(last_read[old['id']] <= op['id'], f'value {old["id"]} is read after {where} updates it')
        self.given = {v['id'] for v in self.values if v['role'] in GIVEN} - made
        for v in range(len(self.values)):
            self.expect(v in made or v in self.given, f'value {v} has no producer')

    def check_order(self):
        ran, runs, last_ordered, self.updated = {}, {s['op'] for s in self.steps}, -1, set()
        for t, step in enumerate(self.steps):
            op, k, again, way = self.ops[step['op']], step['op'], step['op'] in ran, step['way']
            self.expect(step['recompute'] == again, f'step {t}: op {k} ran {"" if again else "not "}before')
            self.expect(not again or op['recomputable'] and not op['ordered'], f'step {t} runs op {k} again')
            self.same(f'step {t}: alternative', step['alternative'], ran.setdefault(k, step['alternative']))
            if op['ordered']:
                self.expect(k >= last_ordered, f'step {t} runs op {k} after op {last_ordered}, both ordered')
                last_ordered = max(k, last_ordered)
            for other in op['after']:
                self.expect(other in ran or other not in runs, f'step {t} runs op {k} before op {other}')
            self.same(f'step {t}: values read after their update', self.updated.intersection(way['inputs']), set())
            self.updated.update(way['inputs'][i] for _, i in op['update'])
            self.same(f'step {t} scratch_bytes', step['scratch_bytes'], way['scratch_bytes'])
        for op in self.ops:
            self.expect(op['optional'] or op['id'] in ran, f'op {op["id"]} never runs')

    def check_buffers(self):
        end, lives = len(self.steps), [[] for _ in self.values]
        self.final = {b['id'] for b in self.buffers if self.values[b['value']]['role'] in ('param', 'state') and
                      b['value'] not in self.updated and self.base[b['id']] is None}  # as the next iteration finds them
        read_until = [max(self.reads[b['id']], default=b['lower']) + 1 for b in self.buffers]
        view_until = list(read_until)  # a view's readers counted as readers of its base
        for step in reversed(self.steps):
            for b in step['writes']:
                if self.base[b] is not None:
                    view_until[self.base[b]] = max(view_until[self.base[b]], view_until[b], self.buffers[b]['upper'])
        for b in self.buffers:
            k, v, wrote = b['id'], self.values[b['value']], self.wrote[b['id']]
            lives[v['id']].append(b['upper'])
            self.expect((v['id'] in self.given) != (wrote is not None), f'buffer {k} is not either given or written')
            self.same(f'buffer {k} lower', b['lower'], wrote or 0)
            self.expect(wrote is None or wrote < min(self.reads[k], default=end), f'buffer {k} is read too early')
            uppers = {end} if k in self.final else {read_until[k], view_until[k]}
            uppers |= {end} if v['role'] in ('output', 'constant') else set()
            uppers |= {0} if wrote is None and not self.reads[k] and k not in self.final else set()
            self.expect(b['upper'] in uppers, f'buffer {k} upper is {b["upper"]}, none of {sorted(uppers)}')
            self.same(f'buffer {k} bytes', b['bytes'], v['bytes'])
            self.same(f'buffer {k} region', b['region'], 'persistent' if self.persistent[v['id']] else 'transient')
        for v, found in zip(self.values, lives):
            self.expect(v['id'] not in self.given or len(found) == 1, f'given value {v["id"]} has {len(found)} buffers')
            self.expect(v['role'] != 'output' or end in found, f'output {v["id"]} does not last to the end')

    def span(self, b):
        buf = self.buffers[b]
        return buf['region'], buf['offset'], buf['offset'] + buf['bytes']

    def intact(self, b, when):
        region, begin, end = self.span(b)
        for owner in self.memory[region].strangers(begin, end, self.root[b])[:1]:
            self.faults.append(f'{when}: the bytes of buffer {b} are held by {owner}')

    def play(self):
        self.memory = {'transient': Addresses(), 'persistent': Addresses()}
        for b in self.buffers:
            region, begin, end = self.span(b['id'])
            if self.wrote[b['id']] is None and (b['upper'] > 0 or region == 'persistent'):
                self.expect(not self.memory[region].strangers(begin, end, None), f'given buffer {b["id"]} collides')
                self.memory[region].take(begin, end, b['id'])
        for t, step in enumerate(self.steps):
            self.play_step(f'step {t}', step, self.ops[step['op']])
        for b in self.buffers:
            role = self.values[b['value']]['role']
            if role == 'constant' or b['id'] in self.final or (role == 'output' and b['upper'] == len(self.steps)):
                self.intact(b['id'], 'at the end')
            if b['bytes'] and self.base[b['id']] is None and self.over[b['id']] is None:
                self.same(f'buffer {b["id"]} offset mod alignment', b['offset'] % self.alignment, 0)

    def play_step(self, where, step, op):
        for b in dict.fromkeys(step['reads']):
            self.intact(b, where)
        scratch = 'transient', step['scratch_offset'], step['scratch_offset'] + step['scratch_bytes']
        for b in step['reads'] + step['writes']:
            self.expect(not meet(scratch, self.span(b)), f'{where}: scratch overlaps buffer {b}')
        if step['scratch_bytes']:
            self.same(f'{where} scratch_offset mod alignment', scratch[1] % self.alignment, 0)
            self.memory['transient'].take(*scratch[1:], f'the scratch of {where}')
        for o, i, offset in op['views']:
            (region, begin, _), inner = self.span(step['reads'][i]), self.span(step['writes'][o])
            self.expect(inner[:2] == (region, begin + offset) or inner[1] == inner[2],
                        f'{where}: its view of buffer {step["reads"][i]} is elsewhere')
        for o, b in enumerate(step['writes']):
            if self.base[b] is None:
                self.check_write(where, step, op, o)
                region, begin, end = self.span(b)
                self.memory[region].take(begin, end, b)

    def check_write(self, where, step, op, o):
        b, reads = step['writes'][o], step['reads']
        shared = [i for i, r in enumerate(reads) if meet(self.span(b), self.span(r))]
        for i in (i for out, i in op['update'] if out == o):
            self.expect(self.span(b)[:2] == self.span(reads[i])[:2], f'{where}: the update {b} is not on {reads[i]}')
            self.over[b] = reads[i]
            shared = [s for s in shared if self.root[reads[s]] != self.root[reads[i]]]
        for i in (i for out, i in step['way']['in_place'] if out == o):
            if self.span(b)[:2] == self.span(reads[i])[:2] and shared in ([], [i]):
                self.over[b], shared = reads[i], []
        self.faults += [f'{where}: buffer {b} is written over the operand {reads[i]}' for i in shared]
        for other in step['writes']:
            self.expect(other == b or not meet(self.span(b), self.span(other)), f'{where}: {b} and {other} overlap')

    def up(self, n_bytes):
        return -(-n_bytes // self.alignment) * self.alignment

    def max_live(self, held):
        """The most bytes under live transient buffers in a step; `held`: a view keeps all of its base."""
        starts, now, most = [[] for _ in self.steps], [], 0
        for b in self.buffers:
            region, begin, end = self.span(self.root[b['id']] if held else b['id'])
            if region == 'transient' and b['bytes'] and b['lower'] < b['upper']:
                starts[b['lower']].append((begin - begin % self.alignment, self.up(end), b['upper']))
        for t, step in enumerate(self.steps):
            now = sorted([r for r in now if r[2] > t] + starts[t])
            total, reached = self.up(step['scratch_bytes']), 0
            for begin, end, _ in now:
                total, reached = total + max(0, end - max(begin, reached)), max(end, reached)
            most = max(most, total)
        return most

    def same(self, what, got, want):
        self.expect(got == want, f'{what} is {got}, not {want}')

    def check_sums(self):
        p, base, ways = self.plan, self.baseline, [(op, self.ways[op['id']]) for op in self.ops]
        high = {'transient': [s['scratch_offset'] + s['scratch_bytes'] for s in self.steps if s['scratch_bytes']]}
        for b in self.buffers:
            high.setdefault(b['region'], []).append(b['offset'] + b['bytes'] if b['bytes'] else 0)
        for name, region in (('arena_bytes', 'transient'), ('persistent_bytes', 'persistent')):
            top = max(high.get(region, []), default=0)
            self.expect(p[name] in (top, self.up(top)), f'{name} is {p[name]}, the top of the region {top}')
        rest = p['persistent_bytes'] + self.graph['fixed_bytes']
        self.same('total_bytes', p['total_bytes'], p['arena_bytes'] + rest)
        self.same('baseline total_bytes', base['total_bytes'], base['arena_bytes'] + rest)
        self.same('time_ns', p['time_ns'], sum(s['way']['time_ns'] for s in self.steps))
        if not self.faults:  # the union of lives means nothing where they collide
            live = {self.max_live(False), self.max_live(True)}
            self.expect(p['max_live_bytes'] in live, f'max_live_bytes is {p["max_live_bytes"]}, none of {sorted(live)}')
        budget = p['total_bytes'] if p['budget_bytes'] is None else p['budget_bytes']
        self.expect(p['total_bytes'] <= budget, f'total_bytes is {p["total_bytes"]}, the budget {budget}')
        least = sum(min(w['time_ns'] for w in w_all) for op, w_all in ways if not op['optional'])
        most = sum(max(w['time_ns'] for w in w_all) for _, w_all in ways)
        self.expect(least <= base['time_ns'] <= most, f'baseline time_ns is {base["time_ns"]}, not {least} to {most}')
        self.expect(self.bound <= p['time_ns'], f'time_ns_lower_bound is {self.bound}, time_ns {p["time_ns"]}')
        self.expect(self.bound <= base['time_ns'] or base['total_bytes'] > budget, 'the baseline undercuts the bound')


def report(path):
    """The lines on one file, and whether it holds."""
    try:
        with open(path, encoding='utf-8') as file:
            audit = Audit(json.load(file))
        faults = audit.run()
    except (OSError, ValueError, RecursionError) as fault:
        faults = [str(fault)]
    if faults:
        return [f'{path}: {fault}' for fault in faults[:MOST_FAULTS]], False
    again = sum(step['recompute'] for step in audit.steps)
    return [f'ok {path} ({len(audit.steps)} steps, {again} again, {len(audit.buffers)} buffers, '
            f'{audit.plan["total_bytes"]} bytes, {audit.plan["time_ns"]} ns)'], True


def main(paths):
    reports = [report(path) for path in paths]
    print('\n'.join(line for lines, _ in reports for line in lines) or 'usage: audit.py PLAN...')
    return 0 if reports and all(holds for _, holds in reports) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
