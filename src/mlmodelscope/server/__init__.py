"""One place for many people: handlers that know no transport, and the transports that carry them."""
