function k = settle(law, u, words)
%SETTLE  The K of a law for the uniform number that starts with the 31 bits u, reading until sure.
%   K = k exactly when S(k + 1) < U <= S(k). A word is read if and only if such an end lies inside
%   (u, u + 1) / 2^bits: a fact of the law, whatever doubles say. They decide where their error
%   bound is certain, and exact integers elsewhere. See halfmask.noise.survival.
u = halfmask.exact.whole(u);
bits = 31;
k = cell_of(law, u, bits);
while isnan(k)
    u = halfmask.exact.add(halfmask.exact.move(u, 64), halfmask.exact.whole(words.take(1)));
    bits = bits + 64;
    k = cell_of(law, u, bits);
end
end

function k = cell_of(law, u, bits)
% The k whose cell holds all of (u, u + 1) / 2^bits; NaN if a cell ends inside.
t = law.width;
top = law.log_head + bits * log(2);
slack = t * (2 ^ -42 + top * 2 ^ -48);  % of t (ln C - ln U) in doubles
next = halfmask.exact.add(u, halfmask.exact.whole(1));
least = t * (top - log(halfmask.exact.number(next)));
most = t * (top - log(halfmask.exact.number(u)));
k = floor(least + slack);
if bits < 1000 && floor(least - slack) == k
    if k < most + slack && most + slack <= k + 1
        return
    elseif most - slack > k + 1
        k = NaN;
        return
    end
end
k = exact_cell(law, u, next, bits, max(0, floor(least)));
end

function k = exact_cell(law, u, next, bits, k)
while k > 0 && beyond(law, u, bits, k)
    k = k - 1;
end
while ~beyond(law, next, bits, k + 1)
    k = k + 1;
end
if ~beyond(law, u, bits, k + 1) || (k > 0 && beyond(law, next, bits, k))
    k = NaN;
end
end

function answer = beyond(law, u, bits, j)
% Whether u / 2^bits > S(j), j >= 1: equality cannot be (Lindemann: S(j) is irrational).
if isempty(u)
    answer = false;
    return
end
t = law.scale;
jth = halfmask.exact.ratio(halfmask.exact.multiply(t.den, halfmask.exact.whole(j)), t.num);
first = halfmask.exact.ratio(t.den, t.num);
more = 64;
while true
    places = bits + more;
    [lower, upper] = halfmask.exact.exp_minus(jth, places);
    left = halfmask.exact.move(u, more);
    [left_low, left_high] = deal(left);
    if law.two_sided  % compare u (1 + exp(-1/t)) with 2 exp(-j/t), all times 2^places
        one = halfmask.exact.move(halfmask.exact.whole(1), places);
        [step_low, step_high] = halfmask.exact.exp_minus(first, places);
        left_low = halfmask.exact.multiply(left, halfmask.exact.add(one, step_low));
        left_high = halfmask.exact.multiply(left, halfmask.exact.add(one, step_high));
        lower = halfmask.exact.move(lower, places + 1);
        upper = halfmask.exact.move(upper, places + 1);
    end
    if halfmask.exact.compare(left_low, upper) >= 0
        answer = true;
        return
    elseif halfmask.exact.compare(left_high, lower) <= 0
        answer = false;
        return
    end
    more = 2 * more;
end
end
