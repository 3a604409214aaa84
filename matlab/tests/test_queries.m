function tests = test_queries()
%TEST_QUERIES  Whole questions on recorded tapes have Python's answers (tests/vectors/queries.json).
here = fileparts(mfilename('fullpath'));
listed = jsondecode(fileread(fullfile(here, '..', '..', 'tests', 'vectors', 'queries.json')));
tests = cell(1, numel(listed.cases));
for i = 1:numel(listed.cases)
    one = listed.cases(i);
    tests{i} = @() answers(one);
end
end

function answers(one)
digits = char(cellstr(one.words));
words = zeros(0, 1, 'uint64');
if ~isempty(digits) && ~isempty(one.words)
    words = bitor(bitshift(uint64(hex2dec(digits(:, 1:8))), 32), uint64(hex2dec(digits(:, 9:16))));
end
tape = halfmask.noise.TapeWords(words);
i = (0:one.rows - 1)';
x = mod(i * 7919, 1001) / 8;
x(mod(i, 97) == 5) = NaN;
options = {'epsilon', one.epsilon, 'relation', one.relation, 'words', tape};
lower = one.bounds(1);
upper = one.bounds(2);
switch one.query
    case 'count'
        r = halfmask.count(x, options{:});
    case 'sum'
        r = halfmask.sum(x, lower, upper, options{:});
    case 'mean'
        r = halfmask.mean(x, lower, upper, options{:});
    case 'histogram'
        r = halfmask.histogram(x, [0, 10.5, 50, 200], options{:});
end
close_to(one.name, r.value, one.value);
close_to(one.name, reshape(r.interval', [], 1), one.interval);
check(tape.position == one.read, '%s: read %d words and not %d', one.name, tape.position, one.read);
check(r.seeded && ~isempty(strfind(r.statement, 'NOT PRIVATE')), '%s: hides its tape', one.name);
end

function close_to(name, found, meant)
check(all(abs(found(:) - meant(:)) <= 1e-9 + 1e-9 * abs(meant(:))), ...
    '%s: %s and not %s', name, mat2str(found(:)', 12), mat2str(meant(:)', 12));
end
