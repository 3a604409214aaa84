function answer = falls_below(u, bits, x, words, factor)
%FALLS_BELOW  Whether V < factor * exp(-x) for the uniform V that starts with these bits.
%   u is a whole number of so many bits, x >= 0 and factor are ratios; factor is 1 if left out.
%   Reads a word only where factor * exp(-x) lies inside (u, u + 1) / 2^bits, again and again.
if nargin < 5
    factor = halfmask.exact.ratio(1);
end
answer = side(u, bits, x, factor);
while isnan(answer)
    u = halfmask.exact.add(halfmask.exact.move(u, 64), halfmask.exact.whole(words.take(1)));
    bits = bits + 64;
    answer = side(u, bits, x, factor);
end
answer = answer == 1;
end

function answer = side(u, bits, x, factor)
% 1 if u + 1 <= 2^bits factor exp(-x), 0 if u >= it, NaN if it lies between.
next = halfmask.exact.add(u, halfmask.exact.whole(1));
more = 8;
while true
    [lower, upper] = halfmask.exact.exp_minus(x, bits + more);
    lower = halfmask.exact.multiply(factor.num, lower);
    upper = halfmask.exact.multiply(factor.num, upper);
    low = halfmask.exact.move(halfmask.exact.multiply(factor.den, u), more);
    high = halfmask.exact.move(halfmask.exact.multiply(factor.den, next), more);
    if halfmask.exact.compare(high, lower) <= 0
        answer = 1;
        return
    elseif halfmask.exact.compare(low, upper) >= 0
        answer = 0;
        return
    elseif halfmask.exact.compare(low, lower) <= 0 && halfmask.exact.compare(upper, high) <= 0
        answer = NaN;
        return
    end
    more = 2 * more;
end
end
