"""A better config within limits: the fixes that findings propose, then the search around what they gave."""
