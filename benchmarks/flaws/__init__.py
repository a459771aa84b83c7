"""Sound models, and flaws planted into them: what `benchmarks.findings` asks the rules to find."""
