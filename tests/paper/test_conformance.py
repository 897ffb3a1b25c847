"""scikit-learn's battery of checks, on the private learner."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from flagstone.paper import PrivateParityClassifier
from tests.estimators.test_conformance import expected_failures

# Secret randomness would excuse it from some checks.
SETTINGS = {"out_of_field": "reduce", "on_bottom": "majority", "random_state": 0}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [PrivateParityClassifier(**SETTINGS), PrivateParityClassifier(**SETTINGS, field=11)],
    expected_failed_checks=expected_failures,
)
def test_battery(estimator, check):
    check(estimator)
