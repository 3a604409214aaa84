function boxes = nested_boxes(v, lower, upper)
%NESTED_BOXES  The cells of depth k - 1 or more, for k = 1, 2, ...: boxes, each in the one before.
%   boxes = halfmask.parts.nested_boxes(v, lower, upper), v a row a record, all in whole cells
%   within lower .. upper, rows.
%
%   The depth of a cell is the least number of rows on one side of it along an axis, those level
%   with it on both. As #{x <= cell} >= k says that the cell is not below the k-th smallest value,
%   depth k or more is the box from the k-th smallest to the k-th greatest value of each column.
%
%   boxes.low, boxes.high are their ends, a row a box, and behind the last an empty box;
%   boxes.there those that hold more cells than the next; boxes.logs log2 of how many more, right to
%   boxes.slack. That number is box (1 - P(1 - shrunk part)), P the product over columns: its terms
%   are of one sign, so nothing cancels. Each of d terms of at most 62 is good to 2^-46, their sums,
%   at most 62 d, to 2^-52 of themselves at each addition.
v = sort(v, 1);
w = v(end:-1:1, :);
some = sum(all(v <= w, 2));  % the k-th smallest rises with k, the k-th greatest falls
low = [lower; v(1:some, :)];
high = [upper; w(1:some, :)];
widths = [high - low + 1; zeros(1, numel(lower))];
left = sum(log1p(diff(widths, 1, 1) ./ widths(1:end - 1, :)), 2);
boxes = struct('low', [low; low(end, :)], 'high', [high; low(end, :) - 1]);
boxes.there = find(left < 0);
boxes.logs = sum(log2(widths(boxes.there, :)), 2) + log(-expm1(left(boxes.there))) / log(2);
d = numel(lower);
boxes.slack = d * 2 ^ -44 + 62 * d ^ 2 * 2 ^ -52;
end
