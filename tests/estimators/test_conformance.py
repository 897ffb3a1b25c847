"""scikit-learn's own battery, on every estimator there is.

Its checks pass arbitrary numbers, which our learners refuse: entries must be elements of the field.
So the battery is run on subclasses that map numbers into the field, with nothing excused; and with
default parameters, where what fails must fail because of such a number, or of an answer ⊥.
"""

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from unittest import SkipTest

import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.fixes import parse_version

import flagstone
from flagstone import estimators
from flagstone.errors import BottomError
from flagstone.estimators.input_rows import table_rows
from flagstone.estimators.labels import label_vector


def expected_failures(estimator):
    """Nothing is excused, but for two bugs of the oldest release in checks of its own."""
    if parse_version(sklearn.__version__) >= parse_version("1.7"):
        return {}
    excused = {"check_positive_only_tag_during_fit": "subtracts a float in place from integers"}
    if is_classifier(estimator) and not get_tags(estimator).classifier_tags.multi_class:
        reason = "gives the two estimators it compares different labels"
        excused["check_sample_weight_equivalence_on_dense_data"] = reason
        excused["check_sample_weight_equivalence_on_sparse_data"] = reason
    return excused


#: The fewest checks that must have been run for the result to mean anything.
FEWEST_CHECKS = {"classifier": 52, "other": 45}


def discovered():
    """Find every estimator class in the public modules of the package."""
    found = {}
    for module in pkgutil.iter_modules(estimators.__path__):
        if module.name.startswith("_"):
            continue
        home = importlib.import_module(f"flagstone.estimators.{module.name}")
        for name, cls in inspect.getmembers(home, inspect.isclass):
            # A base class leaves it to those that can be used to explain their parameters.
            usable = issubclass(cls, BaseEstimator) and "Parameters\n" in (cls.__doc__ or "")
            if usable and cls.__module__ == home.__name__:
                found[name] = cls
    return found


class Reducing:
    """Maps numbers into the field: floor, then modulo q."""

    def _rows(self, X, *, reset=False):
        return table_rows(self, X, self._field, reset=reset, reduce=True)


def reducing(cls):
    """Return the class with numbers mapped into the field, where it can be pickled."""
    if cls is estimators.FieldEncoder:
        return cls
    more = {"__module__": __name__, "__init__": cls.__init__}
    if cls is estimators.LinearEquations:
        more["_labels"] = lambda self, y, n: self._field.elements(
            label_vector(y, n, type(self).__name__), reduce=True
        )
    globals()[cls.__name__] = made = type(cls.__name__, (Reducing, cls), more)
    return made


def instances():
    """Return each estimator as the battery needs it: total on numbers, never ⊥ at predict."""
    made = []
    for cls in map(reducing, discovered().values()):
        known = cls().get_params()
        settings = {"on_bottom": "majority"} if "on_bottom" in known else {}
        settings |= {"out_of_field": "reduce"} if "out_of_field" in known else {}
        made.append(cls(**settings))
        if is_classifier(made[-1]):  # with room for the many classes of some checks
            made.append(cls(**settings, field=11))
    return made


def test_discovery_finds_exactly_the_public_estimators():
    public = {
        name for name in estimators.__all__ if issubclass(getattr(estimators, name), BaseEstimator)
    }
    assert set(discovered()) == public
    assert public - {"EliminationClassifier"} <= set(flagstone.__all__)  # a baseline
    assert len(public) == 7


@pytest.mark.parametrize("estimator", instances(), ids=repr)
def test_the_battery_is_not_empty(estimator):
    checks = list(estimator_checks_generator(clone(estimator)))
    kind = "classifier" if is_classifier(estimator) else "other"
    assert len(checks) >= FEWEST_CHECKS[kind]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(instances(), expected_failed_checks=expected_failures)
def test_battery(estimator, check):
    check(estimator)


def reasons(error):
    """Yield an exception and what it was raised from, or after."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def refused(error):
    """Say whether a check failed because of a number outside of the field, or of ⊥."""
    words = ("which is not in GF(2)", "which is not a whole number")
    return any(
        isinstance(e, BottomError) or any(word in str(e) for word in words) for e in reasons(error)
    )


#: With default parameters and scikit-learn 1.9: how many checks fail, as docs/api/learners.md says.
FAIL_BY_DEFAULT = {
    "AffineSpan": 27,
    "EliminationClassifier": 39,
    "FieldEncoder": 0,
    "LinearEquations": 31,
    "LinearSpan": 27,
    "ParityClassifier": 39,
    "SubspaceClassifier": 34,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FAIL_BY_DEFAULT)
def test_default_parameters_fail_for_one_reason_only(name):
    failed, page = 0, (Path(__file__).parents[2] / "docs/api/learners.md").read_text()
    for estimator, check in estimator_checks_generator(getattr(estimators, name)()):
        try:
            check(estimator)
        except SkipTest:
            pass
        except Exception as error:
            if name != "FieldEncoder" and refused(error):
                failed += 1
            elif getattr(check, "func", check).__name__ not in expected_failures(estimator):
                raise
    if parse_version(sklearn.__version__).release[:2] == (1, 9):
        assert failed == FAIL_BY_DEFAULT[name]
        assert name == "EliminationClassifier" or f"| `{name}` | {failed} |" in page


def test_span_estimators_are_no_outlier_detectors():
    from sklearn.base import is_outlier_detector

    for cls in discovered().values():
        assert not is_outlier_detector(cls())


def test_the_array_api_check_that_needs_a_setting_of_its_own():
    """One check of the battery is skipped unless SciPy was imported with its array API on."""
    script = """
import warnings
from tests.estimators.test_conformance import instances
from sklearn.utils.estimator_checks import estimator_checks_generator
warnings.simplefilter("ignore")
ran = 0
for estimator in instances():
    for instance, check in estimator_checks_generator(estimator):
        if getattr(check, "func", check).__name__ == "check_array_api_input":
            check(instance)
            ran += 1
print(ran)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    newest = parse_version(sklearn.__version__) >= parse_version("1.9")
    assert int(done.stdout) == (len(instances()) if newest else 0)
