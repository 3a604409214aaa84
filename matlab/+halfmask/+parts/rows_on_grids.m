function v = rows_on_grids(X, grids)
%ROWS_ON_GRIDS  Each column in whole cells of its grid, as by halfmask.parts.on_grid.
%   A row with a NaN is left out.
X = X(~any(isnan(X), 2), :);
v = zeros(size(X));
for j = 1:numel(grids)
    v(:, j) = halfmask.parts.on_grid(X(:, j), grids(j));
end
end
