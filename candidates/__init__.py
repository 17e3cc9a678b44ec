"""Who is asked: the adapter protocol, the shipped candidates, and how a name becomes a candidate."""
