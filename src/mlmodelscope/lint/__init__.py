"""What can be said about a manifest without running anything: problems, and what experience says is a mistake."""
