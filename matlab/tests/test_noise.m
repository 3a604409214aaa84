function tests = test_noise()
%TEST_NOISE  Samples follow the stated laws, and words come from the operating system.
%   A law is accepted if no distribution function of N samples is farther from it than
%   sqrt(ln(2e6) / (2 N)): false alarms have probability 1e-6 at most. [Dvoretzky, Kiefer &
%   Wolfowitz 1956; Massart 1990] Each test also rejects the law with its scale times 2/3 and 3/2.
tests = {@words_are_fresh, @words_are_fair, @tapes_end, @a_million_in_a_second, ...
    @scales_are_checked};
for scale = [1/3, 2, 1000, 1025, 1e7]
    tests{end + 1} = @() follows_laplace(scale); %#ok<AGROW>
end
for sigma = [0.7, 3, 500, 1e6]
    tests{end + 1} = @() follows_gaussian(sigma); %#ok<AGROW>
end
for rate = [0.5, 1]
    tests{end + 1} = @() follows_weights(rate); %#ok<AGROW>
end
end

function follows_laplace(scale)
k = double(halfmask.noise.discrete_laplace(scale, 100000));
accepts_only(k, @(factor) laplace_below(scale * factor), sprintf('laplace %g', scale));
end

function f = laplace_below(t)
% P(K <= k) = 1 - a^(k + 1) / (1 + a) for k >= 0, a^(-k) / (1 + a) for k < 0.
a = exp(-1 / t);
f = @(k) (k >= 0) - (2 * (k >= 0) - 1) .* exp(-(abs(k) + (k >= 0)) / t) / (1 + a);
end

function follows_gaussian(sigma)
k = double(halfmask.noise.discrete_gaussian(sigma, 50000));
accepts_only(k, @(factor) gaussian_below(sigma * factor), sprintf('gaussian %g', sigma));
end

function f = gaussian_below(s)
% Sums where sigma is small; the normal law where it is large, nearer than 1e-8 by then.
if s > 100
    f = @(k) erfc(-(k + 0.5) / s / sqrt(2)) / 2;
    return
end
all_k = -ceil(20 * s) - 20:ceil(20 * s) + 20;
mass = exp(-all_k .^ 2 / (2 * s ^ 2));
below = cumsum(mass) / sum(mass);
f = @(k) interp1(all_k, below, min(max(k, all_k(1)), all_k(end)), 'nearest');
end

function follows_weights(rate)
counts = [1 4 2 0 1 3];
scores = [9 5 7 9 8 6];
i = halfmask.noise.weighted(counts, scores, rate, 20000);
accepts_only(i, @(factor) weights_below(counts, scores, rate / factor), ...
    sprintf('weighted %g', rate));
end

function f = weights_below(counts, scores, rate)
w = counts .* exp(rate * (scores - 9));
below = cumsum(w) / sum(w);
f = @(i) reshape(below(i), size(i));
end

function accepts_only(samples, law, name)
check(fits(samples, law(1)), '%s: its law is rejected', name);
check(~fits(samples, law(2 / 3)), '%s: 2/3 of its scale is accepted', name);
check(~fits(samples, law(3 / 2)), '%s: 3/2 of its scale is accepted', name);
end

function answer = fits(samples, below)
[values, last] = unique(sort(samples(:)), 'last');
n = numel(samples);
meant = below(values);
gap = max(abs([last / n - meant; [0; last(1:end - 1)] / n - below_left(values, below)]));
answer = gap <= sqrt(log(2e6) / (2 * n));
end

function f = below_left(values, below)
% P(K < k): of integers, P(K <= k - 1).
f = zeros(size(values));
inside = values > 1 | values(1) < 1;  % indices start at 1
f(inside) = below(values(inside) - 1);
end

function words_are_fresh()
one = halfmask.noise.SecureWords();
other = halfmask.noise.SecureWords();
drawn = [one.take(1000); other.take(1000); one.take(1000)];
check(numel(unique(drawn)) == 3000, 'words repeat');
check(isempty(one.take(0)), 'no words were asked');
end

function words_are_fair()
% Each bit is 1 half of the time: Hoeffding's bound at 1e-6, shared by 64 bits.
n = 20000;
drawn = feval(@(w) w.take(n), halfmask.noise.SecureWords());
for bit = 0:63
    ones_of = sum(double(bitand(bitshift(drawn, -bit), uint64(1))));
    check(abs(ones_of - n / 2) < sqrt(n * log(2 * 64e6) / 2), 'bit %d is unfair', bit);
end
end

function tapes_end()
tape = halfmask.noise.TapeWords(uint64([1 2 3]));
check(isequal(tape.take(2), uint64([1; 2])) && tape.position == 2, 'other words');
refused(@() tape.take(2), 'halfmask:words', 'ends after 3 words');
refused(@() halfmask.noise.TapeWords([1 2]), 'halfmask:words', 'uint64');
end

function a_million_in_a_second()
for scale = [2, 1e6, 1e12]
    before = cputime();
    k = halfmask.noise.discrete_laplace(scale, 1e6);
    took = cputime() - before;
    check(took < 1 && numel(k) == 1e6, 'a million at scale %g took %g s', scale, took);
end
end

function scales_are_checked()
for scale = {0, -1, NaN, Inf, 2 ^ 56, [1 2], 'two'}
    refused(@() halfmask.noise.discrete_laplace(scale{1}, 1), 'halfmask:', '');
    refused(@() halfmask.noise.discrete_gaussian(scale{1}, 1), 'halfmask:', '');
end
refused(@() halfmask.noise.discrete_laplace(1, -1), 'halfmask:size', 'at least 0');
refused(@() halfmask.noise.discrete_laplace(1, 1.5), 'halfmask:size', 'whole');
check(isempty(halfmask.noise.discrete_laplace(1, 0)), 'no samples were asked');
end
