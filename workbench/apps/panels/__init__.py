"""The workbench in a notebook: widgets wired to the public API, which compute nothing themselves."""
