function [minus, w] = half_words(words, count)
%HALF_WORDS  ceil(count/2) words as count half-words, the low half first: signs, and 31 bits each.
%   A half-word is an integer h in two's complement; minus is h < 0, and w is h or, if h < 0, -1 - h
%   (as doubles).
h = double(typecast(words.take(ceil(count / 2)), 'int32'));
h = reshape(h(1:count), [], 1);
minus = h < 0;
w = abs(h + 0.5) - 0.5;
end
