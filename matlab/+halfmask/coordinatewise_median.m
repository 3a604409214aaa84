function result = coordinatewise_median(X, center, radius, varargin)
%COORDINATEWISE_MEDIAN  The median of each column of a matrix, chosen privately.
%   r = halfmask.coordinatewise_median(X, center, radius, 'epsilon', 1)
%
%   X is (n, d), a row a record. center and radius, numbers or one for each column, say where the
%   medians surely lie: they must be known without the data but may be wide. Values beyond are
%   clipped; a row with a NaN does not count.
%
%   r.value (1, d); r.interval (d, 2), the public bounds: no narrower ones are known without a
%   price; r.rank_error, how many rows at most each value lies beside its exact rank, with
%   confidence r.confidence for all columns. Options: see halfmask.count.
%
%   Privacy: epsilon-DP, each column at epsilon/d. [McSherry & Talwar 2007, Thm 6; Dwork, McSherry,
%   Nissim & Smith 2006, Thm 3]
%
%   Example
%       r = halfmask.coordinatewise_median(randn(500, 3), 0, 100, 'epsilon', 3);
%       disp(r.statement)
%
%   See also halfmask.box_median, halfmask.median, halfmask.depth.spatial_depth
[request, grids] = halfmask.parts.matrix_asked(X, center, radius, varargin);
d = numel(grids);
worst = 1 + strcmp(request.relation, 'replace');  % halves of a row
rate = halfmask.parts.part_of(request.epsilon, 1, worst * d);
title = sprintf('Median of each of %d columns', d);
halfmask.parts.charge(request, title);

v = halfmask.parts.rows_on_grids(X, grids);
cells = zeros(1, d);
for j = 1:d
    cells(j) = halfmask.parts.quantile_cells(v(:, j), 5e5, grids(j), rate, 1, request.words);
end
scale = 1 / halfmask.exact.to_double(rate);
most = max([grids.upper] - [grids.lower]) + 1;
result = halfmask.parts.centre_released(request, title, cells, grids, ...
    sprintf('exponential mechanism on ranks, scale %.6g rows', scale), ...
    ceil(scale * log(most * d / (1 - request.confidence))));
end
