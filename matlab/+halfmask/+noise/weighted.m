function chosen = weighted(counts, scores, rate, count, words)
%WEIGHTED  Indices i with P(i) proportional to counts(i) * exp(rate * scores(i)), exactly.
%   chosen = halfmask.noise.weighted(counts, scores, rate, count) gives count indices from 1, a
%   column; with words as a fifth argument, for tests, it draws from those.
%
%   counts says how many equal candidates stand behind each index (with all of them 1 this is the
%   exponential mechanism [McSherry & Talwar 2007]); scores are the higher the better; both are
%   integers below 2^53. rate >= 0 is a double, at its exact binary value, or a ratio.
%
%   Words are read as by halfmask.noise.weighted in Python, whose indices are one less: an index is
%   proposed with its integer weight, ceil(2^(20-k) counts exp(rate (score - best))), k such that
%   the greatest is between 2^19 and 2^20 or so; then a word each accepts it, or reads on; the
%   rejected start again, together.
%
%   Example
%       halfmask.noise.weighted([1 1 1], [5 9 8], 0.5, 1)
if nargin < 5 || isempty(words)
    words = halfmask.noise.SecureWords();
end
there = find(counts(:) > 0);
law = weights(double(counts(there)), double(scores(there)), halfmask.exact.ratio(rate));
ends = cumsum(law.ceilings);
chosen = zeros(count, 1);
lanes = (1:count)';
while ~isempty(lanes)
    drawn = halfmask.noise.below(uint64(ends(end)), numel(lanes), words);
    [~, proposed] = histc(double(drawn), [0; ends]);
    chosen(lanes) = there(proposed);
    lanes = lanes(~accepted(law, proposed, words));
end
end

function law = weights(counts, scores, rate)
% Integer weights ceil(2^(20-k) w): doubles where they are sure, exact integers elsewhere.
law = struct('counts', counts(:), 'gaps', max(scores(:)) - scores(:), 'rate', rate);
sizes = log2(law.counts) - law.gaps * halfmask.exact.to_double(rate) / log(2);
law.shift = ceil(max(sizes));
w = 2 .^ (max(sizes - law.shift, -4096) + 20);
law.ceilings = max(ceil(w), 1);
for i = find(abs(w - round(w)) < 2 ^ -12 & w > 0.5)'
    law.ceilings(i) = exact_ceiling(law, i);
end
end

function c = exact_ceiling(law, i)
% For an exponent above 0 the weight is no integer (Lindemann), so its floor, once sure, tells.
x = exponent(law, i);
if isempty(x.num)
    c = ceil(law.counts(i) * 2 ^ (20 - law.shift));
    return
end
more = 64;
while true
    [lower, upper] = halfmask.exact.exp_minus(x, more);
    candidates = halfmask.exact.whole(law.counts(i));
    places = 20 - law.shift - more;
    low = halfmask.exact.move(halfmask.exact.multiply(candidates, lower), places);
    high = halfmask.exact.move(halfmask.exact.multiply(candidates, upper), places);
    if halfmask.exact.compare(low, high) == 0
        c = halfmask.exact.number(low) + 1;
        return
    end
    more = 2 * more;
end
end

function x = exponent(law, i)
x = halfmask.exact.ratio( ...
    halfmask.exact.multiply(law.rate.num, halfmask.exact.whole(law.gaps(i))), law.rate.den);
end

function stays = accepted(law, proposed, words)
% Whether V < 2^(20-k) w / ceiling for the proposed: so if V <= 1 - 1 / ceiling.
ceilings = uint64(law.ceilings(proposed));
drawn = words.take(numel(proposed));
stays = intmax('uint64') - drawn > idivide(intmax('uint64'), ceilings, 'floor') & ceilings > 1;
for j = find(~stays)'
    i = proposed(j);
    factor = halfmask.exact.ratio( ...
        halfmask.exact.move(halfmask.exact.whole(law.counts(i)), max(20 - law.shift, 0)), ...
        halfmask.exact.move(halfmask.exact.whole(law.ceilings(i)), max(law.shift - 20, 0)));
    stays(j) = halfmask.noise.falls_below( ...
        halfmask.exact.whole(drawn(j)), 64, exponent(law, i), words, factor);
end
end
