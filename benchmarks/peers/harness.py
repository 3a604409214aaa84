"""What the peer scripts share: the task table, clocks, peak memory and repeated trials.

Standard library only, so that it runs in an environment that holds one library and nothing else.
Each peer script defines `tasks(folder)` and hands it to `main`, which understands

    script.py measure TASK --folder F --trials N --seconds S   one task, in a process of its own
    script.py article --folder F --trials N --seconds S        the mean of 100 salaries, six times
    script.py cold --folder F                                  one private mean, then exit

and prints one JSON object. A task that the library cannot do is absent from its dictionary.
"""

import argparse
import json
import math
import resource
import statistics
import time
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

EPSILON = 0.5
CAP = 100_000  # public bounds of a salary: 0 to CAP
BINS = 50
ROWS_PER_UNIT = 5
TIMINGS = 7

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


def column(folder: Path) -> array:
    """The salaries as doubles; a missing one is NaN."""
    values = array("d")
    values.frombytes((folder / "salary.f64").read_bytes())
    return values


def peak_megabytes() -> float:
    """Peak resident memory of this process alone (ru_maxrss would include the parent's)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def clock(call: Callable[[], Answer]) -> tuple[float, float]:
    """Wall and CPU seconds (all threads of this process) of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def as_list(answer: Answer) -> list[float]:
    """A number as a list of one; anything else as a list of floats."""
    return [float(x) for x in answer] if isinstance(answer, Iterable) else [float(answer)]


def repeat(
    call: Callable[[], Answer], truth: list[float], trials: int, seconds: float
) -> dict[str, object]:
    """Errors of up to `trials` answers, stopped after `seconds`: per part, and over all parts."""
    errors: list[list[float]] = []
    stop = time.monotonic() + seconds
    while len(errors) < trials and (len(errors) < 2 or time.monotonic() < stop):
        answer = as_list(call())
        errors.append([a - t for a, t in zip(answer, truth, strict=True)])
    parts = [math.sqrt(statistics.fmean(e * e for e in part)) for part in zip(*errors, strict=True)]
    return {
        "trials": len(errors),
        "rmse": math.sqrt(statistics.fmean(p * p for p in parts)),
        "parts": parts,
        "bias": statistics.fmean(e for row in errors for e in row),
    }


def measure(task: Task, truth: list[float], trials: int, seconds: float) -> dict[str, object]:
    """Time, memory and error of one task."""
    first, _ = clock(task.answer)
    timings = [clock(task.answer) for _ in range(TIMINGS if first < 2 else 3)]
    again = [clock(task.again) for _ in range(TIMINGS)] if task.again else timings
    peak = peak_megabytes()
    return {
        "first_wall": first,
        "wall": statistics.median(w for w, _ in timings),
        "cpu": statistics.median(c for _, c in timings),
        "again_cpu": statistics.median(c for _, c in again),
        "timings": len(timings),
        "peak": peak,
        "relation": task.relation,
        "note": task.note,
        **repeat(task.again or task.answer, truth, trials, seconds),
    }


def article(
    mean: Callable[[list[float]], Callable[[], float]], folder: Path, trials: int, seconds: float
) -> dict[str, object]:
    """The error of the library's private mean on each data set of 100, against its clipped mean."""
    found: dict[str, object] = {}
    for name, values in json.loads((folder / "article.json").read_text()).items():
        truth = statistics.fmean(min(max(x, 0.0), CAP) for x in values)
        found[name] = repeat(mean(values), [truth], trials, seconds)
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
    parser.add_argument("task", nargs="?")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=180)
    given = parser.parse_args()
    result: object
    if given.what == "cold":
        result = as_list(tasks(given.folder)["mean"]().answer())
    elif given.what == "list":
        result = list(tasks(given.folder))
    elif given.what == "measure":
        task = tasks(given.folder)[given.task]()
        truths = json.loads((given.folder / "exact.json").read_text())
        truth = truths[task.truth or given.task.split(",")[0]]
        result = measure(task, as_list(truth), given.trials, given.seconds)
    else:
        result = {"relation": small_relation, "sets": {}}
        if small_mean is not None:
            result["sets"] = article(small_mean, given.folder, given.trials, given.seconds)
        if extra is not None:
            result["extra"] = extra(given.folder, given.trials)
    print(json.dumps(result))
