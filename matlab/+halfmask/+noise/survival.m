function law = survival(scale, two_sided)
%SURVIVAL  The cells of a geometric or (two_sided) discrete Laplace magnitude K, P(K >= j) = S(j).
%   S(j) = exp(-j/t), or 2 exp(-j/t) / (1 + exp(-1/t)) for j >= 1 if two_sided; scale t is a ratio.
%   law.log_head is ln C where S(j) = C exp(-j/t), good to 2^-50; law.width is t as a double, at
%   least 2^-64: below that, a sample is 0 for every word that is not 0.
law = struct('scale', scale, 'two_sided', two_sided, 'log_head', 0);
law.width = max(halfmask.exact.to_double(scale), 2 ^ -64);
if two_sided
    law.log_head = log(2) - log1p(exp(-1 / law.width));
end
end
