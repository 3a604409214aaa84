function n = bits(a)
%BITS  The number of binary digits of a whole number; 0 of 0.
n = 0;
if ~isempty(a)
    [~, top] = log2(a(end));
    n = 20 * (numel(a) - 1) + top;
end
end
