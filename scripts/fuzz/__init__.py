"""Hostile files, names and signals, by the thousand: ``make fuzz``, see docs/reliability.md.

- :mod:`~scripts.fuzz.trial`: some files, some commands, and what must never come of them.
- :mod:`~scripts.fuzz.samples`: good files of every format, and the commands that read them.
- :mod:`~scripts.fuzz.damage`: good files made bad, their checksums mended or not.
- :mod:`~scripts.fuzz.names`: hostile names and seeds.
- :mod:`~scripts.fuzz.valid`: random good tables, which must be answered.
- :mod:`~scripts.fuzz.stops`: kills and signals at random moments.
- :mod:`~scripts.fuzz.worker`: the process in which cases run, under limits.

Every case is a function of a seed and a number, so that any one can be repeated alone.
"""
