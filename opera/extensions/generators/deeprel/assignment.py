"""Optimal assignment: the Hungarian algorithm, with potentials."""

from __future__ import annotations

from collections.abc import Sequence


def assign(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs each row with at most one column, and each column with at most one row, so that the sum of the scores is greatest.

    Args:
        scores: One row per left item, with the score of each right item, none negative. Rows have equal lengths.

    Returns:
        (row, column) in the order of the rows; as many as the shorter side has items.
    """
    rows, columns = len(scores), len(scores[0]) if scores else 0
    if not rows or not columns:
        return []
    if rows > columns:
        turned = [[scores[row][column] for row in range(rows)] for column in range(columns)]
        return sorted((row, column) for column, row in assign(turned))
    highest = max(max(row) for row in scores)
    costs = [[highest - score for score in row] for row in scores]
    owner = _cheapest(costs, rows, columns)
    return sorted((owner[column] - 1, column - 1) for column in range(1, columns + 1) if owner[column])


def _cheapest(costs: list[list[float]], rows: int, columns: int) -> list[int]:
    """The row, counted from 1, of each column, counted from 1; 0 for none."""
    row_price = [0.0] * (rows + 1)
    column_price = [0.0] * (columns + 1)
    owner = [0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0] = row
        way = [0] * (columns + 1)
        least = [float("inf")] * (columns + 1)
        done = [False] * (columns + 1)
        column = 0
        while owner[column]:
            done[column] = True
            current, step, following = owner[column], float("inf"), 0
            for other in range(1, columns + 1):
                if done[other]:
                    continue
                reduced = costs[current - 1][other - 1] - row_price[current] - column_price[other]
                if reduced < least[other]:
                    least[other], way[other] = reduced, column
                if least[other] < step:
                    step, following = least[other], other
            for other in range(columns + 1):
                if done[other]:
                    row_price[owner[other]] += step
                    column_price[other] -= step
                else:
                    least[other] -= step
            column = following
        while column:
            owner[column], column = owner[way[column]], way[column]
    return owner
