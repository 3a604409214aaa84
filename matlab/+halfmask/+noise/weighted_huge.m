function chosen = weighted_huge(logs, slack, count_of, scores, rate, count, words)
%WEIGHTED_HUGE  As halfmask.noise.weighted, for counts too large to be doubles.
%   chosen = halfmask.noise.weighted_huge(logs, slack, count_of, scores, rate, count, words)
%
%   logs are log2 of the counts, each right to slack (at most 1/4) beside the rounding of one log2;
%   count_of(i) is the exact count, a whole number of at least 1, asked for few i; scores are
%   integers below 2^53, rate >= 0 is a double, at its exact binary value, or a ratio.
%
%   An index is proposed with its integer weight, ceil(2^(20-k) count exp(rate (score - best))), k
%   such that the greatest is between 2^19 and 2^20 or so; then a word each accepts it, or reads on;
%   the rejected start again, together.
law = weights(logs(:), slack, scores(:), halfmask.exact.ratio(rate));
law.count_of = count_of;
for i = law.near'
    law.ceilings(i) = exact_ceiling(law, i);
end
ends = cumsum(law.ceilings);
chosen = zeros(count, 1);
lanes = (1:count)';
while ~isempty(lanes)
    drawn = halfmask.noise.below(uint64(ends(end)), numel(lanes), words);
    [~, proposed] = histc(double(drawn), [0; ends]);
    chosen(lanes) = proposed;
    lanes = lanes(~accepted(law, proposed, words));
end
end

function law = weights(logs, slack, scores, rate)
% Integer weights ceil(2^(20-k) w), and which of them doubles do not make sure: a weight is off by
% less than 2^-12, as its logarithm is known to 2^-36, and by 2^21 slack.
law = struct('gaps', max(scores) - scores, 'rate', rate);
sizes = logs - law.gaps * halfmask.exact.to_double(rate) / log(2);
law.shift = ceil(max(sizes));
w = 2 .^ (max(sizes - law.shift, -4096) + 20);
law.ceilings = max(ceil(w), 1);
law.near = find(abs(w - round(w)) < 2 ^ -12 + 2 ^ 21 * slack & w > 0.5);
end

function c = exact_ceiling(law, i)
% For an exponent above 0 the weight is no integer (Lindemann), so its floor, once sure, tells.
x = exponent(law, i);
candidates = law.count_of(i);
if isempty(x.num)
    places = 20 - law.shift;
    low = halfmask.exact.move(candidates, places);
    rest = halfmask.exact.compare(candidates, halfmask.exact.move(low, -places)) > 0;
    c = halfmask.exact.number(low) + rest;
    return
end
more = 64;
while true
    [lower, upper] = halfmask.exact.exp_minus(x, more);
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
        halfmask.exact.move(law.count_of(i), max(20 - law.shift, 0)), ...
        halfmask.exact.move(halfmask.exact.whole(law.ceilings(i)), max(law.shift - 20, 0)));
    stays(j) = halfmask.noise.falls_below( ...
        halfmask.exact.whole(drawn(j)), 64, exponent(law, i), words, factor);
end
end
