function p = laplace_tail(far, scales)
%LAPLACE_TAIL  P(|sum| > far) of sums of Laplace noises: a column of scales for each far.
%   sum_i exp(-far/b_i) prod_{j ~= i} b_i^2 / (b_i^2 - b_j^2), by partial fractions of the
%   characteristic function. Scales are raised until all differ by 1 %: more noise is safe; those
%   that are 0 to as good as 0.
largest = max(scales, [], 1);
b = sort(max(max(scales, 1e-4 * largest .* (scales > 0)), 1e-100 * largest), 1);
n = size(b, 1);
for i = 2:n
    b(i, :) = max(b(i, :), 1.01 * b(i - 1, :));
end
p = zeros(size(far));
for i = 1:n
    others = b([1:i - 1, i + 1:n], :);
    p = p + prod(b(i, :) .^ 2 ./ (b(i, :) .^ 2 - others .^ 2), 1) .* exp(-far ./ b(i, :));
end
end
