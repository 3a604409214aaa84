function k = folded_geometric(scale, count, words, signed)
%FOLDED_GEOMETRIC  X = G or -1 - G by a sign s, for G geometric of a scale above 512, exactly.
%   k = halfmask.noise.folded_geometric(scale, count, words, true) gives discrete Laplace samples,
%   an int64 column: P(s = 1) is proportional to exp(-1/t) against 1. With false, s is a fair coin.
%
%   G = 2^m H + L by its high and low digits, which are independent [Devroye 1986, chapter X.2]: H
%   is geometric of scale t / 2^m between 256 and 512, and (L, s) are m + 1 uniform bits accepted
%   with probability exp(-(L + s)/t) > 1 - 1/256, so that a byte decides unless it is 255. Words are
%   read as by halfmask.noise.split in Python, which says in what order.
m = 0;
while halfmask.exact.compare(scale.num, halfmask.exact.move(scale.den, 9 + m)) > 0
    m = m + 1;
end
mask = bitshift(uint64(1), m) - uint64(1);
law = halfmask.noise.survival( ...
    halfmask.exact.ratio(scale.num, halfmask.exact.move(scale.den, m)), false);

high = zeros(count, 1);
starts = zeros(count, 1);
low = zeros(count, 1, 'uint64');
minus = false(count, 1);
open = cell(1, ceil(count / 131072));
doubtful = open;
for block = 1:numel(open)
    part = (131072 * (block - 1) + 1:min(131072 * block, count))';
    [minus(part), starts(part)] = halfmask.noise.half_words(words, numel(part));
    [high(part), left] = halfmask.noise.floors(law, starts(part));
    open{block} = part(left);
    [low(part), is_255] = low_bits(words, numel(part), m, mask);
    doubtful{block} = part(is_255);
end
for i = vertcat(zeros(0, 1), open{:})'
    high(i) = halfmask.noise.settle(law, starts(i), words);
end
low(minus) = mask - low(minus);
lanes = vertcat(zeros(0, 1), doubtful{:});
while ~isempty(lanes)  % read on; where rejected, draw (L, s) anew until accepted
    steps = double(low(lanes)) + (signed & minus(lanes));
    lanes = lanes(~accepted(steps, scale, words));
    drawn = words.take(numel(lanes));
    fold = bitand(bitshift(drawn, -55), uint64(1)) == 1;
    fresh = bitand(drawn, mask);
    fresh(fold) = mask - fresh(fold);
    low(lanes) = fresh;
    minus(lanes) = fold;
    lanes = lanes(bitshift(drawn, -56) == 255);
end
high = min(uint64(high), bitshift(intmax('uint64'), -1 - m));
k = int64(bitor(bitshift(high, m), low));
k(minus) = int64(-1) - k(minus);
end

function [low, is_255] = low_bits(words, count, m, mask)
% The low m bits of each lane, and whether its accepting byte, on top, is 255.
if m <= 24
    drawn = typecast(words.take(ceil(count / 2)), 'uint32');
    drawn = reshape(drawn(1:count), [], 1);
    is_255 = drawn >= uint32(4278190080);
    low = uint64(bitand(drawn, uint32(mask)));
else
    drawn = words.take(count);
    is_255 = bitshift(drawn, -56) == 255;
    low = bitand(drawn, mask);
end
end

function stays = accepted(steps, scale, words)
% Whether V < exp(-x), x = steps/t, for V that starts with byte 255 and then a word v each: that is
% when 1 - v > 256 (1 - exp(-x)) in units of v; expm1 is trusted to 2^-40.
drawn = words.take(numel(steps));
rest = double(intmax('uint64') - drawn);  % 2^64 (1 - v) is between rest and rest + 1
bound = expm1(steps * (-1 / halfmask.exact.to_double(scale))) * -2 ^ 72;
slack = 2 ^ -40 * (bound + rest) + 4;
stays = rest > bound + slack;
for i = find(~stays & rest >= bound - slack)'
    digits = halfmask.exact.add(halfmask.exact.whole(drawn(i)), ...
        halfmask.exact.move(halfmask.exact.whole(255), 64));
    x = halfmask.exact.ratio(halfmask.exact.multiply(halfmask.exact.whole(steps(i)), scale.den), ...
        scale.num);
    stays(i) = halfmask.noise.falls_below(digits, 72, x, words);
end
end
