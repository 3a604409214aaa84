function t = theta(form)
%THETA  Where in the bounds a ratio of noisy sums lies: 0 at the lower, 1 at the upper one.
%   A form is a struct of columns: t is where sum((top - t * bottom) .* noisy) vanishes; scale is
%   that of each noisy number's Laplace noise.
top = form.top' * form.noisy;
bottom = form.bottom' * form.noisy;
if bottom > 0
    t = min(max(top / bottom, 0), 1);
else  % no rows, or so it seems: the middle of what the noise leaves possible
    [low, high] = halfmask.parts.hull(form, 0.05);
    t = (low + high) / 2;
end
end
