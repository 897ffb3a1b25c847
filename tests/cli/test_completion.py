"""Completion: scripts for shells that know every verb, every option, and where files are meant."""

import shutil
import subprocess
import sys

import pytest

from flagstone.cli.verbs import VERBS


def script(run, shell):
    """Return the completion script of a shell."""
    done = run("--print-completion", shell)
    assert (done.code, done.err) == (0, "")
    return done.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_scripts_name_every_verb_and_option(run, shell):
    text = script(run, shell)
    for name, verb in VERBS.items():
        assert name in text
        for option in verb.options.values():
            for flag in option.names:
                assert flag.lstrip("-") in text, (name, flag)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cons"], {"constraints"}),
        (["constraints", "--contam"], {"--contamination"}),
        (["constraints", "--as", "py"], {"python"}),
        (["merge", "--for"], {"--force"}),
        (["constraints", "--report", "here"], {"here.csv"}),
        (["constraints", "her"], {"here.csv"}),
        (["--print-completion", "z"], {"zsh"}),
    ],
)
def test_bash_completes_verbs_options_values_and_files(run, place, words, expected):
    (place / "here.csv").write_text("")
    (place / "script").write_text(script(run, "bash"))
    line = ["flagstone", *words]
    ask = (
        f"source ./script; COMP_WORDS=({' '.join(line)}); COMP_CWORD={len(line) - 1}; "
        f"_shtab_flagstone flagstone {line[-1]} {line[-2]}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run([bash, "-c", ask], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected, done.stderr


def test_without_shtab_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['shtab'] = None\n"
        "from flagstone.cli import main; main(['--print-completion', 'bash'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'flagstone[completion]'" in done.stderr


def test_a_shell_that_is_not_known_is_a_usage_error(run):
    done = run("--print-completion", "cmd.exe")
    assert done.code == 2
    assert "--print-completion must be one of bash, zsh, tcsh, got 'cmd.exe'" in done.err
