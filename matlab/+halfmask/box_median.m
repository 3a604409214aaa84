function result = box_median(X, center, radius, varargin)
%BOX_MEDIAN  The median of each column of a matrix, all chosen privately at once.
%   r = halfmask.box_median(X, center, radius, 'epsilon', 1)
%
%   X is (n, d), a row a record. center and radius, numbers or one for each column, say where the
%   medians surely lie: they must be known without the data but may be wide. Values beyond are
%   clipped; a row with a NaN does not count.
%
%   r.value (1, d), near the exact medians: a point of a public grid, of probability proportional
%   to exp(epsilon depth / m), where depth is the least number of rows on one side of it along an
%   axis, and m is 1 for a row added or removed, 2 for one replaced. r.interval (d, 2), the public
%   bounds: no narrower ones are known without a price; r.rank_error, how many rows at most each
%   value lies beside its exact rank, with confidence r.confidence for all columns. Options: see
%   halfmask.count.
%
%   r.rank_error is smaller than by halfmask.coordinatewise_median from two columns on: the doubt,
%   1 - confidence, counts once for all columns, not in each.
%
%   Privacy: epsilon-DP in any dimension, the exponential mechanism over the grid: one row moves 2
%   depth - n by at most 1. [McSherry & Talwar 2007, Thm 6]
%
%   Example
%       r = halfmask.box_median(randn(500, 3), 0, 100, 'epsilon', 3);
%       disp(r.statement)
%
%   See also halfmask.coordinatewise_median, halfmask.median, halfmask.depth.tukey_depth
[request, grids] = halfmask.parts.matrix_asked(X, center, radius, varargin);
moved = 1 + strcmp(request.relation, 'replace');
rate = halfmask.parts.part_of(request.epsilon, 1, moved);
title = sprintf('Median of %d columns at once', numel(grids));
halfmask.parts.charge(request, title);

lower = [grids.lower];
upper = [grids.upper];
cells = halfmask.parts.box_cells( ...
    halfmask.parts.rows_on_grids(X, grids), lower, upper, rate, request.words);
% The medians have depth n/2 or more, and depth n/2 - r leaves each value within r of its rank.
scale = 1 / halfmask.exact.to_double(rate);
result = halfmask.parts.centre_released(request, title, cells, grids, ...
    sprintf('exponential mechanism on least ranks, scale %.6g rows', scale), ...
    ceil(scale * (sum(log(upper - lower + 1)) - log(1 - request.confidence))));
end
