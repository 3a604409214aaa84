function result = sum(varargin)
%SUM  The sum of a bounded column, with noise; each value is clipped to the bounds.
%   r = halfmask.sum(x, lower, upper, 'epsilon', 0.5)         of a vector
%   r = halfmask.sum(T, 'pay', lower, upper, 'epsilon', 0.5)  of a column of a table (or struct)
%
%   The bounds must be known without the data: they set the noise. NaN adds nothing, infinite values
%   are clipped. r.value, r.interval, r.cost, r.statement and the options: see halfmask.count.
%
%   Privacy: epsilon-DP; one row moves the sum by at most max(|lower|, |upper|) when added or
%   removed, by max(upper, 0) - min(lower, 0) when replaced (a value may be missing). [Dwork,
%   McSherry, Nissim & Smith 2006, Prop. 1] Sums are of whole numbers of a public grid, so nothing
%   is rounded.
%
%   Example
%       r = halfmask.sum([3 5 8], 0, 10, 'epsilon', 1)
%
%   See also halfmask.count, halfmask.mean
[request, data, values] = halfmask.parts.asked(varargin, 2);
[lower, upper] = halfmask.parts.bounds(values{:});
grid = halfmask.parts.lay_grid(lower, upper, halfmask.parts.cells_against_noise(request.epsilon));
reach = max(abs(grid.lower), abs(grid.upper));
if strcmp(request.relation, 'replace')
    reach = max(grid.upper, 0) - min(grid.lower, 0);
end
mechanism = halfmask.parts.laplace(reach, request.epsilon);
title = sprintf('%s, held to %s to %s', halfmask.parts.of_column('Sum', request), ...
    halfmask.parts.written(lower), halfmask.parts.written(upper));
halfmask.parts.charge(request, title);
total = halfmask.parts.exact_sum(halfmask.parts.on_grid(data, grid));
noisy = halfmask.parts.add_noise(total, mechanism, request.words);
h = halfmask.parts.half_width(mechanism, request.confidence);
result = halfmask.parts.released(request, title, noisy * grid.step, ...
    (noisy + [-h, h]) * grid.step, halfmask.parts.law_text(mechanism, grid.step));
end
