function total = exact_sum(v)
%EXACT_SUM  The sum of whole numbers up to 2^53, exactly: total = [h l] stands for h * 2^26 + l.
%   0 <= l < 2^26. The two halves of the numbers are summed apart, 2^26 of them at a time, so that
%   no sum of doubles ever reaches 2^53.
total = [0, 0];
for first = 1:67108864:numel(v)
    some = v(first:min(first + 67108863, numel(v)));
    high = floor(some / 67108864);
    total = carried(total + [sum(high), sum(some - high * 67108864)]);
end
end

function total = carried(total)
over = floor(total(2) / 67108864);
total = total + over * [1, -67108864];
end
