function [k, minus] = geometric(scale, count, words, two_sided)
%GEOMETRIC  Samples of P(k) proportional to exp(-k / scale), k >= 0, exactly, and fair signs.
%   [k, minus] = halfmask.noise.geometric(scale, count, words, false) gives doubles, and logicals:
%   true for minus. With true in place of false, k are sizes of discrete Laplace samples.
%
%   scale is a ratio of at most 1024. Reads ceil(count/2) words, then those that open lanes need,
%   one after the other.
law = halfmask.noise.survival(scale, two_sided);
[minus, w] = halfmask.noise.half_words(words, count);
[k, open] = halfmask.noise.floors(law, w);
for i = open'
    k(i) = halfmask.noise.settle(law, w(i), words);
end
end
