"""Reads YAML into values that know their place in the file."""

from codegen.yaml.loader import Document, ListValue, MapValue, Text, Value, kind_of, load_document, load_part

__all__ = ["Document", "ListValue", "MapValue", "Text", "Value", "kind_of", "load_document", "load_part"]
