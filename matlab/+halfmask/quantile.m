function result = quantile(varargin)
%QUANTILE  A quantile of a bounded column, chosen privately: a share q of the values lies below.
%   r = halfmask.quantile(x, 0.25, lower, upper, 'epsilon', 0.5)         of a vector
%   r = halfmask.quantile(T, 'pay', 0.25, lower, upper, 'epsilon', 0.5)  of a column
%
%   Values are held to the bounds, which must be known without the data but may be wide: they cost
%   only the logarithm of their distance. NaN does not count. Of whole numbers (int32 and the like)
%   the answer is a whole number, else a point of a grid of 2^31 to 2^32 steps.
%
%   r.value; r.interval, the public bounds: no narrower one is known without a price; r.rank_error,
%   how many rows at most r.value lies beside its exact rank, with confidence r.confidence. The
%   other fields and the options: see halfmask.count.
%
%   Privacy: epsilon-DP; the exponential mechanism with the score -|rows below - q n|, which one row
%   moves by max(q, 1 - q) (add/remove) or 1 (replace). [McSherry & Talwar 2007, Thm 6]
%
%   Example
%       r = halfmask.quantile(100 * rand(1, 1000), 0.9, 0, 1000, 'epsilon', 1);
%       disp(r.statement)
%
%   See also halfmask.median, halfmask.histogram
[request, data, values] = halfmask.parts.asked(varargin, 3);
q = values{1};
if ~(isnumeric(q) && isscalar(q) && isreal(q) && q >= 0 && q <= 1)
    error('halfmask:q', 'q: must be one number from 0 to 1; give one such as 0.5 for the median');
elseif q ~= round(q * 1e6) / 1e6
    error('halfmask:q', 'q: %.15g has more than 6 decimals; round it', q);
end
what = sprintf('Quantile %g', q);
if q == 0.5
    what = 'Median';
end
[lower, upper] = halfmask.parts.bounds(values{2:3});
title = sprintf('%s, held to %s to %s', halfmask.parts.of_column(what, request), ...
    halfmask.parts.written(lower), halfmask.parts.written(upper));
if isinteger(data) && max(abs([lower, upper])) <= 2 ^ 52 && ceil(lower) < floor(upper)
    grid = struct('step', 1, 'lower', ceil(lower), 'upper', floor(upper));
else
    grid = halfmask.parts.lay_grid(lower, upper, 2 ^ 31);
end
q = round(double(q) * 1e6);  % in millionths
worst = max(q, 1e6 - q);
if strcmp(request.relation, 'replace')
    worst = 1e6;
end
rate = halfmask.parts.part_of(request.epsilon, 1e6, 2 * worst);  % of a row
halfmask.parts.charge(request, title);
cell_of = halfmask.parts.quantile_cells( ...
    halfmask.parts.on_grid(data, grid), q, grid, rate, 1, request.words);

scale = 1 / halfmask.exact.to_double(rate);
law = sprintf('exponential mechanism on ranks, scale %.6g rows', scale);
bounds_of = [grid.lower, grid.upper] * grid.step;
result = halfmask.parts.released(request, title, cell_of * grid.step, bounds_of, law);
cells = grid.upper - grid.lower + 1;
result.rank_error = ceil(scale * log(cells / (1 - request.confidence)));
result.statement = sprintf('%s: %s, to %d rows (%g %%). %s', title, ...
    halfmask.parts.written(result.value, (bounds_of(2) - bounds_of(1)) / 1000), ...
    result.rank_error, 100 * request.confidence, halfmask.parts.promise(request));
end
