"""What the functions of `api` return: records with figures and pages, saved and reopened."""
