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
%   See also halfmask.median, halfmask.depth.spatial_depth
if ~(isnumeric(X) && isreal(X) && ndims(X) == 2 && size(X, 2) > 0)
    error('halfmask:data', 'data: a %s given; give a matrix with a column a coordinate', class(X));
end
d = size(X, 2);
request = halfmask.parts.asked([{zeros(0, 1)}, varargin], 0);
grids = laid(center, radius, d);
worst = 1 + strcmp(request.relation, 'replace');  % halves of a row
rate = halfmask.parts.part_of(request.epsilon, 1, worst * d);
title = sprintf('Median of each of %d columns', d);
halfmask.parts.charge(request, title);

X = X(~any(isnan(X), 2), :);
value = zeros(1, d);
for j = 1:d
    v = halfmask.parts.on_grid(X(:, j), grids(j));
    value(j) = grids(j).step ...
        * halfmask.parts.quantile_cells(v, 5e5, grids(j), rate, 1, request.words);
end
step = [grids.step]';
bounds = [[grids.lower]' .* step, [grids.upper]' .* step];
scale = 1 / halfmask.exact.to_double(rate);
result = halfmask.parts.released(request, title, value, bounds, ...
    sprintf('exponential mechanism on ranks, scale %.6g rows', scale));
cells = max([grids.upper] - [grids.lower]) + 1;
result.rank_error = ceil(scale * log(cells * d / (1 - request.confidence)));
widths = bounds(:, 2) - bounds(:, 1);
told = arrayfun(@(j) halfmask.parts.written(value(j), widths(j) / 1000), 1:d, ...
    'UniformOutput', false);
result.statement = sprintf('%s: %s, to %d rows (%g %%). %s', title, strjoin(told, ', '), ...
    result.rank_error, 100 * request.confidence, halfmask.parts.promise(request));
end

function grids = laid(center, radius, d)
% A public grid for each column.
numbers = {center, radius};
for given = numbers
    if ~(isnumeric(given{1}) && isreal(given{1}) && any(numel(given{1}) == [1, d]) ...
            && all(isfinite(given{1}(:))))
        error('halfmask:bounds', ['bounds: center and radius must be finite numbers, one or %d ' ...
            'of each, known without the data'], d);
    end
end
if any(radius(:) <= 0)
    error('halfmask:bounds', 'bounds: a radius of %g is not above 0', min(radius(:)));
end
center = double(center(:)) .* ones(d, 1);
radius = double(radius(:)) .* ones(d, 1);
for j = d:-1:1
    [lower, upper] = halfmask.parts.bounds(center(j) - radius(j), center(j) + radius(j));
    grids(j) = halfmask.parts.lay_grid(lower, upper, 2 ^ 31);
end
end
