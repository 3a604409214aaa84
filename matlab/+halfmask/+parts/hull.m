function [low, high] = hull(form, tail)
%HULL  The least and the greatest t that the noise leaves possible, for a ratio of noisy sums.
%   Fieller's interval: all t at which sum((top - t * bottom) .* noisy) is within its own noise's
%   quantile; at the true t the exact parts cancel, so only noise is left. [Fieller 1954, Some
%   problems in interval estimation]
ratio = (form.top' * form.noisy) / (form.bottom' * form.noisy);
points = unique([(0:64) / 64, ratio(form.bottom' * form.noisy > 0 & ratio >= 0 & ratio <= 1)]);
inside = possible(form, points, tail);
first = find(inside, 1);
last = find(inside, 1, 'last');
if isempty(first)
    low = 0;
    high = 1;
    return
end
low = edge(form, tail, points(max(first - 1, 1)), points(first));
high = edge(form, tail, points(min(last + 1, numel(points))), points(last));
end

function answer = possible(form, t, tail)
factor = form.top - form.bottom * t;  % a column for each t
far = abs(form.noisy' * factor);
answer = halfmask.parts.laplace_tail(far, abs(factor) .* form.scale) >= tail;
end

function out = edge(form, tail, out, within)
% Bisect to the edge of the set; the point just outside: no interval is too short.
for i = 1:40
    if out == within
        return
    end
    middle = (out + within) / 2;
    if possible(form, middle, tail)
        within = middle;
    else
        out = middle;
    end
end
end
