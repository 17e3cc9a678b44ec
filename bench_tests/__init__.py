"""The pytest room: the plugin, and the tests that ask the questions."""
