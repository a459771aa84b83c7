"""Front ends: panels, command line, course, server."""
