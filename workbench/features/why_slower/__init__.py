"""Why a config is slower than another: a question to the rules of findings."""
