function result = mean(varargin)
%MEAN  The mean of a bounded column, with noise; each value is clipped to the bounds.
%   r = halfmask.mean(x, lower, upper, 'epsilon', 0.5)         of a vector
%   r = halfmask.mean(T, 'pay', lower, upper, 'epsilon', 0.5)  of a column of a table (or struct)
%
%   The bounds must be known without the data: they set the noise, so give close ones. Values beyond
%   them are clipped, infinite ones too; NaN does not count.
%
%   r.value       the estimate, inside the bounds
%   r.interval    where the mean of the clipped values lies, with confidence r.confidence (95 %)
%   r.cost, r.relation, r.mechanism, r.statement (in words, as it may be published)
%
%   Options, as names and values:
%       'epsilon'     the price; 0.1 means one tenth, '1/3' a third
%       'relation'    'add_remove' (one row more or fewer), or 'replace' (one row changed, their
%                     number public)
%       'budget'      a halfmask.Budget, which is charged before a row is read, or refuses
%       'confidence'  of the interval, 0.95 unless given
%
%   How: with a = (x - lower) / (upper - lower), one row moves the pair (sum of 1 - a, sum of a) by
%   1 in L1, so the whole price buys the noise of both, unsplit; the mean is read off their ratio.
%   For many rows a small first look shows the middle of the data, and the sum about it, which moves
%   less, gets the rest. The same words give the same answer as halfmask.Mean in Python.
%
%   Privacy: epsilon-DP; two-sided sums at shares of the price and, where the noisy count is large,
%   the sum about a private centre c, whose reach is max(c - lower, upper - c); adaptive sequential
%   composition; the ratio is post-processing. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1, Thm
%   3]
%
%   Example
%       budget = halfmask.Budget(1);
%       pay = 20000 + 60000 * rand(1, 100);
%       r = halfmask.mean(pay, 0, 100000, 'epsilon', 0.5, 'budget', budget);
%       disp(r.statement)
%
%   See also halfmask.sum, halfmask.median, halfmask.Budget
[request, data, values] = halfmask.parts.asked(varargin, 2);
[lower, upper] = halfmask.parts.bounds(values{:});
grid = halfmask.parts.lay_grid(lower, upper, halfmask.parts.cells_against_noise(request.epsilon));
width = grid.upper - grid.lower;
halfmask.parts.laplace(1280 * width, request.epsilon);  % refuse now what could not be drawn later
title = sprintf('%s, held to %s to %s', halfmask.parts.of_column('Mean', request), ...
    halfmask.parts.written(lower), halfmask.parts.written(upper));
halfmask.parts.charge(request, title);

v = halfmask.parts.on_grid(data, grid) - grid.lower;
sums = [halfmask.parts.exact_sum(width - v); halfmask.parts.exact_sum(v)];
if strcmp(request.relation, 'replace')
    [form, value_form, law] = halfmask.parts.mean_replaced(sums, width, request, numel(data));
else
    [form, law] = halfmask.parts.mean_centred(sums, width, request);
    value_form = form;
end
step = width * grid.step;
base = grid.lower * grid.step;
value = base + step * halfmask.parts.theta(value_form);
[low, high] = halfmask.parts.hull(form, 1 - request.confidence);
result = halfmask.parts.released(request, title, value, base + step * [low, high], law);
end
