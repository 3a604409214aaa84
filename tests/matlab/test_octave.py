"""The MATLAB toolbox: its own tests pass in Octave, and its budget is one that Python believes."""

import re

import numpy as np
import pytest
from toolbox import HOME, needs_octave, octave

from halfmask.depth import spatial_depth, tukey_depth
from halfmask.errors import LedgerError
from halfmask.privacy import ExportedLedger

pytestmark = needs_octave


def test_the_toolbox_passes_its_tests():
    code, said = octave("cd tests; run_tests")
    assert re.search(r"^[1-9]\d* passed, 0 failed$", said, re.MULTILINE), said
    assert code == 0, said


def test_a_failing_test_fails_the_run(tmp_path):
    (tmp_path / "test_wrong.m").write_text(
        "function tests = test_wrong()\ntests = {@wrong};\nend\n"
        "function wrong()\ncheck(1 + 1 == 3, 'two and %d', 2);\nend\n"
    )
    code, said = octave(f"cd tests; addpath('{tmp_path}'); run_tests('test_wrong')")
    assert code == 1, said
    assert re.search(r"^FAILED test_wrong wrong: two and 2$", said, re.MULTILINE), said
    assert re.search(r"^0 passed, 1 failed$", said, re.MULTILINE), said


def test_python_checks_an_exported_budget(tmp_path):
    path = tmp_path / "budget.json"
    code, said = octave(
        f"b = halfmask.Budget(123456, '{path}');"
        "halfmask.mean([1 2 3], 0, 10, 'epsilon', '1/3', 'budget', b);"
        "b.charge(0.25, 'a \"quoted\" \\ question');"
    )
    assert code == 0, said
    read = ExportedLedger.read(path)
    assert [str(entry.price) for entry in read.entries] == ["epsilon 1/3", "epsilon 0.25"]
    assert [entry.query for entry in read.entries] == [
        "Mean, held to 0 to 10",
        'a "quoted" \\ question',
    ]
    assert str(read.remaining) == "epsilon 123455.416666666666"
    path.write_text(path.read_text().replace("held to 0 to 10", "held to 0 to 11"))
    with pytest.raises(LedgerError, match="row 1 was changed"):
        ExportedLedger.read(path)
    code, said = octave(f"halfmask.Budget.open('{path}');")
    assert code == 1
    assert "row 1 was changed" in said


def test_the_example_runs_and_errs_less_than_the_usual_way():
    code, said = octave("run('examples/article.m')")
    assert code == 0, said
    assert "and epsilon 0 is left of epsilon 0.5" in said
    errors = [
        int(re.search(rf"^{way} .* (\d+)$", said, re.M)[1]) for way in ("usual", "halfmask.mean")
    ]
    assert errors[1] < errors[0]  # by 3 times; of 100 trials each the ratio is within a third or so


def test_help_says_what_is_promised():
    for name in ("count", "sum", "mean", "histogram", "median", "quantile", "box_median", "Budget"):
        code, said = octave(f"help halfmask.{name}")
        assert code == 0, said
        assert "Privacy: " in said
        assert f"halfmask.{name}(" in said


def test_depths_are_those_of_python():
    code, said = octave(
        "data = [mod((1:60)' * 37, 101), mod((1:60)' * 53, 89)] / 8; points = data(1:7, :) + 1/16;"
        "rays = [1 0; 3 1; -2 5; 0 1];"
        "disp(sprintf('spatial %.15g', halfmask.depth.spatial_depth(points, data)));"
        "disp(sprintf('tukey %d', halfmask.depth.tukey_depth(points, data, rays)))"
    )
    assert code == 0, said
    i = np.arange(1, 61)
    data = np.column_stack([i * 37 % 101, i * 53 % 89]) / 8
    points, rays = data[:7] + 1 / 16, [[1, 0], [3, 1], [-2, 5], [0, 1]]
    spatial = [float(found) for found in re.findall(r"spatial ([\d.e-]+)", said)]
    tukey = [int(found) for found in re.findall(r"tukey (\d+)", said)]
    assert spatial == pytest.approx(spatial_depth(points, data), abs=1e-12)
    assert tukey == tukey_depth(points, data, rays).tolist()


def test_the_files_keep_to_what_both_languages_read():
    """No endif, printf, +=, != or # comments, no double-quoted texts: MATLAB has none of them."""
    only_octave = re.compile(
        r"^\s*(endif|endfor|endwhile|endfunction|end_try_catch|until|unwind_protect)\b"
        r"|\bprintf\s*\(|[+*/-]=(?!=)|!=|\+\+|^\s*#"
    )
    texts = re.compile(r"'(?:[^'\n]|'')*'")
    for path in sorted(HOME.rglob("*.m")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            code = texts.sub("''", line).partition("%")[0]
            assert not only_octave.search(code.replace("fprintf", "")), f"{path.name}:{number}"
            assert '"' not in code, f"{path.name}:{number}: a double-quoted text"
            assert len(line) <= 100, f"{path.name}:{number}: longer than 100"
