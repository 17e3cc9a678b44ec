"""p-values of "the risk at this threshold is above alpha", one file per method."""
