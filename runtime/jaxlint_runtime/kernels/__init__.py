"""Kernels: patterns found in the staged program by their structure, and what may replace them.

A match is a proposal. Whether the replacement computes the same, values and gradients, is checked by running it.
"""
