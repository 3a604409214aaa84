function noisy = add_noise(totals, mechanism, words)
%ADD_NOISE  Each exact total plus fresh noise, as the doubles next to the exact noisy integers.
%   totals has a row [h l] for each integer (see halfmask.parts.exact_sum). The noise is added in
%   whole numbers; only then is anything rounded, so the double tells no more than the integer does.
parts = zeros(size(totals));
if ~isempty(mechanism.scale)
    k = halfmask.noise.discrete_laplace(mechanism.scale, size(totals, 1), words);
    side = 1 - 2 * (k < 0);
    k = uint64(abs(k));
    parts = [side .* double(bitshift(k, -26)), side .* double(bitand(k, uint64(67108863)))];
end
noisy = totals + parts;
over = floor(noisy(:, 2) / 67108864);
noisy = (noisy(:, 1) + over) * 67108864 + (noisy(:, 2) - over * 67108864);
end
