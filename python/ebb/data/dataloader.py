"""Batches of a dataset, as arrays, made ahead by threads where there are workers: a process that has used a
device cannot be forked, and NumPy computes beside other threads."""

import collections
import concurrent.futures
import queue
import threading

from .collator import Collator
from .dataset import StreamDataset
from .sampler import SequentialSampler, StreamSampler
from .transform import PseudoTransform

_AHEAD = 2  # batches a worker


class DataLoader:
    """for batch in DataLoader(dataset, sampler): arrays, of samples that transform.apply_batch has changed.

    num_workers: threads that make batches, which come in the sampler's order; 0: each is made when it is asked for.
    timeout: seconds to wait for a batch of theirs, and for a sample of a stream, 0: for ever; timeout_event: called
    then for a stream, and gives another sample. What dataset and transform do must be fit for threads, and make no
    tensors while a trace runs. divide, preload and parallel_stream are accepted, and change nothing.
    """

    def __init__(self, dataset, sampler=None, transform=None, collator=None, num_workers=0, timeout=0,
                 timeout_event=None, divide=False, preload=False, parallel_stream=False):
        if num_workers < 0:
            raise ValueError(f"DataLoader: num_workers {num_workers} is below 0")
        if timeout < 0:
            raise ValueError(f"DataLoader: timeout {timeout} is below 0")
        size = getattr(sampler, "batch_size", 1)
        if divide and (not num_workers or size % num_workers):
            raise ValueError(f"DataLoader: divide: batches of {size} do not divide among {num_workers} workers")
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.timeout_event = timeout_event
        stream = isinstance(dataset, StreamDataset)
        if stream != isinstance(sampler, StreamSampler) and (stream or sampler is not None):
            raise TypeError("DataLoader: a StreamDataset goes with a StreamSampler, and no other dataset does")
        self.sampler = SequentialSampler(dataset) if sampler is None else sampler
        self.transform = PseudoTransform() if transform is None else transform
        self.collator = Collator() if collator is None else collator

    def _batch(self, numbers):
        return self._finished([self.dataset[i] for i in numbers])

    def _finished(self, samples):
        return self.collator.apply(self.transform.apply_batch(samples))

    def __iter__(self):
        if isinstance(self.dataset, StreamDataset):
            return self._of_stream()
        if self.num_workers:
            return self._of_workers()
        return map(self._batch, self.sampler)

    def __len__(self):
        return len(self.sampler)

    def _of_workers(self):
        numbers, pending = iter(self.sampler), collections.deque()
        with _Pool(self.num_workers) as pool:
            while True:
                for _ in range(self.num_workers * _AHEAD - len(pending)):
                    one = next(numbers, None)
                    if one is None:
                        break
                    pending.append(pool.submit(self._batch, one))
                if not pending:
                    return
                yield self._result(pending.popleft())

    def _result(self, future):
        try:
            return future.result(self.timeout or None)
        except concurrent.futures.TimeoutError:
            raise RuntimeError(f"DataLoader: timeout: no batch within {self.timeout} s") from None
        except Exception as error:
            raise RuntimeError(f"DataLoader: a worker died: {type(error).__name__}: {error}") from error

    # ---- streams

    def _of_stream(self):
        samples = []
        for told in self._told():
            assert isinstance(told, tuple) and len(told) == 2 and isinstance(told[1], tuple), (
                "a StreamDataset gives a tuple: whether it is a batch, and a tuple of data"
            )
            whole, data = told
            samples += zip(*data) if whole else [data]
            while len(samples) >= self.sampler.batch_size:
                yield self._finished(samples[: self.sampler.batch_size])
                del samples[: self.sampler.batch_size]

    def _told(self):
        """What the stream gives, read by a thread where there is a timeout or a worker."""
        if not self.timeout and not self.num_workers:
            yield from self.dataset
            return
        stop, told = threading.Event(), queue.Queue(_AHEAD * max(self.num_workers, 1))
        reader = threading.Thread(target=_read, args=(iter(self.dataset), told, stop), daemon=True)
        reader.start()
        try:
            while True:
                try:
                    kind, one = told.get(timeout=self.timeout or None)
                except queue.Empty:
                    if self.timeout_event is None:
                        raise RuntimeError(f"DataLoader: timeout: no sample within {self.timeout} s") from None
                    yield self.timeout_event()
                    continue
                if kind == "end":
                    return
                if kind == "error":
                    raise RuntimeError(f"DataLoader: a worker died: {type(one).__name__}: {one}") from one
                yield one
        finally:
            stop.set()


def _read(stream, told, stop):
    """Puts what the stream gives into a queue, until it ends or nobody reads any more."""
    try:
        for one in stream:
            if not _put(told, ("sample", one), stop):
                return
        _put(told, ("end", None), stop)
    except Exception as error:
        _put(told, ("error", error), stop)


def _put(told, one, stop):
    while not stop.is_set():
        try:
            told.put(one, timeout=0.1)
            return True
        except queue.Full:
            pass
    return False


class _Pool:
    """Daemon threads, which do not hold the process up when one of them hangs."""

    def __init__(self, n):
        self._jobs = queue.SimpleQueue()
        self._n = n

    def __enter__(self):
        for _ in range(self._n):
            threading.Thread(target=_work, args=(self._jobs,), daemon=True).start()
        return self

    def submit(self, function, *args):
        future = concurrent.futures.Future()
        self._jobs.put((future, function, args))
        return future

    def __exit__(self, *error):
        while not self._jobs.empty():
            self._jobs.get()
        for _ in range(self._n):
            self._jobs.put(None)


def _work(jobs):
    while (job := jobs.get()) is not None:
        future, function, args = job
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
