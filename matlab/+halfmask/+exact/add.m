function c = add(a, b)
%ADD  The sum of two whole numbers; see halfmask.exact.whole.
n = max(numel(a), numel(b));
c = zeros(1, n);
c(1:numel(a)) = a;
c(1:numel(b)) = c(1:numel(b)) + b;
c = halfmask.exact.carry(c);
end
