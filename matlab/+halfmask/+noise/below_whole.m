function k = below_whole(bound, words)
%BELOW_WHOLE  A uniform whole number 0 .. bound - 1, exactly; bound is a whole number of any size.
%   k = halfmask.noise.below_whole(bound, words), both as halfmask.exact.whole makes them. Reads
%   ceil(b / 64) words, the first on top, b the bits of bound - 1; their top b bits are the sample
%   if below bound, or else as many are read again. A bound of 1 reads nothing.
bits = halfmask.exact.bits(halfmask.exact.subtract(bound, halfmask.exact.whole(1)));
count = ceil(bits / 64);
while true
    k = zeros(1, 0);
    for i = 1:count
        k = halfmask.exact.add(halfmask.exact.move(k, 64), halfmask.exact.whole(words.take(1)));
    end
    k = halfmask.exact.move(k, bits - 64 * count);
    if halfmask.exact.compare(k, bound) < 0
        return
    end
end
end
