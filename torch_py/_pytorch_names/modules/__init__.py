"""Absent modules with code of their own.

The finder loads each file under the public name that table.py gives; nothing imports them from here.
"""
