"""Judgement of comparisons: intervals, verdicts, output agreement, doubts."""
