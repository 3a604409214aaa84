function tests = test_exact()
%TEST_EXACT  Whole numbers of any size, and the exponential between two of them.
tests = {@doubles_agree, @products_divide, @digits_move, @exponentials_are_enclosed, ...
    @prices_are_meant, @sums_are_exact, @digests_agree};
end

function doubles_agree()
% Below 2^53 doubles are exact: a naive twin.
for a = [0 1 2 1048575 1048576 1048577 123456789012 2 ^ 46]
    for b = [1 7 1048576 99999999999]
        [x, y] = deal(halfmask.exact.whole(a), halfmask.exact.whole(b));
        same(halfmask.exact.add(x, y), a + b);
        if a >= b
            same(halfmask.exact.subtract(x, y), a - b);
        end
        check(halfmask.exact.compare(x, y) == sign(a - b), 'compare %d %d', a, b);
        [quotient, rest] = halfmask.exact.divide(x, y);
        same(quotient, floor(a / b));
        same(rest, mod(a, b));
        check(halfmask.exact.number(x) == a, 'number %d', a);
        check(halfmask.exact.to_uint64(x) == uint64(a), 'to_uint64 %d', a);
    end
    [~, bits] = log2(a);
    check(halfmask.exact.bits(halfmask.exact.whole(a)) == bits, 'bits of %d', a);
end
end

function same(found, meant)
check(isequal(found, halfmask.exact.whole(meant)), 'other digits of %d', meant);
end

function products_divide()
% (a b + r) / b = a, r: for random digits of many lengths.
words = halfmask.noise.SecureWords();
for n = [1 2 3 9]
    a = many(words, n);
    b = many(words, 2 * n - 1);
    r = halfmask.exact.subtract(b, halfmask.exact.whole(1));
    [quotient, rest] = halfmask.exact.divide( ...
        halfmask.exact.add(halfmask.exact.multiply(a, b), r), b);
    check(isequal(quotient, a) && isequal(rest, r), 'a product of %d words does not divide', n);
end
end

function a = many(words, n)
a = halfmask.exact.whole(1);
for word = words.take(n)'
    a = halfmask.exact.add(halfmask.exact.move(a, 64), halfmask.exact.whole(word));
end
end

function digits_move()
a = many(halfmask.noise.SecureWords(), 5);
for places = [0 1 19 20 21 40 63 200]
    moved = halfmask.exact.move(a, places);
    check(isequal(halfmask.exact.move(moved, -places), a), 'moved by %d', places);
    check(isequal(moved, halfmask.exact.multiply(a, ...
        halfmask.exact.move(halfmask.exact.whole(1), places))), 'not times 2^%d', places);
end
check(isempty(halfmask.exact.move(a, -1000)), 'something is left');
end

function exponentials_are_enclosed()
% Doubles know exp(-x) to 2^-50; closer enclosures lie inside wider ones.
for x = {[0 1], [1 1], [1 1000], [12345 1000], [35 1], [1 3], [700 9]}
    ratio = halfmask.exact.ratio(x{1}(1), x{1}(2));
    meant = exp(-x{1}(1) / x{1}(2));
    [low, high] = halfmask.exact.exp_minus(ratio, 100);
    found = [halfmask.exact.number(low), halfmask.exact.number(high)] * 2 ^ -100;
    check(all(abs(found - meant) <= 2 ^ -49 * meant + 2 ^ -99), 'exp(-%d/%d)', x{1});
    width = halfmask.exact.number(halfmask.exact.subtract(high, low));
    check(width <= 2, 'exp(-%d/%d) is open by %d', x{1}, width);
    [lower, upper] = halfmask.exact.exp_minus(ratio, 300);
    check(halfmask.exact.compare(halfmask.exact.move(low, 200), lower) <= 0 ...
        && halfmask.exact.compare(upper, halfmask.exact.move(high, 200)) <= 0, ...
        'exp(-%d/%d) leaves its enclosure', x{1});
end
end

function prices_are_meant()
meant = {0.1, 1, 10; '1/3', 1, 3; 1e-12, 1, 1e12; 2.5, 5, 2; '0.50', 1, 2; 1e6, 1e6, 1; ...
    '2e-3', 1, 500; int32(3), 3, 1};
for i = 1:size(meant, 1)
    q = halfmask.exact.meant(meant{i, 1}, 'epsilon');
    left = halfmask.exact.multiply(q.num, halfmask.exact.whole(meant{i, 3}));
    right = halfmask.exact.multiply(q.den, halfmask.exact.whole(meant{i, 2}));
    check(isequal(left, right), 'price %d is another', i);
end
for bad = {0, -1, NaN, Inf, 2e6, 1e-13, '', 'x', '1/0', '0/1', '1/-2', '1e99', [1 2], '--1', true}
    refused(@() halfmask.exact.meant(bad{1}, 'epsilon'), 'halfmask:price', 'epsilon: ');
end
end

function sums_are_exact()
% 2^52 - 1 a thousand times, and minus that: beyond what doubles hold.
v = (2 ^ 52 - 1) * ones(1000, 1);
check(isequal(halfmask.parts.exact_sum(v), [1000 * 2 ^ 26 - 1, 2 ^ 26 - 1000]), 'a sum');
check(isequal(halfmask.parts.exact_sum([v; -v; 5]), [0, 5]), 'a sum that cancels');
check(isequal(halfmask.parts.exact_sum(-1), [-1, 67108863]), 'minus one');
check(isequal(halfmask.parts.exact_sum([]), [0, 0]), 'an empty sum');
end

function digests_agree()
% SHA-256 of our own against Octave's, around the ends of blocks.
if ~exist('OCTAVE_VERSION', 'builtin')
    return
end
for n = [0 1 55 56 63 64 65 130]
    text = char(32 + mod((1:n) * 7, 90));
    check(strcmp(halfmask.parts.sha256(text, 'plain'), hash('sha256', text)), '%d characters', n);
end
end
