"""What a function does besides giving a value, what it reads from outside and what it gives back: asked before it is staged."""
