"""The tables of reports and comparisons, shared by the terminal and Markdown."""
