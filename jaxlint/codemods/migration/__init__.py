"""Names and signatures that a library has removed become their replacements."""
