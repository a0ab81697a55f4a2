"""Names around tracing that libraries ask questions of."""
