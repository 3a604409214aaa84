function v = on_grid(x, grid)
%ON_GRID  Values as whole numbers of the grid's step, clipped to its bounds; NaN is left out.
%   Infinite values are clipped like all others. Dividing by a power of two is exact, and rounding
%   down is the only rounding there is.
x = double(full(x(:)));
x = x(~isnan(x));
v = min(max(floor(x / grid.step), grid.lower), grid.upper);
end
