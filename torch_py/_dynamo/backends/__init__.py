"""Backends: functions that compile a graph."""
