function a = carry(a)
%CARRY  Bring digits back into 0 .. 2^20 - 1; the number itself must be at least 0.
while any(a < 0 | a > 1048575)
    over = floor(a / 1048576);
    a = [a - over * 1048576, 0] + [0, over];
end
top = find(a, 1, 'last');
a = a(1:max([top, 0]));
end
