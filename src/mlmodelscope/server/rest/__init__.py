"""The handlers over HTTP: routes, who is asking, and errors as problem documents."""
