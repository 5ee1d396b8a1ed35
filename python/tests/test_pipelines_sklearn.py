"""scikit-learn: its own checks, and the same clusters as neardup.dedup."""

from __future__ import annotations

import pickle

import pytest

import neardup

numpy = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from neardup.sklearn import NearDuplicates, SketchVectorizer, drop_near_duplicates

# check_estimator stops early at estimators that take texts, as at CountVectorizer; these are its
# checks that need no data.
CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.filterwarnings("ignore:Can't test estimator")
@pytest.mark.parametrize("estimator", [SketchVectorizer(), SketchVectorizer("onehot"), NearDuplicates()])
@pytest.mark.parametrize("check", ["check_estimator", *CHECKS])
def test_scikit_learn_accepts(estimator, check):
    if not hasattr(estimator_checks, check):
        pytest.skip(f"this scikit-learn has no {check}")
    if check == "check_estimator":
        estimator_checks.check_estimator(estimator)
    else:
        getattr(estimator_checks, check)(type(estimator).__name__, estimator)


@pytest.fixture(scope="module")
def texts(records):
    return [record["text"] for record in records]


@pytest.mark.parametrize(
    "arguments", [{}, {"threshold": 0.5}, {"keep": "longest"}, {"cluster": "components"}, {"recipe": "manku-2007"}]
)
def test_clusters_are_those_of_dedup(texts, arguments):
    result = neardup.dedup(texts, **arguments)
    found = NearDuplicates(**arguments).fit(texts)
    assert found.kept_.tolist() == list(result.kept)
    clusters = {}
    for row, label in enumerate(found.labels_.tolist()):
        clusters.setdefault(label, []).append(row)
    assert list(clusters) == list(range(found.n_clusters_))
    assert {frozenset(rows) for rows in clusters.values() if len(rows) > 1} == set(map(frozenset, result.clusters))
    removed = [row["row"] for row in result.removed]
    assert found.duplicate_of_[removed].tolist() == result.removed["kept_row"][:]
    compared = [(row["row"], row["jaccard"]) for row in result.removed if row["jaccard"] is not None]
    assert [(row, found.resemblance_[row]) for row, _ in compared] == compared


def test_rows_are_dropped_from_all_arrays(texts):
    pandas = pytest.importorskip("pandas")
    kept = list(neardup.dedup(texts).kept)
    expected = [text for text, is_kept in zip(texts, kept) if is_kept]
    y = numpy.arange(len(texts))
    assert drop_near_duplicates(texts) == expected
    left, numbers = drop_near_duplicates(numpy.array(texts, dtype=object), y)
    assert left.tolist() == expected and numbers.tolist() == y[kept].tolist()
    frame = pandas.DataFrame({"body": texts})
    left, series = drop_near_duplicates(frame, pandas.Series(y), text="body")
    assert left["body"].tolist() == expected and series.tolist() == numbers.tolist()
    left, numbers = NearDuplicates().fit_resample(texts, y)
    assert left == expected and numbers.tolist() == y[kept].tolist()
    assert NearDuplicates().fit_resample(texts) == (expected, None)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        drop_near_duplicates(texts, y[1:])


def test_a_sampler_of_imbalanced_learn(texts):
    pipeline = pytest.importorskip("imblearn.pipeline")
    y = numpy.arange(len(texts)) % 2
    steps = (NearDuplicates(), SketchVectorizer("onehot", bits=2), LogisticRegression(solver="liblinear"))
    model = pipeline.make_pipeline(*steps).fit(texts, y)
    assert model.predict(texts).shape == (len(texts),)


def test_minima_estimate_resemblance(texts):
    found = NearDuplicates(threshold=0.5).fit(texts)
    rows = numpy.flatnonzero(found.resemblance_ == found.resemblance_)
    others = found.duplicate_of_[rows]
    minima = SketchVectorizer().fit_transform(texts)
    assert minima.dtype == numpy.uint32
    share = (minima[rows] == minima[others]).mean(axis=1)
    assert len(rows) > 100 and numpy.abs(share - found.resemblance_[rows]).max() < 0.2
    one_hot = SketchVectorizer("onehot").fit_transform(texts)
    product = numpy.asarray(one_hot[rows].multiply(one_hot[others]).sum(axis=1)).ravel() / 128
    assert (product >= share).all() and (product - share).mean() < 0.01
    near = NearestNeighbors(n_neighbors=2, metric="hamming").fit(minima)
    distance, _ = near.kneighbors(minima[rows])
    assert (distance[:, 1] <= 1 - share + 1e-9).all()


def test_bits_are_those_of_the_sketches(texts):
    bits = SketchVectorizer("simhash").transform(texts)
    simhash = neardup.Sketcher()(texts)["simhash"]
    assert bits.shape == (len(texts), 64)
    assert [sum(int(bit) << i for i, bit in enumerate(row)) for row in bits[:50]] == simhash[:50]
    other = neardup.Recipe(shingle=2)
    assert (SketchVectorizer(recipe=other).transform(texts)[7] == neardup.Sketcher(other)(texts)["minima"][7]).all()


@pytest.mark.parametrize("features", ["minima", "simhash", "onehot"])
def test_features_have_names(texts, features):
    vectorizer = SketchVectorizer(features, bits=3)
    X = vectorizer.fit_transform(texts[:9])
    names = vectorizer.get_feature_names_out()
    assert X.shape == (9, len(names)) and len(set(names)) == len(names)
    assert vectorizer.transform([]).shape == (0, len(names))
    if features != "onehot":
        pytest.importorskip("pandas")
        frame = vectorizer.set_output(transform="pandas").fit_transform(texts[:9])
        assert list(frame.columns) == list(names)


def test_estimators_are_copied_and_pickled(texts):
    recipe = neardup.Recipe(threshold=0.5)
    for estimator in (NearDuplicates(recipe=recipe), SketchVectorizer(recipe=recipe)):
        assert clone(estimator).recipe == recipe
        assert pickle.loads(pickle.dumps(estimator.fit(texts))).recipe == recipe


def test_groups_keep_copies_together(texts):
    texts = texts[:600]
    y = numpy.arange(len(texts)) % 2
    groups = NearDuplicates(cluster="components").fit_predict(texts)
    for train, test in GroupKFold(3).split(texts, y, groups):
        assert not set(groups[train]) & set(groups[test])
    model = make_pipeline(SketchVectorizer("onehot", bits=2), LogisticRegression(solver="liblinear"))
    assert len(cross_val_score(model, texts, y, groups=groups, cv=GroupKFold(3))) == 3


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="features: 'words'"):
        SketchVectorizer("words").fit(["a"])
    with pytest.raises(ValueError, match="bits: 17"):
        SketchVectorizer(bits=17).fit(["a"])
    with pytest.raises(ValueError, match="row 1: the text is null"):
        SketchVectorizer().transform(["a", None])
    with pytest.raises(ValueError, match="row 1: the text is null"):
        NearDuplicates().fit(["a", None])
    with pytest.raises(ValueError, match="threshold"):
        NearDuplicates(2).fit(["a"])
    with pytest.raises(TypeError, match="row 0: token 0 is a float, not a str or an int"):
        SketchVectorizer().transform(numpy.zeros((2, 2)))
    with pytest.raises(ValueError, match="not fitted"):
        NearDuplicates().get_support()
