"""From no process to a steady one."""
