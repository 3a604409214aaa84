function k = discrete_gaussian(sigma, count, words)
%DISCRETE_GAUSSIAN  Samples of P(k) proportional to exp(-k^2 / (2 sigma^2)), exactly.
%   k = halfmask.noise.discrete_gaussian(sigma, count) gives count samples, an int64 column.
%   k = halfmask.noise.discrete_gaussian(sigma, count, words) draws from given words, for tests.
%
%   sigma is above 0 and at most 2^55: a double, at its exact binary value, or a ratio. Rejection
%   from the discrete Laplace law of scale t = floor(sigma) + 1. [Canonne, Kamath & Steinke 2020,
%   algorithm 3] Words are read as by halfmask.noise.discrete_gaussian in Python: in blocks of 2^14
%   samples, while m are missing, m + floor(m/2) + 16 proposals; a word each starts their accepting
%   numbers; undecided ones read on, in order.
%
%   Example
%       noise = halfmask.noise.discrete_gaussian(3, 5)
if nargin < 3
    words = [];
end
[sigma, words] = halfmask.noise.checked(sigma, count, words, 'sigma');
t = halfmask.exact.add(halfmask.exact.divide(sigma.num, sigma.den), halfmask.exact.whole(1));
k = zeros(count, 1, 'int64');
done = 0;
while done < count
    missing = min(count, done - mod(done, 16384) + 16384) - done;
    some = batch(sigma, t, missing, words);
    k(done + 1:done + numel(some)) = some;
    done = done + numel(some);
end
end

function k = batch(sigma, t, missing, words)
% The accepted among missing + floor(missing/2) + 16 proposals, at most `missing`. The chance of a
% proposal is exp(-(|k| - sigma^2/t)^2 / (2 sigma^2)), in doubles good to 2^-46.
k = halfmask.noise.discrete_laplace(halfmask.exact.ratio(t, 1), ...
    missing + floor(missing / 2) + 16, words);
drawn = words.take(numel(k));
s = max(halfmask.exact.to_double(sigma), 2 ^ -64);
away = (double(abs(k)) - s ^ 2 / halfmask.exact.number(t)) / s;
margin = exp(-0.5 * away .^ 2) - double(drawn) * 2 ^ -64;
stays = margin > 0;
for i = find(abs(margin) < 2 ^ -40)'
    x = exponent(sigma, t, abs(k(i)));
    stays(i) = halfmask.noise.falls_below(halfmask.exact.whole(drawn(i)), 64, x, words);
end
k = k(stays);
k = k(1:min(missing, numel(k)));
end

function x = exponent(sigma, t, k)
% (k - sigma^2/t)^2 / (2 sigma^2) = (k t b^2 - a^2)^2 / (2 (a b t)^2) for sigma = a/b.
a2 = halfmask.exact.multiply(sigma.num, sigma.num);
b2 = halfmask.exact.multiply(sigma.den, sigma.den);
ktb2 = halfmask.exact.multiply(halfmask.exact.whole(k), halfmask.exact.multiply(t, b2));
if halfmask.exact.compare(ktb2, a2) >= 0
    gap = halfmask.exact.subtract(ktb2, a2);
else
    gap = halfmask.exact.subtract(a2, ktb2);
end
over = halfmask.exact.multiply(halfmask.exact.multiply(a2, b2), halfmask.exact.multiply(t, t));
x = halfmask.exact.ratio(halfmask.exact.multiply(gap, gap), halfmask.exact.move(over, 1));
end
