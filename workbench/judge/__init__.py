"""Is it better: intervals, verdicts, output agreement, doubts."""
