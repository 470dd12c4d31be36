"""The facts of one file, what follows from them, and how they are measured."""
