function p = laplace_tail(far, scales)
%LAPLACE_TAIL  P(|sum| > far) for the sum of independent Laplace noises of these scales.
%   sum_i exp(-far/b_i) prod_{j ~= i} b_i^2 / (b_i^2 - b_j^2), by partial fractions of the
%   characteristic function. Scales are raised until all differ by 1 %: more noise is safe.
b = sort(scales(scales > 0));
least = max([b(:); 0]) * 1e-4;
for i = 1:numel(b)
    b(i) = max(b(i), least);
    if i > 1
        b(i) = max(b(i), 1.01 * b(i - 1));
    end
end
p = 0;
for i = 1:numel(b)
    others = b([1:i - 1, i + 1:end]);
    p = p + prod(b(i) ^ 2 ./ (b(i) ^ 2 - others .^ 2)) * exp(-far / b(i));
end
end
