function k = discrete_laplace(scale, count, words)
%DISCRETE_LAPLACE  Samples of P(k) proportional to exp(-|k| / scale), exactly.
%   k = halfmask.noise.discrete_laplace(scale, count) gives count samples, an int64 column.
%   k = halfmask.noise.discrete_laplace(scale, count, words) draws from given words, for tests.
%
%   scale is above 0 and at most 2^55: a double, at its exact binary value, or a ratio. Words are
%   read as by halfmask.noise.discrete_laplace in Python: up to scale 1024, a half-word a sample is
%   a sign and the first 31 bits of u, and |k| = floor(-scale ln(u (1 + exp(-1/scale)) / 2)); then
%   each sample whose bits do not fix that reads on, in order. Larger scales: see folded_geometric.
%   [Inverse transform; Ghosh, Roughgarden & Sundararajan 2012 for the law.]
%
%   Example
%       noise = halfmask.noise.discrete_laplace(2, 5)
if nargin < 3
    words = [];
end
[scale, words] = halfmask.noise.checked(scale, count, words, 'scale');
if halfmask.exact.to_double(scale) > 1024
    k = halfmask.noise.folded_geometric(scale, count, words, true);
    return
end
[size_of, minus] = halfmask.noise.geometric(scale, count, words, true);
k = int64(size_of);
k(minus) = -k(minus);
end
