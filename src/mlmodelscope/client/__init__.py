"""A server from outside: for agents, for the library, for the command line."""
