"""Stand-ins for `torch` and `tensorrt`, which need a GPU or gigabytes: put this folder on a worker's path."""
