function [request, grids] = matrix_asked(X, center, radius, options)
%MATRIX_ASKED  What was asked of the rows of a matrix, checked before any is read.
%   [request, grids] = halfmask.parts.matrix_asked(X, center, radius, options), options a cell of
%   names and values: see halfmask.parts.asked; grids, a public one for each column.
if ~(isnumeric(X) && isreal(X) && ndims(X) == 2 && size(X, 2) > 0)
    error('halfmask:data', 'data: a %s given; give a matrix with a column a coordinate', class(X));
end
d = size(X, 2);
request = halfmask.parts.asked([{zeros(0, 1)}, options], 0);
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
