function k = below(bound, count, words)
%BELOW  Uniform integers 0 .. bound - 1, exactly; bound is a uint64 of at most 2^63.
%   k = halfmask.noise.below(bound, count, words) gives a uint64 column. Reads a word each, of which
%   the top b bits are the sample if below bound, b the bits of bound - 1; the others read again.
bits = halfmask.exact.bits(halfmask.exact.whole(bound - 1));
k = zeros(count, 1, 'uint64');
lanes = (1:count)';
while bits > 0 && ~isempty(lanes)
    k(lanes) = bitshift(words.take(numel(lanes)), bits - 64);
    lanes = lanes(k(lanes) >= bound);
end
end
