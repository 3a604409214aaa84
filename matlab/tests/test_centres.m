function tests = test_centres()
%TEST_CENTRES  Depths by their definitions, and both private medians of the columns of a matrix.
tests = {@depths_of_a_cross, @depths_move_by_one_row, @depths_are_asked_well, ...
    @medians_are_near, @medians_keep_their_bounds, @medians_are_priced, @boxes_are_near, ...
    @medians_are_charged};
end

function depths_of_a_cross()
cross = [1 0; -1 0; 0 1; 0 -1];
depth = halfmask.depth.spatial_depth([0 0; 9 9; 1 0], cross);
check(abs(depth(1) - 1) < 1e-15 && depth(2) < 0.01, 'the middle is deep, a far point is not');
check(abs(depth(3) - (1 - (1 + sqrt(2)) / 4)) < 1e-12, 'a row at the point counts as 0');
rays = [1 1; 1 -1; 1 0];
found = halfmask.depth.tukey_depth([0 0; 1 1; 0.9 0], cross, rays);
check(isequal(found, [2; 0; 1]), 'half-planes');
check(isequal(halfmask.depth.tukey_depth([2; 9], [1; 2; 2; 4]), [3; 0]), 'on a line');
huge = halfmask.depth.spatial_depth([0 0], 1e300 * cross);
check(abs(huge - 1) < 1e-15, 'squares overflow');
end

function depths_move_by_one_row()
% A row moves n times the depth, as a sum of unit vectors or a count, by at most 1.
data = [mod((1:40)' * 37, 101), mod((1:40)' * 53, 89)];
rays = [cos(1:20)', sin(1:20)'];
points = [50 40; 0 0; 20 70];
n = size(data, 1);
for i = 1:n
    fewer = data([1:i - 1, i + 1:n], :);
    moved = halfmask.depth.tukey_depth(points, data, rays) ...
        - halfmask.depth.tukey_depth(points, fewer, rays);
    check(all(moved == 0 | moved == 1), 'a count moved by %s', mat2str(moved'));
    length_of = n * (1 - halfmask.depth.spatial_depth(points, data));
    without = (n - 1) * (1 - halfmask.depth.spatial_depth(points, fewer));
    check(all(abs(length_of - without) <= 1 + 1e-12), 'a sum moved by more than 1');
end
end

function depths_are_asked_well()
refused(@() halfmask.depth.tukey_depth([0 0], [1 1]), 'halfmask:directions', 'in 2 dimensions');
refused(@() halfmask.depth.tukey_depth([0 0], [1 1], 3), 'halfmask:directions', '2 columns');
refused(@() halfmask.depth.spatial_depth([0 0], [1 NaN]), 'halfmask:data', 'finite');
refused(@() halfmask.depth.spatial_depth([0 0], [1 2 3]), 'halfmask:data', '2 columns and data 3');
end

function medians_are_near()
X = [mod((1:501)' * 37, 501), 7 * ones(501, 1), mod((1:501)' * 53, 501) - 1000];
X(3, 2) = NaN;
X(5, 1) = Inf;
r = halfmask.coordinatewise_median(X, [0 0 -500], 2000, 'epsilon', 300);
check(all(abs(r.value - [250 7 -750]) < [4 0.01 4]), r.statement);
r = halfmask.coordinatewise_median(X, 0, 2000, 'epsilon', 300, 'relation', 'replace');
check(all(abs(r.value - [250 7 -750]) < [4 0.01 4]), r.statement);
check(r.rank_error == ceil(2 * 3 / 300 * log((2 ^ 32 + 1) * 3 / 0.05)) ...
    || r.rank_error == ceil(2 * 3 / 300 * log((2 ^ 31 + 1) * 3 / 0.05)), 'another rank error');
end

function medians_keep_their_bounds()
for median = {@halfmask.coordinatewise_median, @halfmask.box_median}
    for X = {zeros(0, 2), [NaN 1], [Inf -Inf; 1 1e308], int8([1 2; 3 4])}
        r = median{1}(X{1}, [1 2], [3 4], 'epsilon', 0.1);
        check(all(r.value >= [-2 -2] & r.value <= [4 6]), r.statement);
        check(isequal(r.interval, [-2 4; -2 6]), 'other bounds');
    end
    refused(@() median{1}([1 2], 0, -1, 'epsilon', 1), 'halfmask:bounds', '-1');
    refused(@() median{1}([1 2], 1:3, 1, 'epsilon', 1), 'halfmask:bounds', '2');
    refused(@() median{1}([1 2], NaN, 1, 'epsilon', 1), 'halfmask:bounds', 'finite');
    refused(@() median{1}('ab', 0, 1, 'epsilon', 1), 'halfmask:data', 'char');
    refused(@() median{1}([1 2], 0, 1), 'halfmask:price', 'none given');
    refused(@() median{1}([1 2], 0, 1, 'epsilon', 0), 'halfmask:price', '0');
end
end

function medians_are_priced()
% d columns at epsilon/d each: the scale of one median is d/epsilon rows, twice that if replaced.
for d = 1:3
    r = halfmask.coordinatewise_median(ones(4, d), 0, 9, 'epsilon', 0.5);
    meant = sprintf('exponential mechanism on ranks, scale %d rows', 2 * d);
    check(strcmp(r.mechanism, meant), r.mechanism);
    r = halfmask.coordinatewise_median(ones(4, d), 0, 9, 'epsilon', 0.5, 'relation', 'replace');
    meant = sprintf('exponential mechanism on ranks, scale %d rows', 4 * d);
    check(strcmp(r.mechanism, meant), r.mechanism);
end
end

function boxes_are_near()
X = [mod((1:501)' * 37, 501), 7 * ones(501, 1), mod((1:501)' * 53, 501) - 1000];
X(3, 2) = NaN;
X(5, 1) = Inf;
for relation = {'add_remove', 'replace'}
    moved = 1 + strcmp(relation{1}, 'replace');
    r = halfmask.box_median(X, [0 0 -500], [2000, 8, 1000], 'epsilon', 100 * moved, ...
        'relation', relation{1});
    check(all(abs(r.value - [250 7 -750]) < [4 0.01 4]), r.statement);
    check(strcmp(r.mechanism, 'exponential mechanism on least ranks, scale 0.01 rows'), ...
        r.mechanism);
end
r = halfmask.box_median(X, 0, 2048, 'epsilon', 0.5, 'relation', 'replace', 'confidence', 0.9);
check(r.rank_error == ceil(4 * (3 * log(2 ^ 31 + 1) + log(10))), 'a rank error of %d', ...
    r.rank_error);
end

function medians_are_charged()
for median = {@halfmask.coordinatewise_median, @halfmask.box_median}
    b = halfmask.Budget(1);
    median{1}([1 2; 3 4], 0, 10, 'epsilon', 0.75, 'budget', b);
    check(strcmp(b.remaining(), 'epsilon 0.25'), 'left: %s', b.remaining());
    refused(@() median{1}([1 2], 0, 1, 'epsilon', 0.5, 'budget', b), ...
        'halfmask:budget', '0.25 is left');
end
end
