"""Reports side by side: what may be compared, how it is paired, and what the data support."""
