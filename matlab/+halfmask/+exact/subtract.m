function c = subtract(a, b)
%SUBTRACT  The difference of two whole numbers, the first being at least the second.
n = max(numel(a), numel(b));
c = zeros(1, n);
c(1:numel(a)) = a;
c(1:numel(b)) = c(1:numel(b)) - b;
c = halfmask.exact.carry(c);
end
