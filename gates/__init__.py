"""What we conclude: thresholds fitted on calibration and what they do on holdout."""
