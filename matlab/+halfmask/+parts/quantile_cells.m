function cells = quantile_cells(v, q, grid, rate, count, words)
%QUANTILE_CELLS  Draw cells t of a grid with P(t) proportional to exp(-rate d(t)), exactly.
%   v are values in cells, q is in millionths, rate a ratio. d(t) is the least of |F - q n| over a
%   cell and its end, F the rows before: so a value that many rows share is chosen whole, and all
%   cells between two values that occur have the same d and are drawn as one.
%
%   Privacy: one row moves every d by at most max(q, 1 - q), or by 1 if it is replaced, since F - q
%   n = (1 - q) L - q R for the L rows before and the R after; so this is of bounded range 2 rate
%   times that. [McSherry & Talwar 2007, Thm 6]
v = sort(v);
n = numel(v);
starts = [true(min(n, 1), 1); diff(v) > 0];
found = v(starts);
before = [find(starts) - 1; n];  % rows before each found cell, and before what follows the last
rank = 1e6 * before - q * n;
firsts = [grid.lower; found + 1];  % of the gaps before, between and after the found cells
gaps = [found; grid.upper + 1] - firsts;
nearest = max(max(rank(1:end - 1), -rank(2:end)), 0);
lengths = [gaps; ones(numel(found), 1)];
chosen = halfmask.noise.weighted(lengths, -[abs(rank); nearest], ...
    halfmask.parts.part_of(rate, 1, 1e6), count, words);
cells = [firsts; found];
cells = cells(chosen);
for j = unique(chosen(chosen <= numel(gaps)))'  % within a gap all cells are alike
    same = chosen == j;
    moved = halfmask.noise.below(uint64(gaps(j)), nnz(same), words);
    cells(same) = cells(same) + double(moved);
end
end
