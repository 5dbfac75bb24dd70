"""Two sides that take turns, and what one costs beside the other, with its error."""
import math
import os
import statistics
import time


def in_turns(rounds, *sides):
    """Each side once a round; who begins changes from round to round, so that what else the machine does disturbs both alike.
    Returns the results of each side, in the order of the rounds."""
    found = [[] for _ in sides]
    for turn in range(rounds):
        order = range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides)))
        for which in order:
            # What the one before has left to be written is not this one's to pay.
            os.sync()
            time.sleep(0.3)
            found[which].append(sides[which]())
    return found


def ratio(before, after):
    """Geometric mean of the rounds' ratios, after to before, and its standard error. A round too short to have used any CPU says nothing."""
    logs = [math.log(b / a) for a, b in zip(before, after) if a > 0 and b > 0]
    if not logs:
        return math.nan, math.nan
    error = statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else 0
    mean = math.exp(statistics.mean(logs))
    return mean, mean * error


def shown(pair):
    """A ratio and its error for people."""
    return f"{pair[0]:.3f} ± {pair[1]:.3f}"
