"""Damaged files, odd names, signals and poor surroundings: ``make fuzz``, docs/reliability.md.

- :mod:`~scripts.fuzz.kinds`: the table of trial kinds, one class each.
- :mod:`~scripts.fuzz.command`: runs ``python -m flagstone`` under limits, and judges what it said.
- :mod:`~scripts.fuzz.stock`: good files of every format, and what undisturbed commands make.
- :mod:`~scripts.fuzz.page`: writes docs/reliability.md from a run.

The program is driven from the outside alone: its command line and its public functions. A case is
a function of a seed, a kind and a number, so that each can be repeated alone.
"""
