function x = number(a)
%NUMBER  A whole number as the double next to it, but for 2^-52 of itself; inf if it is too large.
x = 0;
for digit = a(end:-1:max(1, numel(a) - 3))
    x = x * 1048576 + digit;
end
x = x * 2 ^ (20 * max(0, numel(a) - 4));
end
