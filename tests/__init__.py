"""Tests, a folder a kind of question."""
