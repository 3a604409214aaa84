function cells = cells_against_noise(epsilon)
%CELLS_AGAINST_NOISE  How many cells bounds should span so that the noise spans about 2^38 of them.
cells = min(max(halfmask.exact.to_double(epsilon) * 2 ^ 38, 2 ^ 12), 2 ^ 44);
end
