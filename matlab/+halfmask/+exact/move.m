function a = move(a, places)
%MOVE  floor(a * 2^places) for a whole number a; places may be negative.
if isempty(a)
    return
end
whole_digits = floor(places / 20);
a = halfmask.exact.carry([zeros(1, max(whole_digits, 0)), a * 2 ^ (places - 20 * whole_digits)]);
a = a(1 - min(whole_digits, 0):end);
end
