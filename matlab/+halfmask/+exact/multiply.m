function c = multiply(a, b)
%MULTIPLY  The product of two whole numbers; see halfmask.exact.whole.
%   A digit of the convolution is a sum of products below 2^40: exact up to 2^13 digits.
if isempty(a) || isempty(b)
    c = zeros(1, 0);
else
    c = halfmask.exact.carry(conv(a, b));
end
end
