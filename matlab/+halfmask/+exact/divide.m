function [quotient, rest] = divide(a, b)
%DIVIDE  The quotient of two whole numbers, rounded down, and the rest; b is above 0.
%   Long division. By one digit, doubles hold all that comes up; by more, each digit is guessed by
%   doubles, which are off by one at most, and put right.
quotient = zeros(1, numel(a));
rest = zeros(1, 0);
if isscalar(b)
    left = 0;
    for i = numel(a):-1:1
        left = left * 1048576 + a(i);
        quotient(i) = floor(left / b);
        left = left - quotient(i) * b;
    end
    quotient = halfmask.exact.carry(quotient);
    rest = halfmask.exact.whole(left);
    return
end
divisor = halfmask.exact.number(b(max(1, numel(b) - 3):end));
for i = numel(a):-1:1
    rest = halfmask.exact.carry([a(i), rest]);
    if halfmask.exact.compare(rest, b) < 0
        continue
    end
    top = halfmask.exact.number(rest(max(1, numel(b) - 3):end));
    digit = max(floor(top / divisor) - 1, 0);
    rest = halfmask.exact.subtract(rest, halfmask.exact.multiply(b, halfmask.exact.whole(digit)));
    while halfmask.exact.compare(rest, b) >= 0
        rest = halfmask.exact.subtract(rest, b);
        digit = digit + 1;
    end
    quotient(i) = digit;
end
quotient = halfmask.exact.carry(quotient);
end
