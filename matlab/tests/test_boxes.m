function tests = test_boxes()
%TEST_BOXES  Nested boxes against their definition, and Python's points on the same tapes.
%   Their law is tested from Python: tests/matlab/test_octave_boxes.py.
tests = {@cells_are_listed_once_under_their_depth, @logarithms_are_right, ...
    @whole_numbers_are_uniform};
here = fileparts(mfilename('fullpath'));
listed = jsondecode(fileread(fullfile(here, '..', '..', 'tests', 'vectors', 'boxes.json')));
for i = 1:numel(listed.cases)
    one = listed.cases(i);
    tests{end + 1} = @() reproduces(one); %#ok<AGROW>
end
end

function cells_are_listed_once_under_their_depth()
for v = {[0 0; 3 1; 1 4; 1 1; 4 2], [2 2; 2 2], zeros(0, 2), [mod((1:9)' * 5, 4), mod((1:9)', 3)]}
    lower = [-1 0];
    upper = [4 4];
    boxes = halfmask.parts.nested_boxes(v{1}, lower, upper);
    seen = zeros(upper - lower + 1);
    for k = 1:size(boxes.low, 1) - 1
        [~, count] = halfmask.parts.box_layers(boxes, k);
        count = halfmask.exact.number(count);
        check((count > 0) == any(boxes.there == k), 'depth %d: not said to be there', k - 1);
        for place = 0:count - 1
            cells = halfmask.parts.box_point(boxes, k, halfmask.exact.whole(place));
            check(depth_of(cells, v{1}) == k - 1, '%s: another depth', mat2str(cells));
            at = num2cell(cells - lower + 1);
            seen(at{:}) = seen(at{:}) + 1;
        end
    end
    check(seen == 1, 'cells missing or listed twice');
end
end

function depth = depth_of(cells, v)
% By the definition; 0 without rows.
n = size(v, 1);
depth = min([sum(v <= repmat(cells, n, 1), 1), sum(v >= repmat(cells, n, 1), 1)]);
end

function logarithms_are_right()
% Against the exact number: its top 60 bits, and how many were cut off.
for d = [1 3 10]
    i = (1:200)';
    v = mod(i * (7919 + 2 * (1:d)), 1009) .^ 3;
    boxes = halfmask.parts.nested_boxes(v, -2 ^ 32 * ones(1, d), 2 ^ 32 * ones(1, d));
    for j = 1:numel(boxes.there)
        [~, count] = halfmask.parts.box_layers(boxes, boxes.there(j));
        cut = max(halfmask.exact.bits(count) - 60, 0);
        exact = log2(halfmask.exact.number(halfmask.exact.move(count, -cut))) + cut;
        check(abs(boxes.logs(j) - exact) <= boxes.slack + exact * 2 ^ -51, 'log of depth %d', j);
    end
end
end

function whole_numbers_are_uniform()
% Of a bound of 65 bits: 3 2^63, so that thirds are equal; a false alarm in 1e6 (three normal laws).
third = halfmask.exact.move(halfmask.exact.whole(1), 63);
bound = halfmask.exact.multiply(third, halfmask.exact.whole(3));
words = halfmask.noise.SecureWords();
seen = zeros(1, 3);
for i = 1:600
    k = halfmask.noise.below_whole(bound, words);
    check(halfmask.exact.compare(k, bound) < 0, 'above the bound');
    part = 1 + halfmask.exact.number(halfmask.exact.divide(k, third));
    seen(part) = seen(part) + 1;
end
check(sum((seen - 200) .^ 2) / 200 < 27.7, 'thirds: %s', mat2str(seen));  % exp(-27.7/2) < 1e-6
none = halfmask.noise.TapeWords(zeros(0, 1, 'uint64'));
check(isempty(halfmask.noise.below_whole(halfmask.exact.whole(1), none)), 'a bound of 1 is 0');
end

function reproduces(one)
digits = char(one.words);
words = bitor(bitshift(uint64(hex2dec(digits(:, 1:8))), 32), uint64(hex2dec(digits(:, 9:16))));
tape = halfmask.noise.TapeWords(words);
v = mod((1:one.rows)' * (7919 + 2 * (1:one.columns)), one.modulus) * one.stride;
v = min(max(v, one.ends(1)), one.ends(2));
lower = one.ends(1) * ones(1, one.columns);
upper = one.ends(2) * ones(1, one.columns);
rate = halfmask.parts.part_of(halfmask.exact.meant(one.epsilon, 'epsilon'), 1, one.moved);
for i = 1:one.count
    cells = halfmask.parts.box_cells(v, lower, upper, rate, tape);
    check(isequal(cells, one.points(i, :)), '%s: another point', one.name);
end
check(tape.position == one.read, '%s: read %d words and not %d', one.name, tape.position, one.read);
end
