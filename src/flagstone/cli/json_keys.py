"""What the keys of ``--json`` mean, for the help and for the reference of verbs."""

from __future__ import annotations

FINDING_KEYS = {
    "schema": "3, the version of these keys",
    "question": "kind (parity, span, constraints, equations or subspace), options, and what "
    "stands in a row",
    "fingerprint": "64 hex digits; equal answers have equal fingerprints",
    "field": "the field, e.g. GF(2)",
    "dim": "number of feature columns",
    "answer, is_bottom": "coefficients; true if the answer is ⊥ (exit code 3)",
    "is_empty": "true if no direction was kept: the answer says nothing about the rows "
    "(exit code 3)",
    "subspace": "dim and basis of the span behind the answer",
    "seed, seed_is_fresh": "the published seed, and whether it was drawn for this run",
    "rule": "name (index or heavy) and parameters: rho, eps, t_min, t_max, contamination, "
    "draw_rows",
    "window, threshold": "first and last threshold (t_min, t_max), and the one that the coins drew",
    "promises": "proven, certified and measured numbers; shards, sorted_rows, labels, conditions, "
    "withheld",
    "rows": "read, skipped, uncovered (outside the span), misfits (break the answer), places "
    "(the first of them: file, row, line), values (what stands there), levels (rows outside each "
    "level of the flag)",
    "levels": "the flag: [dimension, sets, first set], from the largest space down",
    "directions": "how often each direction was seen (count, kept, vector)",
    "columns, encoding": "names of the encoded feature columns, and how the table was encoded",
    "provenance": "command, sources, reading, and what else a verb keeps (frames: digest)",
    "text": "what is derived from all this, and not in files: support (whole, part, none: how far "
    "future rows fit), title, headline, caution, hint, alternatives, promises, next_step; the "
    "answer as answer (all equations), lines (what is new in it), unlisted (how many are not new), "
    "masks (GF(2); bit i, counted from the least significant one, is "
    "column i) and expression (Python)",
    "outputs": "files written",
}

FRAME_KEYS = {
    "capture": "format, frames, lengths ([bits, frames], the commonest first), notes (what was "
    "left out, cut or decoded); null for a saved finding, as are damaged and types",
    "pattern": "one character per bit: 0, 1, or ? where it varies among frames without damage",
    "digest": "a list: kind, name, columns, parameters, formula, rule, frames that verify it",
    "strength": "of all digests: bits (independent equations), constant_bits (what --strict adds), "
    "zeros_pass, ones_pass; null without a digest",
    "capture_next": "data bits whose part in the digest no frame shows: constant, and together "
    "(groups that always varied together); null without a digest",
    "relations": "equations by kind (pair, check, other): text, columns, value, rows_broken",
    "damaged": "frames (how many), and the first of them: file, row, line, frame, marks (bits that "
    "may be wrong)",
    "types": "message types: rows (how many), told_by",
}

GROUP_KEYS = {
    "groups": "with --by, which prints this and shared: for each value of the column, the value "
    "and all keys above",
    "shared": "with --by: the digests that all groups have, and the equations (lines, fingerprint; "
    "null where the groups have no length in common)",
}

EACH_KEYS = {
    "files": "with --each, which prints schema, seed, seed_is_fresh, common and this: for each "
    "file its name, its finding, and beyond (equations that it has beyond the common ones; null "
    "where it is not counted)",
    "common": "with --each, what all files share: fingerprint, lines, files (how many are "
    "counted), rho and confidence (two such sets of files differ in it with at most this "
    "probability; null: not known); null if fewer than two are",
}

FLAG_KEYS = {
    "summary": "flag",
    "field, dim": "the rows live in field^dim",
    "question": "what the rows are for, and what stands in one: (x), (x, 1), (x, y) or (x, 1, y)",
    "columns": "names of the encoded feature columns",
    "rows": "read, shards (separately built flags merged)",
    "rank, n_sets": "dimension of the first space, number of sets of the partition",
    "levels": "[dimension, sets, first set], from the largest space down",
    "directions": "how often each direction was seen",
    "outputs": "files written",
    "schema": "3, the version of these keys",
}

SHOW_KEYS = {f"{key} (findings)": text for key, text in FINDING_KEYS.items()} | {
    f"{key} (flags)": text for key, text in FLAG_KEYS.items()
}

CHECK_KEYS = {
    "schema": "3, the version of these keys",
    "fingerprint": "of the finding",
    "ok": "whether the share of rows that break it is within the tolerance",
    "rows": "read, skipped (frames of another length), misfits, places (the first of them: file, "
    "row, line), values (what stands there), uncovered (outside the span, where it is known), "
    "levels (null)",
    "share": "misfits / rows read",
    "tolerance": "the share that may break it",
    "equations": "for each equation, how many rows break it",
    "misfits": "tables: of each row in rows.places its file, row, line, cells by column, the "
    "equations that it breaks (breaks), and over QQ by how much (off_by); null for frames",
    "digests": "findings of frames: for each digest, how many frames break it; null otherwise",
    "unusual": "findings of frames: frames that break an equation, but no digest; null otherwise",
}

PREDICT_KEYS = {
    "schema": "3, the version of these keys",
    "fingerprint": "of the finding",
    "rows": "read: how many rows were predicted",
    "values": "how often each value was predicted",
    "output": "the file written, if any; otherwise predictions lists every value",
    "predictions": "the predicted values, when no file is written",
}

COMPARE_KEYS = {
    "same": "whether the two answers (or flags), and the digests of frames, are equal",
    "fingerprints": "of the first and of the second",
    "shared": "equations that follow from both answers: fingerprint (as of a finding of these), "
    "lines, and how many more the encoding of the columns implies (null: the answers cannot share "
    "any, see note; or these are flags)",
    "only_in_first, only_in_second": "equations that, with the shared ones, make up each answer; "
    "where nothing can be shared, lines of one answer that the other one lacks",
    "note": "why nothing can be shared; of two rules, where they give the same label (null: none)",
    "dims": "dimensions of the two spans, of their intersection and of their sum",
    "schema": "3, the version of these keys",
    "settings": "seed, columns, rows and window that differ: [name, first, second]",
    "first_difference": "flags: the first set whose spaces differ",
    "digests": "findings of frames: how their digests differ, and how often frames of one pass the "
    "check of the other, in words; null otherwise",
}

PILOT_KEYS = {
    "protocol": "with --pilot: question, encoding, seed, rule, t_min, t_max, max_rows, confidence, "
    "reading, partition, fingerprint",
    "plateau": "with --pilot: dimension, and the first and last threshold that give it there",
    "is_bottom": "with --pilot: whether no rule fits the pilot rows",
    "rows": "with --pilot: pilot rows read",
    "forecast": "with --pilot: [rows, rho], what this many such rows would certify (null: nothing)",
    "equations": "with --pilot: [rows, threshold], from which on this many such rows would certify "
    "the equations of the plateau (null: nowhere)",
    "outputs": "with --pilot: files written",
}

PLAN_KEYS = {
    "schema": "3, the version of these keys",
    "columns, verb, row": "what was planned for: columns, verb, and what stands in a row of its",
    "degree": "with --degree: up to this many columns are multiplied",
    "dim": "dimension of the rows the rule works on: the columns, and what the verb adds",
    "rho, eps, delta, field, contamination": "what was asked",
    "entries": "for each analysis: rows needed, length T and first threshold t_min of the window",
    "drawn": "with --seed: the window and the threshold that the seed will draw (index rule)",
    "generalization_rows": "rows that generalization alone needs (with --delta)",
}

AUDIT_KEYS = {
    "learner, data": "what was audited, on what",
    "strong_id": "SHA-256 of the audit, under which --results files the pairs; null without",
    "pairs, agreements, disagreements, both_bottom, one_bottom, both_empty, errors": (
        "counts of pairs; errors are disagreements, both_empty agreements that kept no direction"
    ),
    "error_types": "how often each error was seen, numbers in messages written as #",
    "measures": "by name (exact, pointwise, worst, approximate, score, …): estimate, low and high "
    "(the interval, valid at every number of pairs; null for scores), meaning",
    "confidence": "of the intervals and of the verdict",
    "inputs": "number of fixed inputs behind pointwise and worst",
    "tolerance": "predictions that differ by at most this much agree",
    "integrated": "true if exact is the mean over all thresholds of the window; the counts are "
    "about those that were drawn",
    "deterministic": "whether the same data and seed gave the same output twice; null if it failed",
    "indicative": "true for halves and bootstrap samples of one table, which are not fresh samples",
    "verdict": "on --claim: decision (rejected, supported, undecided), claim",
    "seconds": "time spent on the pairs",
    "tradeoff": "with --tradeoff, and then beside indicative alone: rule, t_min, t_max, kept "
    "(coverage or accuracy: quantity), replicability, both with _sem, m, pairs",
}

REPRODUCE_KEYS = {
    "name": "the experiment (without a name: experiments, the list of all)",
    "files": "figures and data written",
    "seconds": "how long it took",
}
