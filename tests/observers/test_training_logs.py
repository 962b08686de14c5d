"""The logs of other tools hold what the run's own log and metrics hold; read back with the tools themselves."""

import json
import sys

import pytest

from clausal import Settings, load_graph, read_clauses, train
from clausal.errors import InputError
from clausal.observer import Observer
from clausal.observers import MLflow, Observers, Progress, TensorBoard, WandB
from clausal.observers.progress import bar_html
from small_graphs import write_small_graph


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = write_small_graph(tmp_path_factory.mktemp("graphs") / "company")
    settings = Settings.from_mapping(
        {
            "model": {"dim": 4},
            "train": {"epochs": 4, "passes": 2, "device": "cpu"},
            "evaluate": {"every": 2},
            "clauses": {"steps": 1, "sets": 1},
        }
    )
    return load_graph(folder), read_clauses(folder / "clauses.txt"), settings


def trained(inputs, observer, out):
    """Train with an observer; return the run and its log."""
    run = train(*inputs, out=out, observer=observer)
    return run, [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def needs(package):
    return pytest.importorskip(package, reason=f"pip install {package} to test its logger")


@pytest.mark.filterwarnings("ignore")
def test_tensorboard_has_each_epoch_and_the_final_metrics(inputs, tmp_path):
    needs("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    observer = TensorBoard(tmp_path / "logs")
    run, log = trained(inputs, observer, tmp_path / "run")
    trained(inputs, observer, tmp_path / "again")
    found = EventAccumulator(str(tmp_path / "logs"))
    found.Reload()
    assert [(one.step, pytest.approx(one.value)) for one in found.Scalars("fact_loss")] == [
        (record["epoch"], record["fact_loss"]) for record in log
    ]
    assert [one.step for one in found.Scalars("valid/mrr")] == [2, 4]
    (final,) = found.Scalars("final/test/mrr")
    assert final.value == pytest.approx(run.metrics["test"]["filtered"]["both"]["mrr"])
    assert list((tmp_path / "logs" / "2").iterdir())


@pytest.mark.filterwarnings("ignore")
def test_mlflow_has_settings_epochs_and_the_final_metrics(inputs, tmp_path, monkeypatch):
    mlflow = needs("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", str(tmp_path / "mlruns"))
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    run, log = trained(inputs, MLflow("small"), tmp_path / "run")
    assert mlflow.active_run() is None
    client = mlflow.MlflowClient()
    (found,) = client.search_runs(["0"])
    assert found.info.run_name == "small"
    assert found.data.params["model.dim"] == "4"
    history = client.get_metric_history(found.info.run_id, "fact_loss")
    assert [(one.step, one.value) for one in history] == [(record["epoch"], record["fact_loss"]) for record in log]
    hits = run.metrics["test"]["filtered"]["both"]["hits@10"]
    assert found.data.metrics["final/test/hits_at_10"] == pytest.approx(hits)
    with mlflow.start_run() as own:  # a run that is active is used, and stays so
        trained(inputs, MLflow(), tmp_path / "again")
        assert mlflow.active_run().info.run_id == own.info.run_id
    assert len(client.search_runs(["0"])) == 2


@pytest.mark.filterwarnings("ignore")
def test_wandb_has_settings_epochs_and_the_final_metrics(inputs, tmp_path, monkeypatch):
    wandb = needs("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    logged, kept, final = [], {}, {}
    start = wandb.init

    def watched(**options):
        run = start(**options)
        log = run.log
        monkeypatch.setattr(run, "log", lambda numbers, step: (logged.append((step, numbers)), log(numbers, step=step)))
        finish = run.finish
        monkeypatch.setattr(run, "finish", lambda: (final.update(dict(run.summary)), finish()))
        kept["config"] = dict(run.config)
        return run

    monkeypatch.setattr(wandb, "init", watched)
    observer = WandB(mode="offline", dir=str(tmp_path), project="small", config={"mine": 1})
    run, log = trained(inputs, observer, tmp_path / "run")
    assert [(step, numbers["fact_loss"]) for step, numbers in logged] == [
        (record["epoch"], record["fact_loss"]) for record in log
    ]
    assert kept["config"]["model.dim"] == 4
    assert kept["config"]["mine"] == 1
    assert final["final/test/mrr"] == pytest.approx(run.metrics["test"]["filtered"]["both"]["mrr"])
    assert list(tmp_path.rglob("*.wandb"))


@pytest.mark.parametrize(
    ("logger", "package"), [(lambda: TensorBoard("x"), "tensorboard"), (MLflow, "mlflow"), (WandB, "wandb")]
)
def test_a_tool_that_is_missing_is_named_before_the_training(logger, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=f"install the package '{package}'"):
        logger()


def test_progress_says_epochs_where_there_is_no_notebook(inputs, capsys):
    heard = []

    class Other(Observer):
        def epoch(self, record):
            heard.append(record["epoch"])

    train(*inputs, observer=Observers(Progress(), Other()))
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line.startswith("epoch 4 of 4, loss ") and "on valid" in line]
    assert lines[-1].startswith("trained 100%  4 epochs in ")
    assert heard == [1, 2, 3, 4]


def test_a_bar_escapes_its_text_and_has_a_name():
    bar = bar_html("<i>", 0.25, "a & b")
    assert "<i>" not in bar
    assert 'value="0.2500"' in bar
    assert 'aria-label="&lt;i&gt;"' in bar
