"""One file for each form in which others write down models."""
