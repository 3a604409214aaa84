"""The figures of a run as Markdown tables."""

from math import nan

QUIRKY = "but"  # a relation that says "but ..." is not equal privacy, and is never the best
CLOSE = 0.15  # a relative standard error up to which a peer's error may be called the best
VECTORS = ("quartiles", "per unit")  # their parts are shown one by one


def number(value: float) -> str:
    """Three or four significant digits without an exponent up to a million."""
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}" if value < 1e7 else f"{value:.3g}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    bar = ["-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    cells = [
        [r[0].ljust(widths[0]), *map(str.rjust, r[1:], widths[1:])] for r in (head, bar, *rows)
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def task_report(task: str, found: dict[str, dict]) -> str:
    """One question: time, memory and error of every library."""
    head = ["library", "wall ms", "CPU ms", "again CPU ms", "peak MB", "RMSE", "±", "trials"]
    keyed = task.startswith("unknown keys")
    head += [*(["keys", "RMSE of these"] if keyed else []), "relation"]
    rows, notes = [], []
    for name, got in found.items():
        if got["note"]:
            notes.append(f"- {name}: {got['note']}")
        times = [f"{1000 * got[k]:.1f}" for k in ("wall", "cpu", "again_cpu")]
        parts = task.partition(" (")[0] in VECTORS
        error = ", ".join(map(number, got["parts"])) if parts else number(got["rmse"])
        errors = [error, f"{100 * got['noise'] / (got['rmse'] or nan):.0f} %", str(got["trials"])]
        shown = [number(got["shown"]), number(got["shown_rmse"])] if keyed else []
        rows.append([name, *times, number(got["peak"]), *errors, *shown, got["relation"]])
    return "\n\n".join([f"### {task}", table(head, rows), *(["\n".join(notes)] if notes else [])])


def summary_report(tasks: dict[str, dict[str, dict]]) -> str:
    """For each question and relation: halfmask's RMSE beside the best peer's."""
    head = ["question", "relation", "halfmask", "best peer", "RMSE", "ratio", "± of the ratio"]
    rows = []
    for task, found in tasks.items():
        ours = {n: g for n, g in found.items() if n.partition(",")[0] == "halfmask"}
        others = {n: g for n, g in found.items() if n not in ours and QUIRKY not in g["relation"]}
        for relation in dict.fromkeys(got["relation"] for got in ours.values()):
            mine = min((g for g in ours.values() if g["relation"] == relation), key=_rmse)
            rivals = {n: g for n, g in others.items() if g["relation"] == relation}
            known = {n: g for n, g in rivals.items() if g["noise"] <= CLOSE * g["rmse"]}
            rivals = known or rivals
            if rivals and mine["rmse"]:
                best = min(rivals, key=lambda name: rivals[name]["rmse"])
                rows.append([task, relation, *_compared(mine, best, rivals[best])])
    return f"### Errors beside the best peer of the same relation\n\n{table(head, rows)}"


def _rmse(got: dict) -> float:
    return got["rmse"]


def _compared(mine: dict, name: str, best: dict) -> list[str]:
    ratio = mine["rmse"] / (best["rmse"] or nan)
    spread = sum((got["noise"] / (got["rmse"] or nan)) ** 2 for got in (mine, best)) ** 0.5
    return [
        number(mine["rmse"]),
        name,
        number(best["rmse"]),
        f"{ratio:.2f}",
        f"{ratio * spread:.2f}",
    ]


def start_report(found: dict[str, dict]) -> str:
    head = ["library", "packages MB", "environment MB", "import ms", "import CPU ms"]
    head += ["cold mean ms", "cold mean CPU ms"]
    rows = []
    for name, got in found.items():
        sizes = [f"{got[k]:.0f}" for k in ("packages_mb", "environment_mb")]
        keys = ("import_wall", "import_cpu", "cold_wall", "cold_cpu")
        rows.append([f"{name} {got['version']}", *sizes, *(f"{1000 * got[k]:.0f}" for k in keys)])
    return f"### Install and start\n\n{table(head, rows)}"


def article_report(found: dict[str, dict]) -> str:
    lines = {}
    for name, got in found.items():
        if "extra" in got:
            lines["the article's algorithm"] = ("add/remove one row", got["extra"])
        if got["sets"]:
            lines[name] = (got["relation"], got["sets"])
    if not lines:
        return ""
    sets = list(dict.fromkeys(key for _, errors in lines.values() for key in errors))
    rows = [
        [
            name,
            *(number(errors[key]["rmse"]) for key in sets),
            number(max(e["rmse"] for e in errors.values())),
            f"{min(e['trials'] for e in errors.values())}",
            relation,
        ]
        for name, (relation, errors) in lines.items()
    ]
    head = ["RMSE of the mean", *sets, "worst", "trials", "relation"]
    title = "### The article's example: mean of 100 salaries, C = 100 000, epsilon 0.5"
    return f"{title}\n\n{table(head, rows)}"


def report(result: dict) -> str:
    where = result["machine"]
    facts = f"{where['system']}, {where['cores']} cores, Python {where['python']}"
    parts = [facts]
    if result["tasks"]:
        parts.append(summary_report(result["tasks"]))
    parts += [task_report(t, found) for t, found in result["tasks"].items()]
    if result["start"]:
        parts.append(start_report(result["start"]))
    return "\n\n".join(filter(None, [*parts, article_report(result["article"])]))
