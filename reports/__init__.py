"""What was measured: records, journals, metrics and reports."""
