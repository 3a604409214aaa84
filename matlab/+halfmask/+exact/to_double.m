function x = to_double(q)
%TO_DOUBLE  A ratio as the double next to it, but for 2^-50 of itself.
x = halfmask.exact.number(q.num) / halfmask.exact.number(q.den);
end
