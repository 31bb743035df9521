"""What was asked for and who does it: requests, evaluations, agents, events, tokens; rows beside the records."""
