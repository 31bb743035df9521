"""One of everything that a package can add to MLModelScope, each in a file of its own."""
