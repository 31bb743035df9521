"""Which forms of a function's return value are outputs by role, by task; what none of them takes is kept as it is."""

from . import columns, roles, rows
from .numbered import NumberedReader


def readers_of(task):
    """Readers for what the functions of a task may return; the first that takes it reads it."""
    found = []
    if task.task in columns.ROLES:
        found.append(columns.ColumnReader(task))
    if task.task == "instance_segmentation":
        found.append(NumberedReader(task))
    if task.task in rows.ROLES:
        found.append(rows.RowReader(task))
    if task.task in roles.ROLES:
        found.append(roles.RoleReader(task))
    return found
