"""Reads YAML into values that know where they stand."""

from codegen.yaml.loader import Document, ListValue, MapValue, Text, Value, load_document

__all__ = ["Document", "ListValue", "MapValue", "Text", "Value", "load_document"]
