"""From no process to a steady one: the time and the memory of each step."""
