function plan = centring(look, variance_at)
%CENTRING  How much of the price to spend on looks, and whether a sum about a centre is worth it.
%   plan = halfmask.parts.centring(look, variance_at): plan.share is in 1/200 of the price,
%   plan.centred says whether the rest should buy a sum about the centre. variance_at(share) is the
%   variance of the noise of one sum, in squared rows. The noisy count, held three deviations low,
%   decides: all of it is post-processing. Centring should lower the squared error by a tenth.
plan = struct('share', 1, 'centred', false);
position = halfmask.parts.theta(halfmask.parts.joined(look));
count = look.noisy(1) + look.noisy(2) - 3 * sqrt(2 * variance_at(1));
if count <= 0
    return
end
shares = [1, 2, 4, 6, 10, 14, 20, 28, 40];
gains = arrayfun(@(share) gain(share, position, count, variance_at), shares);
[best, i] = min(gains);
if best < 0.9
    plan = struct('share', shares(i), 'centred', true);
end
end

function g = gain(share, t, count, variance_at)
% The squared error, relative to that of two-sided sums for the whole price.
noise = variance_at(share);
two_sided = (1 - t) ^ 2 + t ^ 2;
last = max(t, 1 - t) ^ 2 * variance_at(200 - share) ...
    + halfmask.parts.crossed(t) * (noise / count) ^ 2;
both = 1 / (1 / last + 1 / (two_sided * noise));
g = both / (two_sided * variance_at(200));
end
