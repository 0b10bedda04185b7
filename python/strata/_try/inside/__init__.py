"""What runs in the process of the program. Imports neither torch nor anything else the program may
not have; nothing here may make the program fail."""
