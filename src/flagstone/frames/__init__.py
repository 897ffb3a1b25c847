"""Frames: bit strings as radios and buses send them, and the checks that they carry.

- :mod:`flagstone.frames.captures`: the frames of files, and the types among them;
- :mod:`flagstone.frames.digests`: the checks, by name, and code for them;
- :mod:`flagstone.frames.study`: both together, for frames of one length;
- :mod:`flagstone.frames.fields`: the field that tells frames apart, or changes a constant.
"""
