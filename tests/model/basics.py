"""What the models share: times that are known to within a call, answers, and how an answer is compared.

A model says what an answer must be. Where it cannot know a value exactly (the server's clock), it gives an object with accept(): the first value
seen is checked against the time of the call that made it, and every later one must be the same.
"""
import copy
import datetime

TICK = datetime.timedelta(microseconds=3334)
FAR_PAST, FAR_FUTURE = datetime.datetime(2000, 1, 1), datetime.datetime(2100, 1, 1)


def snap(moment):
    """The nearest tick, as a client shows it."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    n = ((moment - day) // datetime.timedelta(microseconds=1) * 3 + 5000) // 10000
    return day + datetime.timedelta(milliseconds=(n * 10 + 1) // 3)


class Differs(AssertionError):
    pass


class Stamp:
    """The instant of one call."""

    def __init__(self, lo, hi, value=None):
        self.lo, self.hi, self.value = lo, hi, value

    def __deepcopy__(self, memo):
        return self

    @property
    def known(self):
        return self.value is not None

    def accept(self, actual):
        if not isinstance(actual, datetime.datetime):
            return False
        if self.value is None:
            if not self.lo - 2 * TICK <= actual <= self.hi + TICK:
                return False
            self.value = actual
        return actual == self.value

    def before(self, moment):
        """Strictly before a datetime. Only asked where the answer does not depend on the unknown part."""
        if self.value is not None:
            return self.value < moment
        if self.hi + TICK < moment:
            return True
        assert moment <= self.lo - 2 * TICK, "the test asked for a comparison that it cannot know"
        return False

    def __repr__(self):
        return f"Stamp({self.value or (self.lo, self.hi)})"


class Guess(Stamp):
    """The instant of a call in one of several orders that are tried: each copy of a model has its own."""

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = Guess(self.lo, self.hi, self.value)
        return memo[id(self)]


class Later:
    """A stamp and some minutes."""

    def __init__(self, stamp, minutes):
        self.stamp, self.delta = stamp, datetime.timedelta(minutes=minutes)

    def __deepcopy__(self, memo):
        return Later._of(copy.deepcopy(self.stamp, memo), self.delta)

    @classmethod
    def _of(cls, stamp, delta):
        made = cls.__new__(cls)
        made.stamp, made.delta = stamp, delta
        return made

    def accept(self, actual):
        return isinstance(actual, datetime.datetime) and self.stamp.accept(actual - self.delta)

    def before(self, moment):
        return self.stamp.before(moment - self.delta)

    def __repr__(self):
        return f"{self.stamp} + {self.delta}"


class Age:
    """Whole seconds between two stamps, as DATEDIFF(second) counts."""

    def __init__(self, since, now):
        second = lambda moment: int((moment - datetime.datetime(1970, 1, 1)).total_seconds() // 1)      # noqa: E731
        a = (since.value, since.value) if since.known else (since.lo - 2 * TICK, since.hi + TICK)
        b = (now.value, now.value) if now.known else (now.lo - 2 * TICK, now.hi + TICK)
        self.lo, self.hi = max(0, second(b[0]) - second(a[1])), max(0, second(b[1]) - second(a[0]))

    def accept(self, actual):
        return isinstance(actual, int) and self.lo <= actual <= self.hi

    def __repr__(self):
        return f"{self.lo} to {self.hi}"


class Expect:
    """An answer: an error number, or status, outputs and rows (None: no result set)."""

    def __init__(self, status=0, out=None, rows=None, error=None, ordered=True, info=None):
        self.status, self.out, self.rows, self.error, self.ordered, self.info = status, out or {}, rows, error, ordered, info

    def __repr__(self):
        return f"Expect(status={self.status}, out={self.out}, rows={self.rows}, error={self.error}, info={self.info})"


def same(expected, actual):
    if hasattr(expected, "accept"):
        return expected.accept(actual)
    if isinstance(expected, (tuple, list)):
        return isinstance(actual, (tuple, list)) and len(expected) == len(actual) and all(same(e, a) for e, a in zip(expected, actual))
    return expected == actual and (expected is None) == (actual is None)


def sort_key(rows):
    """A key that both sides have: the columns that the model knows exactly in all rows."""
    exact = [i for i in range(len(rows[0]) if rows else 0) if not any(hasattr(row[i], "accept") for row in rows)]
    return lambda row: [str(row[i]) for i in exact]


def compare(expect, result):
    """Raises Differs when the answer is not the one that the model gives."""
    if expect.error is not None:
        if result.error != expect.error:
            raise Differs(f"error {result.error}, the model says {expect.error}: {result}")
        if result.sets or result.status not in (None, 1):
            raise Differs(f"more than an error: {result}")
        return
    if result.error is not None:
        raise Differs(f"error {result.errors[0]}, the model says {expect}")
    if result.status != expect.status:
        raise Differs(f"status {result.status}, the model says {expect.status}: {result}")
    if [i[0] for i in result.infos] != ([expect.info] if expect.info else []):
        raise Differs(f"messages {result.infos}, the model says {expect.info}")
    if set(result.out) != set(expect.out) or not all(same(v, result.out[name]) for name, v in expect.out.items()):
        raise Differs(f"outputs {result.out}, the model says {expect.out}")
    if (expect.rows is None) != (not result.sets) or len(result.sets) > 1:
        raise Differs(f"{len(result.sets)} result sets, the model says {expect.rows}")
    if expect.rows is not None:
        compare_rows(expect.rows, result.rows, expect.ordered)


def compare_rows(expected, actual, ordered=True):
    if not ordered:
        key = sort_key(expected)
        expected, actual = sorted(expected, key=key), sorted(actual, key=key)
    if len(expected) != len(actual) or not all(same(e, a) for e, a in zip(expected, actual)):
        raise Differs(f"rows\n  {actual}\nthe model says\n  {expected}")
