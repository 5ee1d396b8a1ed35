"""scikit-learn: features of texts by their sketches, and clusters of near-duplicates.

A transformer keeps the number of rows, so it cannot remove any.  :class:`SketchVectorizer` turns
texts into features.  :class:`NearDuplicates` labels each row with its cluster, and
:func:`drop_near_duplicates` drops rows before the data reaches a pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from . import _native
from ._dedup import _check_nulls, dedup
from ._frames import Columns, read
from ._optional import needs
from ._recipe import Recipe
from ._sketch import Sketcher

try:
    import numpy
    from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
    from sklearn.utils import _safe_indexing, check_consistent_length
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise needs("neardup.sklearn", "scikit-learn", error) from None

__all__ = ["NearDuplicates", "SketchVectorizer", "drop_near_duplicates"]

_MINIMA = 128


class SketchVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into features by their sketches.

    Nothing is learnt, so texts that come later get the same features, in any process.

    Parameters
    ----------
    features : {"minima", "simhash", "onehot"}, optional
        ``"minima"``: 128 numbers for each text.  The share in which two texts agree estimates their
        resemblance, so scikit-learn's metric ``"hamming"`` is 1 minus the estimate.
        ``"simhash"``: 64 columns of 0 and 1, for the same metric.
        ``"onehot"``: a sparse matrix with one 1 for each of the minima, by its lowest `bits`, for
        linear models: the product of two rows, divided by 128, estimates the resemblance (b-bit
        minwise hashing, Li and König 2010).
    bits : int, optional
        How many bits of each of the minima ``"onehot"`` uses, 1 to 16 (default: 8).
    recipe : Recipe or str, optional
        Its section ``[sketch]`` says what a shingle is.
    text : str, optional
        The column with the text, of data that has columns.

    Examples
    --------
    >>> texts = ["one two three four", "One two, three four!", "five six seven eight"]
    >>> minima = SketchVectorizer().fit_transform(texts)
    >>> minima.shape, float((minima[0] == minima[1]).mean())
    ((3, 128), 1.0)
    """

    def __init__(
        self,
        features: Literal["minima", "simhash", "onehot"] = "minima",
        *,
        bits: int = 8,
        recipe: Recipe | str | None = None,
        text: str | None = "text",
    ) -> None:
        self.features = features
        self.bits = bits
        self.recipe = recipe
        self.text = text

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags

    def _check(self) -> None:
        if self.features not in ("minima", "simhash", "onehot"):
            raise _native.InvalidError(f"features: '{self.features}' is not minima, simhash or onehot")
        if not 1 <= self.bits <= 16:
            raise _native.InvalidError(f"bits: {self.bits} is not from 1 to 16")

    def fit(self, X: Any, y: object = None) -> SketchVectorizer:
        """Check the parameters; nothing is learnt."""
        self._check()
        return self

    def transform(self, X: Any) -> Any:
        """Sketch texts.

        Parameters
        ----------
        X : frame, iterable or path
            As for :func:`neardup.dedup`.

        Returns
        -------
        numpy.ndarray or scipy.sparse.csr_matrix
            A row of features for each text.

        Raises
        ------
        InvalidError
            A text is missing, or a parameter is wrong.
        """
        self._check()
        source = read(X, Columns(self.text))
        _check_nulls(source, "raise")
        table = Sketcher(self.recipe)._run(source)
        if self.features == "simhash":
            words = numpy.ascontiguousarray(numpy.asarray(table["simhash"]), dtype="<u8")
            return numpy.unpackbits(words.view(numpy.uint8).reshape(-1, 8), axis=1, bitorder="little")
        minima = numpy.array(table["minima"], dtype=numpy.uint32).reshape(-1, _MINIMA)
        return minima if self.features == "minima" else self._one_hot(minima)

    def _one_hot(self, minima: Any) -> Any:
        from scipy.sparse import csr_matrix

        rows = len(minima)
        first = numpy.arange(_MINIMA, dtype=numpy.int32) << self.bits
        columns = (minima & ((1 << self.bits) - 1)).astype(numpy.int32) + first
        ones = numpy.ones(rows * _MINIMA)
        starts = numpy.arange(rows + 1, dtype=numpy.int32 if rows < 2**24 else numpy.int64) * _MINIMA
        return csr_matrix((ones, columns.ravel(), starts), shape=(rows, _MINIMA << self.bits))

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """The names of the columns."""
        if self.features == "onehot":
            names = [f"minimum{i}_{value}" for i in range(_MINIMA) for value in range(1 << self.bits)]
        elif self.features == "simhash":
            names = [f"simhash{i}" for i in range(64)]
        else:
            names = [f"minimum{i}" for i in range(_MINIMA)]
        return numpy.asarray(names, dtype=object)


class NearDuplicates(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Label near-duplicate documents, by the decisions of :func:`neardup.dedup`.

    Rows with the same label are one document and its near-duplicates.  A row that is like no other
    has a label of its own.  The labels serve as `groups` of ``GroupKFold``, so that no document is
    tested by a model that was trained on its copy; choose ``cluster="components"`` for this.

    Parameters
    ----------
    threshold, shingle, method, keep, short, cluster, recipe, threads, text
        As for :func:`neardup.dedup`.

    Attributes
    ----------
    labels_ : ndarray of int
        The cluster of each row, numbered by their first rows.
    kept_ : ndarray of bool
        Whether the row is kept.
    duplicate_of_ : ndarray of int
        The row that stands for each; its own number, if it is kept.
    resemblance_ : ndarray of float
        To the row that stands for it; NaN where the two were not compared.
    n_clusters_ : int
        How many labels there are.

    Examples
    --------
    >>> texts = ["one two three four", "five six seven eight", "One two, three four!"]
    >>> NearDuplicates(threshold=0.7).fit_predict(texts).tolist()
    [0, 1, 0]
    """

    def __init__(
        self,
        threshold: Any = None,
        *,
        shingle: int | str | None = None,
        method: str | None = None,
        keep: str | None = None,
        short: str | None = None,
        cluster: str | None = None,
        recipe: Recipe | str | None = None,
        threads: int = 0,
        text: str | None = "text",
    ) -> None:
        self.threshold = threshold
        self.shingle = shingle
        self.method = method
        self.keep = keep
        self.short = short
        self.cluster = cluster
        self.recipe = recipe
        self.threads = threads
        self.text = text

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: Any, y: object = None) -> NearDuplicates:
        """Find the near-duplicates.

        Parameters
        ----------
        X : frame, iterable or path
            As for :func:`neardup.dedup`.
        y : object, optional
            Ignored.
        """
        result = dedup(X, nulls="raise", **self.get_params())
        rows = len(result.kept)
        self.kept_ = numpy.array(result.kept, dtype=bool)
        self.duplicate_of_ = numpy.arange(rows)
        self.resemblance_ = numpy.full(rows, numpy.nan)
        removed = numpy.asarray(result.removed["row"]).astype(int)
        stands_for = [row if kept is None else kept for row, kept in zip(removed, result.removed["kept_row"])]
        self.duplicate_of_[removed] = stands_for
        self.resemblance_[removed] = [numpy.nan if r is None else r for r in result.removed["jaccard"]]
        _, first, inverse = numpy.unique(self.duplicate_of_, return_index=True, return_inverse=True)
        order = numpy.argsort(numpy.argsort(first))
        self.labels_ = order[inverse]
        self.n_clusters_ = len(first)
        return self

    def fit_resample(self, X: Any, y: Any = None) -> Any:
        """Drop the near-duplicates, as a sampler of imbalanced-learn does.

        Returns
        -------
        tuple
            The rows of `X`, and of `y`, that are kept.
        """
        self.fit(X)
        kept = self.kept_.nonzero()[0]
        return _safe_indexing(X, kept), None if y is None else _safe_indexing(y, kept)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def get_support(self, indices: bool = False) -> Any:
        """Which rows are kept, as a mask or as their numbers."""
        check_is_fitted(self)
        return self.kept_.nonzero()[0] if indices else self.kept_


def drop_near_duplicates(X: Any, *arrays: Sequence[Any], **parameters: Any) -> Any:
    """Drop the rows of near-duplicates from texts, and the same rows from other arrays.

    Parameters
    ----------
    X : list, array or frame
        The texts.
    *arrays : list, array or frame
        Others with as many rows, such as targets and weights.
    **parameters
        As for :class:`NearDuplicates`.

    Returns
    -------
    object or list
        What is left of `X`; with `arrays`, a list of what is left of each.

    Examples
    --------
    >>> texts = ["one two three four", "five six seven eight", "One two, three four!"]
    >>> drop_near_duplicates(texts, [1, 2, 3])
    [['one two three four', 'five six seven eight'], [1, 2]]
    """
    check_consistent_length(X, *arrays)
    kept = NearDuplicates(**parameters).fit(X).get_support(indices=True)
    left = [_safe_indexing(array, kept) for array in (X, *arrays)]
    return left if arrays else left[0]
