"""The form of plan files (ebb.plan/1): what each field may be, and the tables of a plan with its ids followed."""
import json

KEPT = ('param', 'state', 'constant')  # in the persistent region
GIVEN = ('input',) + KEPT
ROLES = GIVEN + ('activation', 'gradient', 'output')


def ids(v, n=None):
    return type(v) is list and n in (None, len(v)) and all(type(i) is int and i >= 0 for i in v)


# What a field may be, by the word after its name; a field with a default may be absent.
KINDS = {'n': lambda v: ids([v]), 'n1': lambda v: ids([v]) and v > 0, 'n?': lambda v: v is None or ids([v]), 'ids': ids,
         'pairs': lambda v: type(v) is list and all(ids(r, 2) for r in v),
         'triples': lambda v: type(v) is list and all(ids(r, 3) for r in v),
         'str': lambda v: type(v) is str, 'bool': lambda v: type(v) is bool, 'list': lambda v: type(v) is list,
         'map': lambda v: type(v) is dict, 'role': lambda v: v in ROLES,
         'region': lambda v: v in ('transient', 'persistent')}
GRAPH = 'name:str fixed_bytes:n values:list ops:list'
VALUE = 'id:n name:str bytes:n role:role'
OP = ('id:n name:str kind:str phase:str inputs:ids outputs:ids time_ns:n scratch_bytes:n recomputable:bool '
      'optional:bool ordered:bool after:ids in_place:pairs update:pairs views:triples alternatives:list')
OP_DEFAULTS = {'recomputable': True, 'optional': False, 'ordered': False, 'after': [], 'in_place': [], 'update': [],
               'views': [], 'alternatives': []}
WAY = 'name:str inputs:ids time_ns:n scratch_bytes:n in_place:pairs'
PLAN = ('graph:map backend:str n_threads:n alignment:n1 steps:list buffers:list arena_bytes:n persistent_bytes:n '
        'total_bytes:n max_live_bytes:n budget_bytes:n? time_ns:n baseline:map certificate:map')
STEP = 'op:n alternative:n? recompute:bool reads:ids writes:ids scratch_offset:n scratch_bytes:n'
BUFFER = 'id:n value:n region:region offset:n bytes:n lower:n upper:n'


def shape(obj, where, fields, defaults={}, schema=None):
    """The named fields of an object; refuses one that is missing or mistyped. Unknown ones are ignored."""
    if type(obj) is not dict or (schema and obj.get('schema') != schema):
        raise ValueError(f'{where} is not {schema or "an object"}')
    out = {}
    for name, kind in (field.split(':') for field in fields.split()):
        if name not in obj and name not in defaults:
            raise ValueError(f'{where} has no {name}')
        out[name] = obj.get(name, defaults.get(name))
        if not KINDS[kind](out[name]):
            raise ValueError(f'{where}: {name} cannot be {json.dumps(out[name])[:40]}')
    return out


def shapes(objects, where, fields, defaults={}):
    out = [shape(obj, f'{where} {i}', fields, defaults) for i, obj in enumerate(objects)]
    for i, obj in enumerate(out):
        if obj.get('id', i) != i:
            raise ValueError(f'{where} {i} has id {obj["id"]}')
    return out


def within(ids, n, what):
    if any(i >= n for i in ids):
        raise ValueError(f'{what} names {max(ids)} of {n}')


class Plan:
    """Refuses what has not the form; says nothing of what a plan does."""

    def __init__(self, plan):
        self.plan = p = shape(plan, 'the plan', PLAN, schema='ebb.plan/1')
        self.graph = shape(p['graph'], 'the graph', GRAPH, {'fixed_bytes': 0}, 'ebb.graph/1')
        self.values = shapes(self.graph['values'], 'value', VALUE)
        self.ops = shapes(self.graph['ops'], 'op', OP, OP_DEFAULTS)
        self.steps = shapes(p['steps'], 'step', STEP)
        self.buffers = shapes(p['buffers'], 'buffer', BUFFER)
        self.baseline = shape(p['baseline'], 'the baseline', 'arena_bytes:n total_bytes:n time_ns:n')
        self.bound = shape(p['certificate'], 'the certificate', 'time_ns_lower_bound:n kind:str')['time_ns_lower_bound']
        self.ways = [self.ways_of(op) for op in self.ops]  # the alternatives of each op, then the op as listed
        self.alignment, n = p['alignment'], len(self.buffers)
        self.wrote = [None] * n  # by buffer: the step that writes it,
        self.base = [None] * n  # the buffer that it is a view of,
        self.root = list(range(n))  # the buffer that holds its bytes,
        self.over = [None] * n  # the buffer that it is written over, by leave or as an update,
        self.reads = [[] for _ in range(n)]  # and the steps that read it
        for b in self.buffers:
            within([b['value']], len(self.values), f'buffer {b["id"]}')
        for t, step in enumerate(self.steps):
            self.link_step(t, step)

    def ways_of(self, op):
        where = f'op {op["id"]}'
        listed = {name: op[name] for name in ('inputs', 'in_place', 'time_ns', 'scratch_bytes')}
        ways = shapes(op['alternatives'], f'{where} alternative', WAY, {k: listed[k] for k in ('inputs', 'in_place')})
        ways.append(listed)
        for way in ways:
            pairs = way['in_place'] + op['update'] + op['views']
            within(way['inputs'] + op['outputs'], len(self.values), where)
            within([r[0] for r in pairs], len(op['outputs']), f'{where} (outputs)')
            within([r[1] for r in pairs], len(way['inputs']), f'{where} (inputs)')
        within(op['after'], len(self.ops), where)
        return ways

    def link_step(self, t, step):
        within([step['op']], len(self.ops), f'step {t}')
        op, ways, pick = self.ops[step['op']], self.ways[step['op']], step['alternative']
        within([] if pick is None else [pick], len(ways) - 1, f'step {t} (alternatives)')
        step['way'] = ways[-1 if pick is None else pick]
        for what, wanted in (('reads', step['way']['inputs']), ('writes', op['outputs'])):
            within(step[what], len(self.buffers), f'step {t} {what}')
            if [self.buffers[b]['value'] for b in step[what]] != wanted:
                raise ValueError(f'step {t} {what} buffers of other values than op {step["op"]} names')
        for b in step['reads']:
            self.reads[b].append(t)
        for b in step['writes']:
            if self.wrote[b] is not None:
                raise ValueError(f'buffer {b} is written by steps {self.wrote[b]} and {t}')
            self.wrote[b] = t
        for o, i, _ in op['views']:
            self.base[step['writes'][o]], self.root[step['writes'][o]] = step['reads'][i], self.root[step['reads'][i]]
