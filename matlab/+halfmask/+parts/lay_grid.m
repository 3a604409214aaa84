function grid = lay_grid(lower, upper, cells)
%LAY_GRID  The finest power-of-two grid of at most twice so many cells; bounds snap inwards.
%   grid = halfmask.parts.lay_grid(lower, upper, cells) has lower and upper as whole numbers of
%   grid.step. The grid is public: bounds and price fix it. It is that of Python.
[~, exponent] = log2((upper - lower) / cells);
[~, reach] = log2(max(abs(lower), abs(upper)));
places = max([exponent - 1, reach - 52, -1000]);
grid = struct('step', 2 ^ places);
grid.lower = ceil(lower / grid.step);
grid.upper = floor(upper / grid.step);
if grid.upper - grid.lower < 1024
    error('halfmask:bounds', ['bounds: %.15g and %.15g are too close for numbers of 53 bits; ' ...
        'subtract a public constant from the column first'], lower, upper);
end
end
