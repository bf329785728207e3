"""The refusal of a rewrite."""


class Refused(Exception):
    """A codemod refuses the rewrite; the message is the reason, for the user."""
