"""A state machine of run directories: what a user, a cron job and a bad disk do to them, in any order."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, precondition, rule

import clausal
from clausal import ClausalError, InputError
from clausal.observer import Calling
from states.trainings import DAMAGES, PASSES, VARIANTS, killed, metrics, model_bits, reference, snapshot, train

STEPS: Counter[str] = Counter()
SECONDS: Counter[str] = Counter()
"""How often each rule was taken in this process, and how long that took."""

QUIET = Calling(message=lambda _: None)


@dataclass
class Known:
    """What must be true of a run: where it is, how it was trained, whether it is finished, and its bits."""

    path: Path
    variant: str
    finished: bool
    bits: str | None = None
    metrics: dict[str, float] | None = None
    told: int = 0
    """Facts that updates added."""
    damaged: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)

    def look(self) -> Known:
        """Remember the files as they are now."""
        self.files = snapshot(self.path)
        return self


class Runs(RuleBasedStateMachine):
    """Runs are made, killed, resumed, updated, copied, moved, damaged, mended and asked."""

    sound, broken = Bundle("sound"), Bundle("broken")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="states-"))
        self.all: list[Known] = []
        self.made = 0
        self.begun = time.monotonic()

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def _path(self) -> Path:
        self.made += 1
        return self.folder / f"run {self.made}"

    def _keep(self, run: Known) -> Known:
        self.all.append(run.look())
        return run

    def _finished(self, run: Known) -> None:
        run.finished = True
        run.bits, run.metrics = reference(run.variant)
        assert model_bits(run.path) == run.bits, "a training ended in other bits"

    def _count(self, name: str) -> None:
        STEPS[name] += 1
        SECONDS[name] += time.monotonic() - self.begun

    @rule(target=sound, variant=st.sampled_from(sorted(VARIANTS)))
    def create(self, variant: str) -> Known:
        """Train to the end: the same settings give the same bits."""
        run = Known(self._path(), variant, finished=True)
        train(variant, run.path)
        self._finished(run)
        self._count("create")
        return self._keep(run)

    @rule(target=sound, variant=st.sampled_from(sorted(VARIANTS)), after=st.integers(0, PASSES))
    def kill(self, variant: str, after: int) -> Known:
        """Kill a training after some passes."""
        run = Known(self._path(), variant, finished=False)
        if not killed(variant, run.path, after):
            self._finished(run)
        self._count("kill")
        return self._keep(run)

    @rule(
        target=sound,
        variant=st.sampled_from(sorted(VARIANTS)),
        kills=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    )
    def kill_until_the_end(self, variant: str, kills: list[int]) -> Known:
        """Kill a training, kill what goes on with it, again and again, and let the last one go to its end."""
        run = Known(self._path(), variant, finished=False)
        alive = not killed(variant, run.path, kills[0])
        for after in kills[1:]:
            alive = alive or not killed(None, run.path, after)
            self._count("resume and kill")
        clausal.resume(run.path, observer=QUIET)
        self._finished(run)
        self._count("kill until the end")
        return self._keep(run)

    @rule(run=sound)
    def resume(self, run: Known) -> None:
        """Go on to the end: the bits are those of a training that nobody killed; a finished one stays as it is."""
        clausal.resume(run.path, observer=QUIET)
        if not run.finished:
            self._finished(run)
            run.look()
        self._count("resume")

    @rule(run=sound, after=st.integers(0, PASSES))
    def resume_and_kill(self, run: Known, after: int) -> None:
        """Go on and be killed again."""
        if run.finished:
            return
        if not killed(None, run.path, after):
            self._finished(run)
        run.look()
        self._count("resume and kill")

    @rule(run=sound)
    def create_on_top(self, run: Known) -> None:
        """Train into the folder of another run: refused."""
        with pytest.raises(InputError, match="exists already"):
            train(run.variant, run.path)
        self._count("create on top")

    @rule(run=sound)
    def load(self, run: Known) -> None:
        """Load a run: it has what it was trained on, or says that it is not finished."""
        if run.finished:
            loaded = clausal.load(run.path)
            assert len(loaded.graph.train) == len(self._original(run)) + run.told
            assert loaded.predict("works_with(person 01, ?)", 3)
        else:
            with pytest.raises(InputError, match="has not finished"):
                clausal.load(run.path)
        self._count("load")

    @staticmethod
    def _original(run: Known) -> Any:
        from clausal import Graph
        from small_graphs import small_facts

        return Graph.from_triples(small_facts()).split(valid=0.3, test=0.1).train

    @rule(run=sound)
    def evaluate(self, run: Known) -> None:
        """Evaluate a run twice: the metrics are those of its bits."""
        if not run.finished:
            return
        found = metrics(clausal.load(run.path))
        assert run.metrics is None or found == run.metrics
        run.metrics = found
        self._count("evaluate")

    @rule(target=sound, run=sound, name=st.sampled_from(["zoe", "max", "ümit 1"]))
    def update(self, run: Known, name: str) -> Any:
        """Tell a run of someone new: another run knows it, twice with the same bits, and this one stays as it is."""
        loaded = clausal.load(run.path) if run.finished else None
        if loaded is None or name in loaded.graph.entities:
            return multiple()
        facts = [("person 01", "manages", name), (name, "works_with", "person 01")]
        new, again = self._path(), self._path()
        for path in (new, again):
            loaded.update(facts, out=path)
        assert model_bits(new) == model_bits(again)
        shutil.rmtree(again)
        self._count("update")
        return self._keep(Known(new, run.variant, True, model_bits(new), None, run.told + 2))

    @rule(target=sound, run=sound)
    def copy(self, run: Known) -> Known:
        """Copy a run, an unfinished one too: the copy is as good."""
        path = self._path()
        shutil.copytree(run.path, path)
        self._count("copy")
        return self._keep(replace(run, path=path, files={}))

    @rule(run=sound)
    def move(self, run: Known) -> None:
        """Give a run another name."""
        run.path = run.path.rename(self._path())
        self._count("move")

    @precondition(lambda self: len(self.all) > 3)
    @rule(run=consumes(sound))
    def remove(self, run: Known) -> None:
        """Remove a run."""
        shutil.rmtree(run.path)
        self.all = [other for other in self.all if other is not run]
        self._count("remove")

    @rule(target=broken, run=consumes(sound), how=st.sampled_from(sorted(DAMAGES)), which=st.integers(0, 99))
    def damage(self, run: Known, how: str, which: int) -> Known:
        """Damage a file of a run."""
        names = sorted(name for name, content in run.files.items() if content)
        run.damaged = names[which % len(names)]
        content = DAMAGES[how](run.files[run.damaged])
        file = run.path / run.damaged
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        self._count("damage")
        return run

    @rule(run=broken)
    def ask_damaged(self, run: Known) -> None:
        """Ask a damaged run: it refuses in words, or its model is what it was."""
        before = snapshot(run.path)
        try:
            loaded = clausal.load(run.path)
            loaded.predict("works_with(person 01, ?)", 3)
            loaded.evaluate("test")
        except ClausalError:
            pass
        else:
            assert run.finished
            assert run.damaged != "model.safetensors"
            assert model_bits(run.path) == run.bits
        assert snapshot(run.path) == before, "asking changed the files"
        self._count("ask damaged")

    @rule(target=sound, run=consumes(broken))
    def mend(self, run: Known) -> Known:
        """Put the file back, as from a backup: the run is as good as ever."""
        (run.path / run.damaged).write_bytes(run.files[run.damaged])
        run.damaged = None
        self._count("mend")
        return run

    @invariant()
    def no_other_bit_has_changed(self) -> None:
        """What was not meant to change has not, and only what a kill left under a hidden name is there beside it."""
        for run in self.all:
            found = snapshot(run.path)
            for name in {*found, *run.files} - {run.damaged}:
                assert found.get(name) == run.files.get(name), f"{name} has changed"
        paths = {run.path for run in self.all}
        assert all(path in paths or path.name.startswith(".") for path in self.folder.iterdir())
        self.begun = time.monotonic()
