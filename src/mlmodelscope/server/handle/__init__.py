"""What a server does, whatever carries the question: each function takes the desk, the person, and the question."""
