"""Reports and comparisons as self-contained HTML pages."""
