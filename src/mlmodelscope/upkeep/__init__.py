"""Looking after the database and the files beside it: check, backup, restore, retention."""
