"""The store as points in the plane: neighbours in meaning lie near each other. Pure and deterministic:
the same vectors in the same order give the same picture.

Some rows, the landmarks, are laid out as UMAP does it (McInnes et al. 2018): they start at their two
principal components, then near neighbours pull and random others push. All other rows go where their
nearest landmarks are. So the cost is that of LANDMARKS rows and one product, however many rows there are.
"""

from __future__ import annotations

import numpy as np

LANDMARKS = 1200
NEIGHBOURS = 10
EPOCHS = 160
#: Others that push each landmark in an epoch.
PUSHES = 4
#: How much nearer landmarks count for a row between them.
SHARPNESS = 24.0


def layout(matrix: np.ndarray) -> np.ndarray:
    """float32 [n, 2], each from 0 to 1, for unit vectors float32 [n, dim]."""
    n = len(matrix)
    if n < 3:
        return np.column_stack([np.linspace(0.25, 0.75, n), np.full(n, 0.5)]).astype(np.float32)
    chosen = np.unique(np.linspace(0, n - 1, min(n, LANDMARKS)).astype(np.int64))
    marks = matrix[chosen]
    points = _settle(_principal(marks), marks @ marks.T)
    placed = points if len(chosen) == n else _between(matrix, marks, points)
    return _fit(placed)


def _principal(rows: np.ndarray) -> np.ndarray:
    """The first two principal components, each turned so that its largest weight is positive."""
    centred = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, :-3:-1]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    points = centred @ axes
    return 10.0 * points / (np.abs(points).max() + 1e-9)


def _settle(points: np.ndarray, likeness: np.ndarray) -> np.ndarray:
    """Neighbours pull, random others push, ever more gently."""
    n = len(points)
    k = min(NEIGHBOURS, n - 1)
    np.fill_diagonal(likeness, -2.0)
    near = np.argsort(-likeness, axis=1, kind="stable")[:, :k].ravel()
    owner, pushed = np.repeat(np.arange(n), k), np.repeat(np.arange(n), PUSHES)
    random = np.random.default_rng(0)
    points = points.astype(np.float64)
    for epoch in range(EPOCHS):
        rate = 0.5 * (1.0 - epoch / EPOCHS)
        gap = points[owner] - points[near]
        pull = np.clip(gap * (-2.0 / (1.0 + (gap**2).sum(axis=1, keepdims=True))), -4.0, 4.0)
        others = random.integers(0, n, len(pushed))
        apart = points[pushed] - points[others]
        distance = (apart**2).sum(axis=1, keepdims=True)
        push = np.clip(apart * (2.0 / ((0.01 + distance) * (1.0 + distance))), -4.0, 4.0)
        points += rate * (_summed(owner, pull, n) - _summed(near, pull, n)) / k + rate * _summed(pushed, push, n)
    return points


def _summed(groups: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    return np.column_stack([np.bincount(groups, values[:, axis], n) for axis in (0, 1)])


def _between(matrix: np.ndarray, marks: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Each row at the weighted mean of its nearest landmarks, moved a little so that none hides another."""
    placed = np.empty((len(matrix), 2))
    for start in range(0, len(matrix), 4096):
        likeness = matrix[start : start + 4096] @ marks.T
        near = np.argpartition(-likeness, 3, axis=1)[:, :4]
        weights = np.exp(SHARPNESS * (np.take_along_axis(likeness, near, axis=1) - likeness.max(axis=1, keepdims=True)))
        placed[start : start + 4096] = (points[near] * (weights / weights.sum(axis=1, keepdims=True))[:, :, None]).sum(axis=1)
    angle = np.arange(len(matrix)) * 2.399963
    reach = 0.012 * np.ptp(points, axis=0).max() * np.sqrt((np.arange(len(matrix)) % 97) / 97)
    return placed + np.column_stack([np.cos(angle), np.sin(angle)]) * reach[:, None]


def _fit(points: np.ndarray) -> np.ndarray:
    """To the unit square; the few that lie far out come to its edge instead of shrinking all others."""
    low, high = np.percentile(points, 0.5, axis=0), np.percentile(points, 99.5, axis=0)
    return np.clip((points - low) / np.maximum(high - low, 1e-9), 0.0, 1.0).astype(np.float32)
