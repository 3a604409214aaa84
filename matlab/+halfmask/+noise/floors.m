function [k, open] = floors(law, w)
%FLOORS  K of a law for uniform numbers that start with the 31 bits w, and where it is left open.
%   k is floor(t (ln C - ln u)); the unread bits and the error bound of 2^-42 t for the logarithm
%   must give the same floor, else the lane is open (halfmask.noise.settle then decides).
t = law.width;
w1 = max(w, 1);
middle = t * (law.log_head + 31 * log(2) - log(w1 + 0.5));
reach = t * (2 ^ -42 + 0.5001 ./ w1);  % ln(w+1) - ln(w+1/2) < ln(w+1/2) - ln w < 1/(2w)
k = floor(middle - reach);
open = find(k ~= ceil(middle + reach) - 1 | w == 0);
k = max(k, 0);
end
