function [scale, words] = checked(scale, count, words, name)
%CHECKED  The exact scale of a sampler, above 0 and at most 2^55, and its words: [] means secure.
%   A double counts at its exact binary value; a ratio (halfmask.exact.ratio) as it is.
if ~isstruct(scale) && ~(isnumeric(scale) && isscalar(scale) && isreal(scale) && scale > 0)
    error('halfmask:scale', '%s: must be a number above 0; give one such as 2', name);
end
scale = halfmask.exact.ratio(scale);
largest = halfmask.exact.move(scale.den, 55);
if isempty(scale.num) || halfmask.exact.compare(scale.num, largest) > 0
    error('halfmask:scale', '%s: %g is outside (0, 2^55]; choose a coarser grid', name, ...
        halfmask.exact.to_double(scale));
end
if ~(isnumeric(count) && isscalar(count) && count >= 0 && count == floor(count))
    error('halfmask:size', 'count: must be a whole number of at least 0; give one such as 100');
end
if isempty(words)
    words = halfmask.noise.SecureWords();
end
end
