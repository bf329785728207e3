"""Kernels: patterns found in the traced program by their structure, and their possible replacements.

A match is a proposal. Running the replacement shows whether its values and gradients are the same.
"""
