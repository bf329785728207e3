"""What `jaxlint verify` says: the document that JSON prints, and the tables that people read."""
