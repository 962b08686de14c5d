"""Where many workers keep one study: a PostgreSQL server, or a file of SQLite on one machine; optuna writes it.

Passwords are for PostgreSQL's own library, from the address, ``PGPASSWORD`` or a passfile. Nothing here keeps or says
one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from clausal.errors import InputError, RunError
from clausal.graph.addresses import public, waiting_options, without_secrets
from clausal.search.samplers import import_optuna

BEAT = 10
"""Seconds between two signs of life of a worker."""
SILENT = 60
"""Seconds without one, after which its trial is given to another."""
PATIENCE = 120.0
"""Seconds in which a lost database has to be back."""
RETRIES = 1
"""How often a trial is taken up again whose worker was lost."""
_PAUSE = 1.0
_ANSWERS = 10  # seconds in which a server answers
_FIRST_TRIES = 3  # two workers that begin at once may both make the tables

T = TypeVar("T")


class StudyStorage:
    """An open database of studies; ``address`` is fit to be shown."""

    def __init__(self, address: str) -> None:
        import_optuna()
        self._secret = address
        self.address = public(address)
        kind = address.partition(":")[0].casefold().partition("+")[0]
        if kind in ("postgresql", "postgres"):
            url, options = "postgresql+psycopg://", self._postgresql(f"postgresql:{address.partition(':')[2]}")
        elif kind == "sqlite":
            url, options = self._sqlite(address.partition(":")[2].removeprefix("///"))
        else:
            raise InputError(
                f"{self.address}: a study is kept in postgresql://HOST/NAME, or for one machine in sqlite:FILE"
            )
        self.optuna = self._opened(url, options)

    def close(self) -> None:
        """Let go of all connections."""
        self.optuna.remove_session()
        self.optuna.engine.dispose()

    def patiently(self, action: Callable[[], T]) -> T:
        """Do something with the database, again and again while it is away, and give up with one clear message."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return action()
            except storage_errors() as error:
                if time.monotonic() > until:
                    raise RunError(
                        f"{self.address}: the connection was lost, and was not back within {PATIENCE:g} s "
                        f"({self._reason(error)}); trials that ended are in the journal, and the same command goes on "
                        "when the database is there again"
                    ) from None
                time.sleep(_PAUSE)

    def _postgresql(self, address: str) -> dict[str, Any]:
        try:
            import psycopg
        except ImportError:
            raise InputError(
                f"{self.address}: a study on PostgreSQL needs psycopg: pip install 'clausal[search-postgres]'"
            ) from None
        waiting: dict[str, Any] = waiting_options(address, _ANSWERS)

        def connect() -> Any:
            """Connect again, for as long as a server may be away."""
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    return bounded(psycopg.connect(address, **waiting))
                except psycopg.OperationalError:
                    if time.monotonic() > until:
                        raise
                    time.sleep(_PAUSE)

        def bounded(connection: Any) -> Any:
            """Let no statement wait for ever, nor others for a worker that stands still between two of them."""
            connection.execute(f"SET statement_timeout = '{PATIENCE:g}s'")
            connection.execute(f"SET idle_in_transaction_session_timeout = '{SILENT:g}s'")
            connection.commit()
            return connection

        try:
            psycopg.connect(address, **waiting).close()  # what is wrong from the start is said at once
        except psycopg.Error as error:
            raise InputError(f"{self.address}: {self._reason(error)}") from None
        return {"creator": connect, "pool_pre_ping": True}

    def _sqlite(self, name: str) -> tuple[str, dict[str, Any]]:
        path = Path(name)
        if not name or not path.parent.is_dir():
            raise InputError(f"{self.address}: the folder {path.parent} does not exist; expected sqlite:FILE")
        return f"sqlite:///{path.absolute()}", {"connect_args": {"timeout": PATIENCE}}

    def _opened(self, url: str, options: dict[str, Any]) -> Any:
        for left in reversed(range(_FIRST_TRIES)):
            try:
                return _rdb_storage(url, options)
            except Exception as error:  # one of storage_errors, or another where the tables are of another version
                if not left:
                    raise InputError(f"{self.address}: {self._reason(error)}") from None
                time.sleep(_PAUSE)
        raise AssertionError("the last try returns or raises")

    def _reason(self, error: BaseException) -> str:
        """Return what a database says, in one line without secrets."""
        while error.__cause__ is not None:
            error = error.__cause__
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return without_secrets(" ".join(lines[:2]), self._secret) or type(error).__name__


def storage_errors() -> tuple[type[Exception], ...]:
    """Return what a database that is away or refuses raises through optuna."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    return StorageInternalError, SQLAlchemyError


def _rdb_storage(url: str, options: dict[str, Any]) -> Any:
    from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # heartbeats are an experiment to optuna
        return RDBStorage(
            url,
            engine_kwargs=options,
            heartbeat_interval=BEAT,
            grace_period=SILENT,
            heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(max_retry=RETRIES),
        )
