function chosen = weighted(counts, scores, rate, count, words)
%WEIGHTED  Indices i with P(i) proportional to counts(i) * exp(rate * scores(i)), exactly.
%   chosen = halfmask.noise.weighted(counts, scores, rate, count) gives count indices from 1, a
%   column; with words as a fifth argument, for tests, it draws from those.
%
%   counts says how many equal candidates stand behind each index (with all of them 1 this is the
%   exponential mechanism [McSherry & Talwar 2007]); scores are the higher the better; both are
%   integers below 2^53. rate >= 0 is a double, at its exact binary value, or a ratio.
%
%   Words are read as by halfmask.noise.weighted in Python, whose indices are one less; see
%   halfmask.noise.weighted_huge.
%
%   Example
%       halfmask.noise.weighted([1 1 1], [5 9 8], 0.5, 1)
if nargin < 5 || isempty(words)
    words = halfmask.noise.SecureWords();
end
there = find(counts(:) > 0);
held = double(counts(there));
chosen = there(halfmask.noise.weighted_huge(log2(held(:)), 0, ...
    @(i) halfmask.exact.whole(held(i)), double(scores(there)), rate, count, words));
end
