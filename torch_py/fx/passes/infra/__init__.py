"""The order of passes, and the partition of graphs by what a backend supports."""
