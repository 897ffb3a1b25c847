"""The verb reproduce: what it refuses, keeps, and says when it is stopped."""


def test_an_interrupted_experiment_says_what_is_kept_and_how_to_go_on(run, place, monkeypatch):
    from flagstone.paper.experiments import _runner as module

    honest, calls = module._compute, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return honest(*arguments)

    monkeypatch.setattr(module, "_compute", interrupted)
    stopped = run("reproduce", "gap", "--quick", "--no-resume", "-o", "r3")
    monkeypatch.undo()
    assert stopped.code == 130
    assert "r3 keeps the parts that are finished" in stopped.err
    assert "--no-resume" not in stopped.err
    assert (place / "r3" / ".gap.partial.jsonl").exists()


def test_results_of_another_configuration_are_refused_in_words_of_options(run):
    assert run("reproduce", "sample-size", "--quick", "-o", "r").code == 0
    refused = run("reproduce", "sample-size", "--quick", "-o", "r", "--seed", "5")
    assert refused.code == 1
    assert "give --force" in refused.err
    assert "overwrite" not in refused.err
    assert run("reproduce", "sample-size", "--jobs", "0").code == 2


def test_a_misspelt_experiment_is_proposed(run):
    refused = run("reproduce", "figure1")
    assert refused.code == 2
    assert "did you mean 'figure-1'" in refused.err
