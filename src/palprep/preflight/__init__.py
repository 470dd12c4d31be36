"""The media loop: measure, judge, fix, and prove. No HTTP."""
