function x = to_uint64(a)
%TO_UINT64  A whole number below 2^64 as uint64.
x = uint64(0);
for digit = a(end:-1:1)
    x = bitor(bitshift(x, 20), uint64(digit));
end
end
