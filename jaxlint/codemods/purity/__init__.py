"""What a function does besides giving a value, what it reads from outside and what it returns: asked before it is staged."""
