"""Alembic's entry: migrate over the connection that the store hands in."""

from alembic import context

from mlmodelscope.record.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
