function tests = test_questions()
%TEST_QUESTIONS  What is refused, what no row may do, and the laws of intervals and quantiles.
tests = {@mistakes_are_named, @no_row_makes_an_error, @missing_values_do_not_count, ...
    @columns_are_vectors, @intervals_cover, @numbers_are_written, @reach_is_true, ...
    @medians_follow_their_law, @medians_of_replaced_rows_follow_theirs, @quantiles_hold_ranks, ...
    @choices_are_priced};
end

function mistakes_are_named()
x = 1:3;
T.pay = [1 2 3];
T.name = 'abc';
e = {'epsilon', 1};
refused(@() halfmask.sum(x, 5, 3, e{:}), 'halfmask:bounds', ...
    'bounds: lower 5 is above upper 3; swap them');
refused(@() halfmask.mean(x, 3, 3, e{:}), 'halfmask:bounds', 'both 3');
refused(@() halfmask.mean(x, 0, Inf, e{:}), 'halfmask:bounds', 'known without the data');
refused(@() halfmask.median(x, NaN, 1, e{:}), 'halfmask:bounds', 'finite');
refused(@() halfmask.mean(x, 1, 1 + 2 ^ -50, e{:}), 'halfmask:bounds', 'too close');
refused(@() halfmask.mean(x, 0, 1), 'halfmask:price', 'epsilon');
refused(@() halfmask.mean(x, 0, 1, 'epsilon', 0), 'halfmask:price', 'epsilon: ');
refused(@() halfmask.mean(x, 0, 1, 'epsilon', 1e-11), 'halfmask:scale', 'larger');
refused(@() halfmask.mean(x, 0, 'epsilon', 1), 'halfmask:', '');
refused(@() halfmask.mean(x, 0, 1, 'epsilom', 1), 'halfmask:arguments', 'pairs');
refused(@() halfmask.mean(x, 0, 1, e{:}, 'relation', 'swap'), 'halfmask:relation', 'replace');
refused(@() halfmask.mean(x, 0, 1, e{:}, 'budget', 3), 'halfmask:budget', 'halfmask.Budget(1)');
refused(@() halfmask.mean(x, 0, 1, e{:}, 'confidence', 1), 'halfmask:confidence', '0.95');
refused(@() halfmask.mean(T, 'page', 0, 1, e{:}), 'halfmask:column', 'pay, name');
refused(@() halfmask.mean(T, 'name', 0, 1, e{:}), 'halfmask:data', 'char');
refused(@() halfmask.mean(T, 0, 1, e{:}), 'halfmask:column', 'name');
refused(@() halfmask.mean(ones(2, 2), 0, 1, e{:}), 'halfmask:data', 'vector');
refused(@() halfmask.mean(), 'halfmask:data', 'none given');
refused(@() halfmask.histogram(x, [0 0 1], e{:}), 'halfmask:edges', 'rising');
refused(@() halfmask.histogram(x, [0 NaN 1], e{:}), 'halfmask:edges', 'rising');
refused(@() halfmask.quantile(x, 1.5, 0, 1, e{:}), 'halfmask:q', '0 to 1');
refused(@() halfmask.quantile(x, 1 / 3, 0, 1, e{:}), 'halfmask:q', '6 decimals');
end

function no_row_makes_an_error()
rows = {[], NaN, [NaN NaN], Inf, [-Inf Inf], [1e308 -1e308], -0, int64(9e18), single(3), ...
    uint8(1:5), true(1, 4), realmin / 4, ones(1, 1000), sparse([0 1 2])};
for i = 1:numel(rows)
    for relation = {'add_remove', 'replace'}
        options = {'epsilon', 0.5, 'relation', relation{1}};
        answers = [halfmask.count(rows{i}, options{:}), ...
            halfmask.sum(rows{i}, -5, 9, options{:}), ...
            halfmask.mean(rows{i}, -5, 9, options{:})];
        check(all(isfinite([answers.value, answers.interval])), 'rows %d: not finite', i);
        r = halfmask.histogram(rows{i}, [-inf 0 1 inf], options{:});
        check(numel(r.value) == 3, 'rows %d: not three bins', i);
        r = halfmask.quantile(rows{i}, 0.3, -5, 9, options{:});
        check(r.value >= -5 && r.value <= 9, 'rows %d: beyond the bounds', i);
    end
end
end

function missing_values_do_not_count()
% Epsilon 1e6 leaves no noise to speak of. Bounds of other classes are numbers too.
near(halfmask.median(int16([5 6 700]), int8(0), int16(1000), 'epsilon', 1e6), 6);
near(halfmask.mean(single([5 6 700]), int8(0), single(1000), 'epsilon', 1e6), 237);
x = [1 2 NaN 9 Inf -Inf NaN];
options = {'epsilon', 1e6};
near(halfmask.count(x, options{:}), 7);
near(halfmask.sum(x, 0, 10, options{:}), 22);
near(halfmask.mean(x, 0, 10, options{:}), 22 / 5);
near(halfmask.histogram(x, [0 2 9], options{:}), [1; 2]);
near(halfmask.histogram(x, [-inf 2 inf], options{:}), [2; 3]);
near(halfmask.median(x, 0, 10, options{:}), 2);
end

function near(r, meant)
check(all(abs(r.value - meant) < 0.01), '%s, and not %s', r.statement, mat2str(meant));
end

function columns_are_vectors()
T = struct('pay', [1 2 9]', 'age', [4 5 6]');
options = {'epsilon', 1e5};
near(halfmask.count(T, options{:}), 3);
near(halfmask.sum(T, 'pay', 0, 10, options{:}), 12);
near(halfmask.mean(T, 'age', 0, 10, options{:}), 5);
near(halfmask.median(T, 'pay', 0, 10, options{:}), 2);
near(halfmask.quantile(T, 'pay', 0.9, 0, 10, options{:}), 9);
r = halfmask.histogram(T, 'age', [0 5 10], options{:});
check(~isempty(strfind(r.statement, 'by age: 1 ')), r.statement);
end

function intervals_cover()
% 60 intervals at 90 %: fewer than 40 cover with probability below 1e-6 each (binomial).
x = mod((1:300)' * 7919, 1001) / 10;
covered = zeros(1, 3);
for i = 1:60
    options = {'epsilon', 0.5, 'confidence', 0.9};
    r = [halfmask.count(x, options{:}), halfmask.sum(x, 0, 100, options{:}), ...
        halfmask.mean(x, 0, 100, options{:})];
    meant = [300, sum(min(x, 100)), mean(min(x, 100))];
    bounds = reshape([r.interval], 2, []);
    covered = covered + (bounds(1, :) <= meant & meant <= bounds(2, :));
end
check(all(covered >= 40), 'of 60 covered: %s', mat2str(covered));
end

function numbers_are_written()
check(strcmp(halfmask.parts.written(1234567), '1 234 567'), 'thousands');
check(strcmp(halfmask.parts.written(-1234.5678, 12), '-1 234.6'), 'decimals');
check(strcmp(halfmask.parts.written(0.5), '0.5'), 'a half');
check(strcmp(halfmask.parts.written(-Inf), '-Inf'), 'infinity');
tape = halfmask.noise.TapeWords(uint64(123456789));
r = halfmask.count(1:10, 'epsilon', 0.5, 'words', tape);
said = sprintf('Number of rows: %d (95 %%: %d to %d). ', r.value, r.interval);
said = [said, 'Price: epsilon 0.5 for one row, added or removed. ', ...
    'NOT PRIVATE: the noise came from given words.'];
check(strcmp(r.statement, said), r.statement);
end

function reach_is_true()
% Brute force: no row moves the exact integers farther than the noise is scaled to.
epsilon = halfmask.exact.meant(1, 'epsilon');
cells = halfmask.parts.cells_against_noise(epsilon);
for bounds = {[0 100], [-3 10.7], [-9 -2], [1e6 1e6 + 1]}
    grid = halfmask.parts.lay_grid(bounds{1}(1), bounds{1}(2), cells);
    values = halfmask.parts.on_grid([-Inf, -1, 0, 1e-9, 5.55, bounds{1}, Inf], grid);
    check(max(abs(values)) <= max(abs([grid.lower, grid.upper])), 'added: %s', mat2str(bounds{1}));
    with_missing = [values; 0];
    check(max(with_missing) - min(with_missing) <= max(grid.upper, 0) - min(grid.lower, 0), ...
        'replaced: %s', mat2str(bounds{1}));
    check(grid.lower * grid.step >= bounds{1}(1) && grid.upper * grid.step <= bounds{1}(2), ...
        'outside of bounds: %s', mat2str(bounds{1}));
end
end

function medians_follow_their_law()
quantile_law(0.5, 1, 0.5);
quantile_law(0.25, 1.5, 0.75);
end

function medians_of_replaced_rows_follow_theirs()
quantile_law(0.5, 2, 1);
end

function quantile_law(q, epsilon, worst)
% By brute force over all cells: P(t) ~ exp(-epsilon d / (2 worst)), d the least of |F - q n| over a
% cell and its end. No distribution function of N draws is farther than sqrt(ln(2e6) / (2 N)) from
% it, but for 1e-6. [Massart 1990] Scales 2/3 and 3/2 are rejected.
x = int32([2 2 5 9 9 9 20]);
cells = 0:15;
n = 4000;
grid = struct('lower', 0, 'upper', 15, 'step', 1);
rate = halfmask.exact.ratio(epsilon / (2 * worst));
drawn = halfmask.parts.quantile_cells(halfmask.parts.on_grid(x, grid), 1e6 * q, grid, rate, n, ...
    halfmask.noise.SecureWords());
found = cumsum(histc(drawn', cells)) / n;
held = min(double(x), 15);
for factor = [1, 2 / 3, 3 / 2]
    d = zeros(size(cells));
    for i = 1:numel(cells)
        before = sum(held < cells(i));
        at = sum(held <= cells(i));
        d(i) = max([before - q * numel(x), q * numel(x) - at, 0]);
    end
    p = exp(-factor * epsilon * d / (2 * worst));
    gap = max(abs(found - cumsum(p) / sum(p)));
    check((gap <= sqrt(log(2e6) / (2 * n))) == (factor == 1), '%g: factor %g, gap %g', ...
        q, factor, gap);
end
end

function choices_are_priced()
% One row moves the rank by max(q, 1 - q), or by 1 if it is replaced; the scale is twice that.
scales = {0.5, 'add_remove', 2; 0.25, 'add_remove', 3; 0.9, 'add_remove', 3.6; ...
    0.5, 'replace', 4; ...
    0.25, 'replace', 4};
for i = 1:size(scales, 1)
    [q, relation, scale] = scales{i, :};
    r = halfmask.quantile(1:9, q, 0, 10, 'epsilon', 0.5, 'relation', relation);
    meant = sprintf('exponential mechanism on ranks, scale %g rows', scale);
    check(strcmp(r.mechanism, meant), '%g, %s: %s', q, relation, r.mechanism);
end
end

function quantiles_hold_ranks()
% 60 answers, each within its rank error with probability 0.999: all but 1e-6 of the time at most 3
% are outside (binomial).
x = mod((1:1000)' * 7919, 1009);
outside = 0;
for i = 1:60
    r = halfmask.quantile(x, 0.9, -1000, 2000, 'epsilon', 1, 'confidence', 0.999);
    below = [sum(x < r.value), sum(x <= r.value)];
    outside = outside + (below(1) - 900 > r.rank_error || 900 - below(2) > r.rank_error);
end
check(outside <= 3, '%d of 60 outside', outside);
end
