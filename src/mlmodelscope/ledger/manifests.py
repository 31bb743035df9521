"""Manifests that people have put on a server; a version, once there, never changes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, delete, insert, select
from sqlalchemy.exc import IntegrityError

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import manifests
from mlmodelscope.record.database import Database


class Taken(UsageError):
    """The name and version are there with another content."""


class NameTaken(UsageError):
    """The name belongs to somebody else."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(
            f"the {kind} `{name}` belongs to another owner, or to the server itself",
            hint="give yours another name; an admin may add versions of any",
        )


class Manifests:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, kind: str, name: str, version: str, digest: str, owner: str, text: str) -> bool:
        """Keep it; False where the very same is there already."""
        values = {"kind": kind, "name": name, "version": version, "digest": digest, "owner": owner, "text": text}
        try:
            with self._database.writing() as connection:
                connection.execute(insert(manifests).values(created_at=now(), **values))
            return True
        except IntegrityError:
            if self.get(kind, name, version)["digest"] == digest:
                return False
            raise Taken(
                f"{kind} {name}@{version} is there already, and it is another one", hint="give it a new version"
            ) from None

    def owner_of(self, kind: str, name: str) -> str | None:
        """Who was the first to use a name; None where nobody does."""
        wanted = manifests.c.kind == kind, manifests.c.name == name
        query = select(manifests.c.owner).where(*wanted).order_by(manifests.c.created_at, manifests.c.owner).limit(1)
        with self._database.reading() as connection:
            found: str | None = connection.execute(query).scalar()
            return found

    def get(self, kind: str, name: str, version: str) -> RowMapping:
        query = select(manifests).where(
            manifests.c.kind == kind, manifests.c.name == name, manifests.c.version == version
        )
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise UsageError(f"there is no {kind} `{name}@{version}`")
        return row

    def list(self, kind: str | None = None, name: str | None = None) -> Sequence[RowMapping]:
        query = select(manifests).order_by(manifests.c.kind, manifests.c.name, manifests.c.created_at)
        if kind is not None:
            query = query.where(manifests.c.kind == kind)
        if name is not None:
            query = query.where(manifests.c.name == name)
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def delete(self, kind: str, name: str, version: str) -> None:
        query = delete(manifests).where(
            manifests.c.kind == kind, manifests.c.name == name, manifests.c.version == version
        )
        with self._database.writing() as connection:
            if not connection.execute(query).rowcount:
                raise UsageError(f"there is no {kind} `{name}@{version}`")
