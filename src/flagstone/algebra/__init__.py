"""Exact linear algebra over finite fields and QQ: fields, packed rows, subspaces, flags."""
