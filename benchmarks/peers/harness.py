"""What the peer scripts share: the task table, clocks, peak memory and repeated trials.

Standard library only, so that it runs in an environment that holds one library and nothing else.
Each peer script defines `tasks(folder)` and hands it to `main`, which understands

    script.py list --folder F                                  the names of its tasks
    script.py measure TASK... --folder F --trials N --seconds S   tasks, one after the other
    script.py article --folder F --trials N --seconds S        the mean of 100 salaries, six times
    script.py cold --folder F                                  one private mean, then exit

and prints one JSON object, or one for each task measured. A task that the library cannot do is
absent from its dictionary.
"""

import argparse
import json
import math
import os
import random
import resource
import statistics
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

EPSILON = 0.5
CAP = 100_000  # public bounds of a salary: 0 to CAP
DELTA = 1e-8  # where keys are unknown
BINS = 50
FINE, STEP = 1024, 100  # the bins of the range queries: salaries by the hundred, from 0
GROUPS = 12
CITIES = 5000
ROWS_PER_UNIT = 5
REPLACE = "replace one row, n public"
TIMINGS = 7
QUICK = 0.5  # seconds; an answer that takes longer is timed three times, after 2 s once

Answer = float | Iterable[float]
Tasks = dict[str, Callable[[], "Task"]]


@dataclass(frozen=True)
class Task:
    """One question put to one library.

    `answer` goes from opened data to a private answer with nothing kept from an earlier call: it
    is what the clocks measure. `again` gives further answers from the same law and may keep what
    does not depend on the draw; trials use it when it is given.
    """

    answer: Callable[[], Answer]
    again: Callable[[], Answer] | None = None
    relation: str = "add/remove one row"
    truth: str = ""
    note: str = ""


def ranges() -> list[tuple[int, int]]:
    """A hundred random ranges [a, b) of the fine bins, the same in every process."""
    seeded = random.Random(1024)
    return [tuple(sorted(seeded.sample(range(FINE + 1), 2))) for _ in range(100)]


def range_sums(counts: Iterable[float]) -> list[float]:
    """The hundred range queries, from counts of the fine bins."""
    running = [0.0, *accumulate(counts)]
    return [running[b] - running[a] for a, b in ranges()]


def city_counts(found: Iterable[tuple[int, float]]) -> list[float]:
    """Released (city, count) pairs as one number for each of all cities; NaN where withheld."""
    answer = [math.nan] * CITIES
    for city, count in found:
        answer[int(city)] = float(count)
    return answer


def column(folder: Path) -> array:
    """The salaries as doubles; a missing one is NaN."""
    values = array("d")
    values.frombytes((folder / "salary.f64").read_bytes())
    return values


def proc(path: str) -> str:
    """A file of /proc; empty where there is none, or its thread has just ended."""
    try:
        return Path("/proc", path).read_text()
    except OSError:
        return ""


def processes() -> list[int]:
    """This process and its descendants (Spark's engine is one); itself alone outside Linux."""
    found = [os.getpid()]
    for pid in found:
        threads = Path(f"/proc/{pid}/task")
        for thread in os.listdir(threads) if threads.exists() else ():
            found += [int(child) for child in proc(f"{pid}/task/{thread}/children").split()]
    return found


def peak_megabytes() -> float:
    """Peak resident memory of this process and its descendants, not of its parent."""
    if not Path("/proc/self/status").exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    peak = 0.0
    for pid in processes():
        lines = proc(f"{pid}/status").splitlines()
        peak += sum(int(x.split()[1]) for x in lines if x.startswith("VmHWM")) / 1024
    return peak


def processor_seconds() -> float:
    """CPU seconds of all threads of this process and of its descendants."""
    total, tick = time.process_time(), os.sysconf("SC_CLK_TCK")
    for pid in processes()[1:]:
        fields = proc(f"{pid}/stat").rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / tick if fields else 0.0
    return total


def clock(call: Callable[[], Answer]) -> tuple[float, float, list[float]]:
    """Wall and CPU seconds of one call, and its answer."""
    wall, cpu = time.perf_counter(), processor_seconds()
    answer = as_list(call())
    return time.perf_counter() - wall, processor_seconds() - cpu, answer


def as_list(answer: Answer) -> list[float]:
    """A number as a list of one; anything else as a list of floats."""
    return [float(x) for x in answer] if isinstance(answer, Iterable) else [float(answer)]


@dataclass
class Errors:
    """Sums over trials: of squared errors of each part, and over the parts that were released."""

    truth: list[float]
    trials: int = 0
    parts: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    total: float = 0.0
    shown: int = 0
    shown_squares: float = 0.0

    def add(self, answer: list[float]) -> None:
        """One answer; NaN stands for a part that was withheld, and counts as an answer of 0."""
        gaps = [a - t for a, t in zip(answer, self.truth, strict=True)]
        known = [g for g in gaps if not math.isnan(g)]
        full = [-t if math.isnan(g) else g for g, t in zip(gaps, self.truth, strict=True)]
        squares = [g * g for g in full]
        self.parts = [
            p + s for p, s in zip(self.parts or [0.0] * len(squares), squares, strict=True)
        ]
        self.means.append(statistics.fmean(squares))
        self.total += statistics.fmean(full)
        self.shown += len(known)
        self.shown_squares += sum(g * g for g in known)
        self.trials += 1

    def summary(self) -> dict[str, object]:
        """RMSE over all parts with its standard error, over each part, and over released parts."""
        rmse = math.sqrt(statistics.fmean(self.means))
        spread = statistics.stdev(self.means) if self.trials > 1 else math.nan
        return {
            "trials": self.trials,
            "rmse": rmse,
            "noise": spread / math.sqrt(self.trials) / (2 * rmse) if rmse else 0.0,
            "parts": [math.sqrt(p / self.trials) for p in self.parts],
            "bias": self.total / self.trials,
            "shown": self.shown / self.trials,
            "shown_rmse": math.sqrt(self.shown_squares / max(1, self.shown)),
        }


def repeat(
    call: Callable[[], Answer], errors: Errors, trials: int, seconds: float
) -> dict[str, object]:
    """Errors of up to `trials` answers, those already in `errors` among them, at most `seconds`."""
    stop = time.monotonic() + seconds
    while errors.trials < trials and (errors.trials < 2 or time.monotonic() < stop):
        errors.add(as_list(call()))
    return errors.summary()


def timings(call: Callable[[], Answer], errors: Errors) -> Iterator[tuple[float, float]]:
    """Wall and CPU seconds of a few answers; the fewer, the slower the first is."""
    planned, made = 1, 0
    while made < planned:
        wall, cpu, answer = clock(call)
        errors.add(answer)
        planned = planned if made else TIMINGS if wall < QUICK else 3 if wall < 2 else 1
        made += 1
        yield wall, cpu


def measure(task: Task, truth: list[float], trials: int, seconds: float) -> dict[str, object]:
    """Time, memory and error of one task; every answer is a trial, timed ones too."""
    begun, errors = time.monotonic(), Errors(truth)
    first, _, answer = clock(task.answer)
    errors.add(answer)
    timed = list(timings(task.answer, errors))
    again = list(timings(task.again, errors)) if task.again else timed
    peak = peak_megabytes()
    left = max(0.0, seconds - (time.monotonic() - begun))
    return {
        "first_wall": first,
        "wall": statistics.median(w for w, _ in timed),
        "cpu": statistics.median(c for _, c in timed),
        "again_cpu": statistics.median(c for _, c in again),
        "timings": len(timed),
        "peak": peak,
        "relation": task.relation,
        "note": task.note,
        **repeat(task.again or task.answer, errors, trials, left),
    }


def measure_all(offered: Tasks, given: argparse.Namespace) -> None:
    """Print a line for each task as soon as it is done, so that a run cut short is not lost."""
    truths = json.loads((given.folder / "exact.json").read_text())
    for name in given.tasks:
        task = offered[name]()
        truth = as_list(truths[task.truth or name.split(",")[0]])
        found = measure(task, truth, given.trials, given.seconds)
        print(json.dumps({name: found}), flush=True)


def article(
    mean: Callable[[list[float]], Callable[[], float]], folder: Path, trials: int, seconds: float
) -> dict[str, object]:
    """The error of the library's private mean on each data set of 100, against its clipped mean."""
    found: dict[str, object] = {}
    for name, values in json.loads((folder / "article.json").read_text()).items():
        truth = statistics.fmean(min(max(x, 0.0), CAP) for x in values)
        found[name] = repeat(mean(values), Errors([truth]), trials, seconds)
    return found


def main(
    tasks: Callable[[Path], Tasks],
    small_mean: Callable[[list[float]], Callable[[], float]] | None = None,
    small_relation: str = "add/remove one row",
    extra: Callable[[Path, int], dict[str, object]] | None = None,
) -> None:
    """Carry out the command line of a peer script and print its JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["measure", "article", "cold", "list"])
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=180)
    given = parser.parse_args()
    result: object
    if given.what == "measure":
        measure_all(tasks(given.folder), given)
        return
    if given.what == "cold":
        result = as_list(tasks(given.folder)["mean"]().answer())
    elif given.what == "list":
        result = list(tasks(given.folder))
    else:
        result = {"relation": small_relation, "sets": {}}
        if small_mean is not None:
            result["sets"] = article(small_mean, given.folder, given.trials, given.seconds)
        if extra is not None:
            result["extra"] = extra(given.folder, given.trials)
    print(json.dumps(result))
