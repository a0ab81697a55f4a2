"""Absent modules that need code of their own. The finder loads each file under its public name, as table.py
says; nothing imports them from here."""
