function tests = test_vectors()
%TEST_VECTORS  The recorded tapes give the samples that they give in Python (tests/vectors).
here = fileparts(mfilename('fullpath'));
listed = jsondecode(fileread(fullfile(here, '..', '..', 'tests', 'vectors', 'noise.json')));
tests = {};
for i = 1:numel(listed.cases)
    if iscell(listed.cases)
        one = listed.cases{i};
    else
        one = listed.cases(i);
    end
    tests{end + 1} = @() reproduces(one); %#ok<AGROW>
end
end

function reproduces(one)
tape = halfmask.noise.TapeWords(long_tape(one));
scale = fraction(one.scale);
switch one.sampler
    case 'laplace'
        samples = halfmask.noise.discrete_laplace(scale, one.count, tape);
    case 'gaussian'
        samples = halfmask.noise.discrete_gaussian(scale, one.count, tape);
    case 'weighted'
        samples = halfmask.noise.weighted(one.counts, one.scores, scale, one.count, tape) - 1;
end
found = told(samples);
check(isequal(found(:), one.samples(:)), '%s: other samples', one.name);
check(tape.position == one.read, '%s: read %d words and not %d', one.name, tape.position, one.read);
end

function words = long_tape(one)
% The words from their hexadecimal digits; each lap is bent by its number.
digits = char(one.words);
words = bitor(bitshift(uint64(hex2dec(digits(:, 1:8))), 32), uint64(hex2dec(digits(:, 9:16))));
laps = cell(1, one.laps);
for lap = 1:one.laps
    laps{lap} = bitxor(words, bitshift(uint64(lap - 1), 11));
end
words = vertcat(laps{:});
end

function q = fraction(text)
% A ratio from its digits, up to 2^63.
parts = [strsplit(text, '/'), {'1'}];
q = halfmask.exact.ratio(sscanf(parts{1}, '%ld'), sscanf(parts{2}, '%ld'));
end

function texts = told(samples)
% As the Python test tells them: short lists in full, of long ones some sums.
samples = samples(:);
if numel(samples) > 200
    salted = mod(samples, 1009) .* int64(mod((0:numel(samples) - 1)', 1013));
    samples = [sum(mod(abs(samples), 1000003)); sum(salted); samples(end - 4:end)];
end
texts = cellfun(@(k) sprintf('%d', k), num2cell(samples), 'UniformOutput', false);
end
