function count = units(amount, up)
%UNITS  An epsilon (a ratio) in whole units of 1e-12, as uint64: a cost rounded up, a budget down.
[quotient, rest] = halfmask.exact.divide( ...
    halfmask.exact.multiply(amount.num, halfmask.exact.whole(1e12)), amount.den);
if up && ~isempty(rest)
    quotient = halfmask.exact.add(quotient, halfmask.exact.whole(1));
end
count = halfmask.exact.to_uint64(quotient);
end
