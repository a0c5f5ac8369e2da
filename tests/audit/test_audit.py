#!/usr/bin/env python3
"""Plans a small graph with the ebb command, audits the plans, then corrupts one in many ways: each must be refused.

usage: test_audit.py EBB
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import audit

N_LAYERS = 8


class Graph:
    """A planning graph by names, at odd sizes."""

    def __init__(self):
        self.values, self.ops = {}, {}

    def value(self, name, n_bytes, role='activation'):
        self.values[name] = {'id': len(self.values), 'name': name, 'bytes': n_bytes, 'role': role}

    def op(self, name, inputs, outputs, time_ns, scratch_bytes=0, **more):
        self.ops[name] = {'id': len(self.ops), 'name': name, 'kind': name.rstrip('0123456789'), 'phase': 'forward',
                          'inputs': [self.values[v]['id'] for v in inputs],
                          'outputs': [self.values[v]['id'] for v in outputs],
                          'time_ns': time_ns, 'scratch_bytes': scratch_bytes, **more}

    def json(self):
        return {'schema': 'ebb.graph/1', 'name': 'small', 'fixed_bytes': 77, 'values': list(self.values.values()),
                'ops': list(self.ops.values())}


def training_step():
    """Layers of a convolution and an activation in place, split by views; two updates; what may not be repeated."""
    g = Graph()
    for name, n_bytes, role in (('x', 4001, 'input'), ('unread', 65, 'input'), ('w', 999, 'param'), ('m', 999, 'state'),
                                ('k', 10, 'constant'), ('none', 0, 'input'), ('loss', 4, 'output'),
                                ('seen', 501, 'output'), ('w.grad', 999, 'gradient'), ('w.next', 999, 'param'),
                                ('m.next', 999, 'state'), ('w.part', 100, 'activation'), ('hint', 33, 'activation')):
        g.value(name, n_bytes, role)
    g.op('w.part', ['w'], ['w.part'], 0, views=[[0, 0, 501]])
    g.op('hint', ['x'], ['hint'], 5, optional=True)
    g.op('log1', ['x'], [], 5, ordered=True)
    g.op('log2', ['x'], [], 5, ordered=True)
    g.op('note', ['x'], [], 5, recomputable=False, after=[g.ops['log2']['id']])
    below, done = 'x', 'none'
    for i in range(N_LAYERS):
        for name, n_bytes in ((f'h{i}', 4001), (f'done{i}', 0), (f'stats{i}', 129), (f'r{i}', 4001), (f'tail{i}', 901)):
            g.value(name, n_bytes)
        g.op(f'h{i}', [below, 'w', done], [f'h{i}', f'done{i}', f'stats{i}'], 100, 301,
             alternatives=[{'name': 'twin', 'time_ns': 100, 'scratch_bytes': 301}])
        g.op(f'r{i}', [f'h{i}', f'stats{i}', 'w.part'], [f'r{i}'], 20, in_place=[[0, 0]])
        g.op(f'tail{i}', [f'r{i}'], [f'tail{i}'], 0, views=[[0, 0, 1001]])
        below, done = f'r{i}', f'done{i}'
    g.op('loss', [below, 'k'], ['loss'], 10, 65)
    g.op('seen', [f'tail{N_LAYERS - 1}'], ['seen'], 0, views=[[0, 0, 13]])
    above = 'loss'
    for i in reversed(range(N_LAYERS)):
        g.value(f'g{i}', 4001, 'gradient')
        g.op(f'g{i}', [above, f'r{i}', f'tail{i}', 'w'], [f'g{i}'], 200, 1)
        above = f'g{i}'
    g.op('w.grad', ['x', above], ['w.grad'], 100)
    g.op('sgd', ['w', 'w.grad', 'm'], ['w.next', 'm.next'], 10, recomputable=False, update=[[0, 0], [1, 2]])
    return g


class Case:
    """A plan to be corrupted, and its parts by name."""

    def __init__(self, graph, plan):
        self.graph, self.plan = graph, copy.deepcopy(plan)
        self.steps, self.buffers, self.ops = self.plan['steps'], self.plan['buffers'], self.plan['graph']['ops']

    def op(self, name):
        return next(op for op in self.ops if op['name'] == name)

    def at(self, name, run=0):
        return [t for t, step in enumerate(self.steps) if self.ops[step['op']]['name'] == name][run]

    def step(self, name, run=0):
        return self.steps[self.at(name, run)]

    def again(self):
        return next(step for step in self.steps if step['recompute'] and self.ops[step['op']]['name'][0] == 'h')

    def buffer(self, name, life=0):
        return [b for b in self.buffers if b['value'] == self.graph.values[name]['id']][life]

    def swap(self, one, other):
        i, j = self.at(one), self.at(other)
        self.steps[i], self.steps[j] = self.steps[j], self.steps[i]

    def drop(self, name):
        t = self.at(name)
        self.plan['time_ns'] -= self.ops[self.steps.pop(t)['op']]['time_ns']
        for b in self.buffers:
            b['lower'], b['upper'] = b['lower'] - (b['lower'] > t), b['upper'] - (b['upper'] > t)

    def share_operand(self, name):
        """The op's third operand becomes the first one, whenever it runs."""
        inputs = self.op(name)['inputs']
        inputs[2] = inputs[0]
        for step in self.steps:
            if self.ops[step['op']]['name'] == name:
                step['reads'][2] = step['reads'][0]

    def repeat_last(self, name):
        """Runs the op once more, after all other steps, into new bytes."""
        step = copy.deepcopy(self.step(name))
        step['recompute'] = True
        for b in self.buffers:
            b['upper'] += b['upper'] == len(self.steps)
        for i, k in enumerate(step['writes']):
            step['writes'][i] = len(self.buffers)
            self.buffers.append({**self.buffers[k], 'id': len(self.buffers), 'offset': self.plan['arena_bytes'],
                                 'lower': len(self.steps), 'upper': len(self.steps) + 1})
        self.plan['time_ns'] += self.ops[step['op']]['time_ns']
        self.steps.append(step)


def put(path, value):
    """A corruption: the field at the path (a function of the case gives its object) becomes the value."""
    where, name = path
    return lambda c: where(c).__setitem__(name, value(where(c)[name]) if callable(value) else value)


def plan(c):
    return c.plan


def first(name):
    return lambda c: c.buffer(name)


def add_buffer(name):
    return lambda c: c.buffers.append({**c.buffer(name), 'id': len(c.buffers)})


def onto(one, other):
    return lambda c: c.buffer(one).update(offset=c.buffer(other)['offset'])


CORRUPTIONS = [
    ('a later plan version', put((plan, 'schema'), 'ebb.plan/2'), 'is not ebb.plan/1'),
    ('a later graph version', put((lambda c: c.plan['graph'], 'schema'), 'ebb.graph/2'), 'is not ebb.graph/1'),
    ('a missing field', lambda c: c.steps[3].pop('reads'), 'has no reads'),
    ('a number that is no integer', put((first('h3'), 'offset'), float), 'offset cannot be'),
    ('a negative number', put((first('h3'), 'offset'), -64), 'offset cannot be'),
    ('an id that is no index', put((first('h3'), 'id'), 0), 'has id 0'),
    ('an unknown role', put((lambda c: c.plan['graph']['values'][3], 'role'), 'weight'), 'role cannot be'),
    ('a value without a producer', put((lambda c: c.plan['graph']['values'][0], 'role'), 'gradient'), 'no producer'),
    ('a read of no buffer', put((lambda c: c.step('g3')['reads'], 0), 10 ** 9), 'names 1000000000'),
    ('a read of another value', lambda c: c.step('g3')['reads'].reverse(), 'buffers of other values'),
    ('a step before its operands', lambda c: c.swap('r3', 'h3'), 'is read too early'),
    ('an op that never runs', lambda c: c.drop('note'), 'never runs'),
    ('an op that may not run again', lambda c: c.repeat_last('note'), 'again'),
    ('a repeated ordered op', lambda c: c.repeat_last('log1'), 'again'),
    ('ordered ops out of order', lambda c: c.swap('log1', 'log2'), 'both ordered'),
    ('an op before what it comes after', lambda c: c.swap('note', 'log2'), 'before op'),
    ('a read after the update', lambda c: c.repeat_last('h0'), 'values read after their update'),
    ('a first run said to be a repetition', put((lambda c: c.steps[2], 'recompute'), True), 'not before'),
    ('a repetition said to be a first run', put((Case.again, 'recompute'), False), 'ran before'),
    ('two ways to run one op', put((Case.again, 'alternative'), lambda a: 0 if a is None else None), 'alternative is'),
    ('an alternative that is not there', put((Case.again, 'alternative'), 1), 'names 1 of 1'),
    ('scratch over an operand', lambda c: c.step('h3').update(
        scratch_offset=c.buffers[c.step('h3')['writes'][0]]['offset']), 'scratch overlaps'),
    ('scratch of another size', put((lambda c: c.step('h3'), 'scratch_bytes'), 300), 'scratch_bytes is 300'),
    ('scratch off the alignment', put((lambda c: c.step('h3'), 'scratch_offset'), lambda n: n + 1), 'mod alignment'),
    ('a buffer off the alignment', put((first('h3'), 'offset'), lambda n: n + 1), 'mod alignment'),
    ('a life that starts late', put((first('h3'), 'lower'), lambda n: n + 1), 'lower is'),
    ('a life that ends early', put((first('h3'), 'upper'), lambda n: n - 1), 'upper is'),
    ('a life that ends late', put((first('h3'), 'upper'), lambda n: n + 1), 'upper is'),
    ('an output that does not last', put((first('loss'), 'upper'), lambda n: n - 1), 'does not last to the end'),
    ('a param that does not last', put((first('w.next'), 'upper'), lambda n: n - 1), 'upper is'),
    ('a buffer of another size', put((first('h3'), 'bytes'), 4000), 'bytes is 4000'),
    ('a buffer in the other region', put((first('h3'), 'region'), 'persistent'), 'region is'),
    ('a given value in two buffers', add_buffer('x'), 'has 2 buffers'),
    ('a buffer that nothing writes', add_buffer('h3'), 'not either given or written'),
    ('given values on each other', onto('m', 'w'), 'collides'),
    ('a view that is elsewhere', put((first('tail3'), 'offset'), lambda n: n + 64), 'elsewhere'),
    ('an update that is elsewhere', onto('w.next', 'm'), 'is not on'),
    ('outputs of a step on each other', onto('stats3', 'h3'), 'overlap'),
    ('bytes lost before a read', onto('h1', 'x'), 'are held by'),
    ('an output lost before the end', onto('g0', 'loss'), 'at the end: the bytes of'),
    ('in place without leave', put((lambda c: c.op('r3'), 'in_place'), []), 'is written over the operand'),
    ('in place of a shared operand', lambda c: c.share_operand('r3'), 'is written over the operand'),
    ('a smaller arena', put((plan, 'arena_bytes'), lambda n: n - 64), 'arena_bytes is'),
    ('a smaller persistent region', put((plan, 'persistent_bytes'), lambda n: n - 64), 'persistent_bytes is'),
    ('a smaller total', put((plan, 'total_bytes'), lambda n: n - 77), 'total_bytes is'),
    ('a smaller peak', put((plan, 'max_live_bytes'), lambda n: n - 64), 'max_live_bytes is'),
    ('another time', put((plan, 'time_ns'), lambda n: n - 1), 'time_ns is'),
    ('a budget that is not held', lambda c: c.plan.update(budget_bytes=c.plan['total_bytes'] - 1), 'the budget'),
    ('a bound above the time', lambda c: c.plan['certificate'].update(time_ns_lower_bound=c.plan['time_ns'] + 1),
     'time_ns_lower_bound is'),
    ('a baseline out of nothing', put((lambda c: c.plan['baseline'], 'time_ns'), 0), 'baseline time_ns is 0'),
    ('a baseline that does not add up', put((lambda c: c.plan['baseline'], 'total_bytes'), 64), 'baseline total_bytes'),
]


class Bench:
    def __init__(self, ebb, folder):
        self.ebb, self.folder, self.n_passed, self.n_failed = ebb, folder, 0, 0

    def check(self, name, lines, holds, good):
        self.n_passed, self.n_failed = self.n_passed + good, self.n_failed + (not good)
        if not good:
            print(f'FAILED {name}: {"holds" if holds else "refused"}', *lines, sep='\n  ')

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def accepts(self, name, path):
        lines, holds = audit.report(path)
        self.check(name, lines, holds, holds)

    def refuses(self, name, text, fault):
        lines, holds = audit.report(self.file('corrupt.json', text))
        self.check(name, lines, holds, not holds and any(fault in line for line in lines))

    def plan(self, graph, name, *flags):
        path = os.path.join(self.folder, name)
        subprocess.run([self.ebb, 'plan', graph, '--json', '-o', path, *flags], check=True, capture_output=True)
        self.accepts(f'plan {" ".join(flags)}', path)
        with open(path, encoding='utf-8') as file:
            return json.load(file)


def main(ebb):
    graph = training_step()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(ebb, folder)
        path = bench.file('graph.json', json.dumps(graph.json()))
        total = bench.plan(path, 'in_place.json')['total_bytes']
        for flags in (['--no-reuse'], ['--phased'], ['--method', 'megengine'], ['--budget', str(total * 4)]):
            bench.plan(path, 'other.json', *flags)
        tight = bench.plan(path, 'tight.json', '--budget', str(total * 6 // 10), '--effort', '20')
        bench.accepts('unknown fields', bench.file('more.json', json.dumps({**tight, 'more': [0.5]})))
        for name, corrupt, fault in CORRUPTIONS:
            case = Case(graph, tight)
            corrupt(case)
            bench.refuses(name, json.dumps(case.plan), fault)
        for name, text in (('a cut file', json.dumps(tight)[:-9]), ('a nest', '[' * 10 ** 5), ('a list', '[]')):
            bench.refuses(name, text, 'corrupt.json: ')
        print(f'{bench.n_passed} passed, {bench.n_failed} failed')
        return 1 if bench.n_failed else 0


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: test_audit.py EBB')
    sys.exit(main(sys.argv[1]))
