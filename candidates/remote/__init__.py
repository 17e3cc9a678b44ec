"""Models behind HTTP: one transport with one set of rules, and an adapter per wire format."""
