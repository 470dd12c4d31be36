"""The media loop: measure, judge, fix, and prove. No HTTP."""

INSIDE = "palprep.preflight.check_and_prepare"
"""The module that worker processes load first, and with it all decoders."""
