"""What a run has done, entry by entry, so that nothing is created twice.

results, entries        the values; one class for each kind of entry
version_1               what older entries mean
file, store             one SQLite file, or memory, with typed entries in and out
content                 long bodies of entries, compressed and kept once
projection              what the entries add up to, in tables beside them
creations               the states of a creation, as one table
at_most_once, resolve   creating, and deciding what is in doubt
inbox                   callbacks into a journal
outcomes                how the work for a person stands today
run_view                the journal read back, person by person
"""
