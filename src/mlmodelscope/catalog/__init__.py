"""Models and claims that others have written down: read, indexed, found and made into manifests."""
