"""Records that go from one server, or one person, to another: signed, checked, kept once."""
