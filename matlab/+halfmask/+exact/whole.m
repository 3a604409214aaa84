function a = whole(x)
%WHOLE  An integer of any size, held exactly.
%   a = halfmask.exact.whole(x) turns x >= 0, an integer of any class (a double counts at its exact
%   value), into a row of digits in base 2^20, the lowest first, without zeros on top; 0 is an
%   empty row. Digits are doubles: their products stay far below 2^53, so nothing is rounded.
%
%   The other functions of this package work on such rows: add, subtract, multiply,
%   divide, compare, move, bits, number. Samplers take their last decisions with them.
a = zeros(1, 0);
if isa(x, 'uint64') || isa(x, 'int64')
    x = uint64(x);
    while x > 0
        a(end + 1) = double(bitand(x, uint64(1048575))); %#ok<AGROW>
        x = bitshift(x, -20);
    end
    return
end
x = double(x);
while x > 0
    high = floor(x / 1048576);
    a(end + 1) = x - high * 1048576; %#ok<AGROW>
    x = high;
end
end
