function [lower, upper] = exp_minus(x, places)
%EXP_MINUS  Whole numbers around 2^places * exp(-x), for a ratio x >= 0: a theorem, no rounding.
%   [lower, upper] = halfmask.exact.exp_minus(x, places), x a ratio (see halfmask.exact.ratio).
%
%   exp(-y) for y = x / 2^r < 2^-11 by its alternating series, then r squarings. All is rounded
%   down, in units of 2^-p, and `slack` counts the units by which it may lie below the truth.
one = halfmask.exact.whole(1);
if isempty(x.num)
    lower = halfmask.exact.move(one, places);
    upper = lower;
    return
end
if halfmask.exact.compare(x.num, halfmask.exact.multiply(x.den, halfmask.exact.whole(places))) > 0
    lower = halfmask.exact.whole(0);  % exp(-x) < 2^-places
    upper = one;
    return
end
r = max(0, halfmask.exact.bits(x.num) - halfmask.exact.bits(x.den) + 12);
digits = ceil((places + r + 32) / 20);
p = 20 * digits;
y = halfmask.exact.divide(halfmask.exact.move(x.num, p), halfmask.exact.move(x.den, r));
[lower, slack] = series(y, digits);
for i = 1:r
    square = halfmask.exact.multiply(lower, lower);  % (L + s)^2 <= L^2 + 2 s L + s^2, L <= 2^p
    lower = square(digits + 1:end);
    slack = 2 * slack + 2;
end
upper = halfmask.exact.move( ...
    halfmask.exact.add(lower, halfmask.exact.whole(ceil(slack))), places - p);
upper = halfmask.exact.add(upper, one);
lower = halfmask.exact.move(lower, places - p);
end

function [lower, slack] = series(y, digits)
% exp(-Y) for y <= Y <= y + 1 and Y < 2^-11, in units of 2^-p, p = 20 digits; lower is too low by
% less than slack. A term is too small by less than 4: by 2^-11 of the error of the one before, by 1
% for Y itself, by 2 for rounding down. The terms left out come to less than the first of them.
term = [zeros(1, digits), 1];
sums = zeros(2, digits + 1);  % of the terms to add, of those to take away
sums(1, :) = term;
n = 0;
while numel(term) > 1 || (isscalar(term) && term > 4)
    n = n + 1;
    product = halfmask.exact.multiply(term, y);
    term = halfmask.exact.divide(product(digits + 1:end), n);
    row = 1 + mod(n, 2);
    sums(row, 1:numel(term)) = sums(row, 1:numel(term)) + term;
end
slack = 8 * n + 16;
low = halfmask.exact.subtract(halfmask.exact.carry(sums(1, :)), halfmask.exact.carry(sums(2, :)));
lower = halfmask.exact.subtract(low, halfmask.exact.whole(slack / 2));
end
